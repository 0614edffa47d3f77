#include "admission/review.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>

#include "admission/json_text.h"
#include "criticalservice/critical_service.h"
#include "kube/json_document.h"
#include "kube/locks.h"
#include "kube/messages.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

using Refused = tl::unexpected<ReviewError>;
using simdjson::dom::element;

constexpr std::string_view kVersion = "admission.k8s.io/v1";
constexpr std::array<std::pair<std::string_view, Operation>, 4> kOperations{
    {{"CREATE", Operation::Create},
     {"UPDATE", Operation::Update},
     {"DELETE", Operation::Delete},
     {"CONNECT", Operation::Connect}}};

constexpr size_t kDeepest = 64;                  // nesting of lists and maps
constexpr size_t kLargeBytes = size_t{1} << 20;  // of a body; of larger ones one is read at a time

Refused notThat(std::string message) { return Refused(ReviewError{400, std::move(message)}); }

// Of a key that is not empty. Most differ in length or at once.
bool isKey(std::string_view key, std::string_view other) {
  return key.size() == other.size() && key.front() == other.front() && key == other;
}

// Those members of a map that are wanted, found in one pass; null counts as absent. The first mistake, here
// or in another part of the same body, becomes `problem`, which must outlive this.
class Part {
 public:
  // Of nothing all are absent. `path` is what messages call the map.
  template <size_t N>
  Part(std::optional<element> map, std::string_view path, const std::string_view (&wanted)[N],
       std::string& problem)
      : path_(path), problem_(problem), count_(N) {
    static_assert(N <= kMostWanted);
    for (size_t i = 0; i < N; ++i) members_[i].key = wanted[i];
    if (map) read(*map);
  }

  std::optional<element> any(std::string_view key) const {
    for (size_t i = 0; i < count_; ++i) {
      if (isKey(members_[i].key, key)) return members_[i].value;
    }
    return std::nullopt;
  }
  std::optional<element> required(std::string_view key) const {
    auto value = any(key);
    if (!value) fail(key, " is missing");
    return value;
  }
  // "" when it is absent; it lives as long as what was parsed.
  std::string_view text(std::string_view key) const {
    const auto value = any(key);
    std::string_view text;
    if (value && value->get(text) != simdjson::SUCCESS) fail(key, " must be a string");
    return text;
  }
  std::string_view requiredText(std::string_view key) const {
    const std::string_view value = text(key);
    if (value.empty()) fail(key, " is missing");
    return value;
  }
  bool flag(std::string_view key) const {
    const auto value = any(key);
    bool flag = false;
    if (value && value->get(flag) != simdjson::SUCCESS) fail(key, " must be true or false");
    return flag;
  }
  void fail(std::string_view key, std::string_view what) const {
    if (!problem_.empty()) return;
    problem_.append(path_).append(path_.empty() || key.empty() ? "" : ".").append(key).append(what);
  }

 private:
  struct Wanted {
    std::string_view key;
    std::optional<element> value;
    bool seen = false;
  };

  void read(element map) {
    simdjson::dom::object object;
    if (map.get(object) != simdjson::SUCCESS) return fail("", " must be a map");
    const std::span wanted(members_.data(), count_);
    for (const auto [key, value] : object) {
      const auto member =
          std::ranges::find_if(wanted, [key = key](const Wanted& each) { return isKey(each.key, key); });
      if (member == wanted.end()) continue;
      if (std::exchange(member->seen, true)) fail(key, " is there twice");
      if (!value.is_null()) member->value = value;
    }
  }

  std::string_view path_;
  std::string& problem_;
  static constexpr size_t kMostWanted = 11;
  std::array<Wanted, kMostWanted> members_;
  size_t count_;
};

// What is wrong with the frame; "": nothing.
std::string reviewFrameProblem(const Part& frame, const Part& request) {
  const std::string_view kind = frame.text("kind");
  const std::string_view version = frame.text("apiVersion");
  if (kind != "AdmissionReview")
    return "the body is no AdmissionReview: its kind is " + (kind.empty() ? "missing" : kube::inQuotes(kind));
  if (version != kVersion)
    return "the AdmissionReview has the version " + kube::inQuotes(version) + "; only " +
           std::string(kVersion) +
           " is known: set admissionReviewVersions: [v1] in the webhook configuration";
  if (!frame.any("request")) return "the AdmissionReview has no request";
  if (request.text("uid").empty()) return "the AdmissionReview has no request.uid to answer to";
  return "";
}

Operation readOperation(const Part& request) {
  const std::string_view word = request.requiredText("operation");
  const auto* known = std::ranges::find(kOperations, word, &std::pair<std::string_view, Operation>::first);
  if (known != kOperations.end()) return known->second;
  if (!word.empty()) request.fail("operation", " " + kube::inQuotes(word) + " is not known");
  return Operation::Connect;
}

void readOwners(const Part& metadata, std::string& problem, Deletion& deletion) {
  const auto list = metadata.any("ownerReferences");
  if (!list) return;
  simdjson::dom::array owners;
  if (list->get(owners) != simdjson::SUCCESS) return metadata.fail("ownerReferences", " must be a list");
  for (const element owner : owners) {
    const Part reference(owner, "request.oldObject.metadata.ownerReferences[]", {"uid"}, problem);
    deletion.owners.emplace_back(reference.text("uid"));
  }
}

void readFinalizers(const Part& metadata, Deletion& deletion) {
  const auto list = metadata.any("finalizers");
  if (!list) return;
  simdjson::dom::array finalizers;
  if (list->get(finalizers) != simdjson::SUCCESS) return metadata.fail("finalizers", " must be a list");
  for (const element finalizer : finalizers) {
    std::string_view name;
    if (finalizer.get(name) != simdjson::SUCCESS) return metadata.fail("finalizers", " must hold strings");
    deletion.isHeld = deletion.isHeld || name == kube::kCriteriaFinalizer;
    deletion.waitsForDependents = deletion.waitsForDependents || name == kube::kForegroundFinalizer;
  }
}

// What API servers do not know they refuse before they ask; here it is left out.
std::string readPolicy(const Part& options) {
  const std::string_view policy = options.text("propagationPolicy");
  for (const std::string_view known : {"Background", "Foreground", "Orphan"}) {
    if (policy == known) return std::string(policy);
  }
  if (!options.any("orphanDependents")) return {};
  return options.flag("orphanDependents") ? "Orphan" : "Background";  // what was before the policy
}

Deletion readDeletion(const Part& request, const Part& metadata, std::string& problem) {
  Deletion deletion;
  deletion.uid = metadata.text("uid");
  deletion.isTerminating = metadata.any("deletionTimestamp").has_value();
  readOwners(metadata, problem, deletion);
  readFinalizers(metadata, deletion);
  const Part options(request.any("options"), "request.options",
                     {"propagationPolicy", "orphanDependents", "preconditions"}, problem);
  deletion.policy = readPolicy(options);
  const Part preconditions(options.any("preconditions"), "request.options.preconditions", {"resourceVersion"},
                           problem);
  deletion.insistsOnVersion = !preconditions.text("resourceVersion").empty();
  return deletion;
}

// Where the object lies, and its name.
kube::ObjectKey readKey(const Part& request, const Part& oldMetadata, std::string& problem) {
  const Part resource(request.required("resource"), "request.resource", {"group", "resource"}, problem);
  kube::ObjectKey key;
  key.type.group = resource.text("group");
  key.type.resource = resource.requiredText("resource");
  const std::string_view old = oldMetadata.text("name");
  const Part object(request.any("object"), "request.object", {"metadata"}, problem);
  const Part metadata(object.any("metadata"), "request.object.metadata", {"name"}, problem);
  const std::string_view created = metadata.text("name");
  key.name = request.text("name");
  if (key.name.empty()) key.name = old.empty() ? created : old;
  const std::string_view namespaceName = request.text("namespace");
  if (key.type != kube::kNamespaces) key.namespaceName = namespaceName;
  return key;
}

std::string textOf(const std::optional<element>& object) {
  return object ? simdjson::minify(*object) : std::string();
}

// Calls write(key, value) for each member of a map, which writes what is to stand there; "": it is left out.
template <class Write>
std::string mapText(element map, Write write) {
  simdjson::dom::object members;
  if (map.get(members) != simdjson::SUCCESS) return simdjson::minify(map);
  std::string text = "{";
  for (const auto [key, value] : members) {
    const std::string written = write(key, value);
    if (written.empty()) continue;
    JsonWriter quoted(key.size() + 2);
    quoted.text(key);
    text.append(text.size() > 1 ? "," : "").append(quoted.take()).append(":").append(written);
  }
  return text + "}";
}

// As textOf(), of a CriticalService.
std::string serviceText(const std::optional<element>& object) {
  if (!object) return {};
  const auto ofMetadata = [](std::string_view key, element value) {
    const bool isLeftOut = key == "annotations" || key == "managedFields" || key == "generation";
    return isLeftOut ? std::string() : simdjson::minify(value);
  };
  return mapText(*object, [&](std::string_view key, element value) {
    if (key == "status") return std::string();
    return key == "metadata" ? mapText(value, ofMetadata) : std::string(simdjson::minify(value));
  });
}

// As textOf(), without managedFields, which may be most of it, and which no policy looks at.
std::string policyText(const std::optional<element>& object) {
  if (!object) return {};
  const auto ofMetadata = [](std::string_view key, element value) {
    return key == "managedFields" ? std::string() : std::string(simdjson::minify(value));
  };
  return mapText(*object, [&](std::string_view key, element value) {
    return key == "metadata" ? mapText(value, ofMetadata) : std::string(simdjson::minify(value));
  });
}

std::vector<std::string> readGroups(const std::optional<element>& info, std::string& problem) {
  const Part user(info, "request.userInfo", {"groups"}, problem);
  std::vector<std::string> groups;
  const auto list = user.any("groups");
  simdjson::dom::array names;
  if (!list) return groups;
  if (list->get(names) != simdjson::SUCCESS) user.fail("groups", " must be a list");
  for (const element name : names) {
    std::string_view text;
    if (name.get(text) != simdjson::SUCCESS) user.fail("groups", " must hold strings");
    groups.emplace_back(text);
  }
  return groups;
}

// The user's name.
std::string_view readUser(const std::optional<element>& info, std::string& problem) {
  const Part user(info, "request.userInfo", {"username", "uid", "groups", "extra"}, problem);
  return user.text("username");
}

// What API servers write there they have bounded.
std::string readUserInfo(const std::optional<element>& info, std::string& problem) {
  std::string text = textOf(info);
  if (problem.empty() && text.size() > kMostUserBytes)
    problem = "request.userInfo takes more than " + std::to_string(kMostUserBytes) + " bytes";
  return text;
}

Review readReview(const Part& request, Kept kept, std::string& problem) {
  Review review;
  review.uid = request.requiredText("uid");
  review.operation = readOperation(request);
  const Part old(request.any("oldObject"), "request.oldObject", {"metadata"}, problem);
  const Part oldMetadata(old.any("metadata"), "request.oldObject.metadata",
                         {"name", "uid", "deletionTimestamp", "ownerReferences", "finalizers"}, problem);
  review.object = readKey(request, oldMetadata, problem);
  review.subresource = request.text("subResource");
  const std::optional<element> user = request.required("userInfo");
  review.user = readUser(user, problem);
  review.dryRun = request.flag("dryRun");
  if (problem.empty() && review.operation != Operation::Create && review.object.name.empty())
    problem = "neither request.name nor metadata.name of request.oldObject is there";
  if (review.operation == Operation::Delete) review.deletion = readDeletion(request, oldMetadata, problem);
  if (problem.empty() && kept == Kept::Objects) {
    review.groups = readGroups(user, problem);
    if (review.operation == Operation::Delete) review.oldObject = policyText(request.any("oldObject"));
  }
  if (!problem.empty() || review.operation == Operation::Delete) return review;
  review.userInfo = readUserInfo(user, problem);
  const auto text = review.object.type == criticalservice::criticalServiceType() ? serviceText : textOf;
  review.newObject = text(request.any("object"));
  review.oldObject = text(request.any("oldObject"));
  return review;
}

tl::expected<Review, ReviewError> readBody(std::string_view body, Kept kept) {
  const kube::JsonDocument document(body, kDeepest);
  if (!document.isWhole()) return notThat("the body is no JSON that is read here: " + document.problem());
  const element root = document.root();
  if (!root.is_object()) return notThat("the body is no AdmissionReview: it is no map");

  std::string problem;
  const Part frame(root, "", {"apiVersion", "kind", "request"}, problem);
  const Part request(frame.any("request"), "request",
                     {"uid", "operation", "resource", "subResource", "name", "namespace", "userInfo",
                      "dryRun", "object", "oldObject", "options"},
                     problem);
  if (problem.empty()) {
    if (std::string wrong = reviewFrameProblem(frame, request); !wrong.empty())
      return notThat(std::move(wrong));
  }
  Review review = readReview(request, kept, problem);
  if (!problem.empty()) return notThat("the AdmissionReview is not understood: " + problem);
  return review;
}

}  // namespace

tl::expected<Review, ReviewError> parseReview(std::string_view body, Kept kept) {
  if (body.size() > kMostReviewBytes) {
    return Refused(
        ReviewError{413, "the body is longer than " + std::to_string(kMostReviewBytes) + " bytes"});
  }
  if (body.size() <= kLargeBytes) return readBody(body, kept);
  // One at a time: reading takes some thirteen times the bytes.
  static kube::Mutex large;
  const kube::MutexLock lock(large);
  return readBody(body, kept);
}

std::string_view toString(Operation operation) { return kOperations[static_cast<size_t>(operation)].first; }

}  // namespace lastout::admission
