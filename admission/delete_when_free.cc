#include "admission/delete_when_free.h"

#include <algorithm>
#include <utility>

#include "kube/messages.h"
#include "kube/timestamp.h"

namespace lastout::admission {
namespace {

bool isPlain(std::string_view text) {
  return std::ranges::all_of(text, [](char c) {
    const bool isLetter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return isLetter || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == ':' || c == '_';
  });
}

std::string annotationName() { return "its annotation " + std::string(kDeleteWhenFree); }

}  // namespace

std::optional<AnnotatedObject> annotatedBy(const kube::ObjectMeta& meta) {
  const auto found = meta.annotations.find(kDeleteWhenFree);
  if (found == meta.annotations.end() || meta.deletionTimestamp) return std::nullopt;
  return AnnotatedObject{meta.uid, found->second.substr(0, kLongestDeleteWhenFree + 1)};
}

void note(AnnotatedObjects& objects, const kube::ObjectKey& key, const kube::ObjectMeta& meta) {
  if (auto annotated = annotatedBy(meta))
    objects[key] = std::move(*annotated);
  else
    objects.erase(key);
}

tl::expected<int64_t, std::string> askedUntil(const AnnotatedObject& object,
                                              std::optional<std::chrono::sys_seconds> now) {
  if (object.value.size() > kLongestDeleteWhenFree)
    return tl::unexpected("it has more than " + std::to_string(kLongestDeleteWhenFree) + " bytes");
  const size_t space = object.value.find(' ');
  const std::string uid = object.value.substr(0, space);
  const auto until = space == std::string::npos
                         ? std::nullopt
                         : kube::parseTimestamp(std::string_view(object.value).substr(space + 1));
  if (uid.empty() || !until)
    return tl::unexpected(kube::inQuotes(object.value) +
                          " is not the object's uid, a space, and a time such as 2026-11-21T02:46:59Z");
  if (uid != object.uid)
    return tl::unexpected("it is about another object of that name: this one has uid " + object.uid);
  const std::chrono::sys_seconds time{std::chrono::seconds(*until)};
  if (now && time <= *now) return tl::unexpected(std::string(kTimeHasPassed));
  if (now && time - *now > kDeleteWhenFreeAtMost)
    return tl::unexpected(std::string("its time is more than 7 days ahead: write a nearer one"));
  return *until;
}

std::string annotateCommand(const kube::ObjectKey& key, std::string_view uid,
                            std::chrono::sys_seconds until) {
  for (const std::string_view part : {std::string_view(key.name), std::string_view(key.namespaceName), uid}) {
    if (!isPlain(part)) return {};
  }
  std::string command = "kubectl annotate " + kube::toString(key.type) + "/" + key.name;
  if (!key.namespaceName.empty()) command += " -n " + key.namespaceName;
  return command + " --overwrite '" + std::string(kDeleteWhenFree) + "=" + std::string(uid) + " " +
         kube::timestampText(until) + "'";
}

std::string annotateAdvice(const kube::ObjectKey& key, std::string_view uid, std::chrono::sys_seconds now) {
  const std::string command = annotateCommand(key, uid, now + kDeleteWhenFreeFor);
  return command.empty() ? "" : "; to have lastout delete it once it may go: " + command;
}

std::string wordsOf(const AnnotatedObject& object, std::optional<std::chrono::sys_seconds> now) {
  const auto until = askedUntil(object, now);
  if (!until) return annotationName() + " means nothing: " + until.error();
  return annotationName() + " asks lastout to delete it once it may go, until " +
         kube::timestampText(std::chrono::sys_seconds(std::chrono::seconds(*until)));
}

}  // namespace lastout::admission
