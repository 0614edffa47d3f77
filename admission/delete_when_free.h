// The annotation lastout.dev/delete-when-free: by it a person asks for the deletion of the object that
// carries it, once lastout's verdict has turned (docs/criticalservice.md, "Deletions by annotation").
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "kube/object.h"
#include "kube/object_key.h"

namespace lastout::admission {

inline constexpr std::string_view kDeleteWhenFree = "lastout.dev/delete-when-free";
inline constexpr std::chrono::hours kDeleteWhenFreeFor{24};  // in the command that a denial names
// Further ahead its time does not count: the annotation may outlive its writer's right to delete the object,
// or have been written where nobody asked for that right.
inline constexpr std::chrono::hours kDeleteWhenFreeAtMost{7 * 24};
inline constexpr size_t kLongestDeleteWhenFree = 128;  // bytes of its value; no more is kept

// Objects that carry the annotation, as they were told of last.
struct AnnotatedObject {
  std::string uid;
  std::string value;  // at most a byte longer than it may be
  friend bool operator==(const AnnotatedObject&, const AnnotatedObject&) = default;
};
using AnnotatedObjects = std::map<kube::ObjectKey, AnnotatedObject>;

// nullopt: the object does not carry it, or is being deleted.
std::optional<AnnotatedObject> annotatedBy(const kube::ObjectMeta& meta);
// The object is there, and looks so.
void note(AnnotatedObjects& objects, const kube::ObjectKey& key, const kube::ObjectMeta& meta);

// Until when the annotation asks for the object's deletion, in seconds since the epoch. Fails with a reason
// when it does not count: its value is not "UID UNTIL", it names another object's uid, or its time has passed
// or is too far ahead of `now`. Without `now` the time is not checked.
tl::expected<int64_t, std::string> askedUntil(const AnnotatedObject& object,
                                              std::optional<std::chrono::sys_seconds> now);
inline constexpr std::string_view kTimeHasPassed = "its time has passed";  // as it fails then

// Returns the command with which a person sets the annotation: "kubectl annotate ...". Empty if a name
// contains a character that a shell would interpret.
std::string annotateCommand(const kube::ObjectKey& key, std::string_view uid, std::chrono::sys_seconds until);

// Returns the end of a denial with that command: "; to have lastout delete it once it may go: kubectl ...".
// Empty where annotateCommand() is.
std::string annotateAdvice(const kube::ObjectKey& key, std::string_view uid, std::chrono::sys_seconds now);

// Returns a sentence for `lastout why`: until when the annotation asks for the deletion at `now`, or why the
// annotation does not count.
std::string wordsOf(const AnnotatedObject& object, std::optional<std::chrono::sys_seconds> now);

}  // namespace lastout::admission
