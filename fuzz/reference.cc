// Any text as a reference, a pattern, a selector and a duration: what a reference is written as is read as
// the same.
#include "kube/reference.h"

#include <cstdint>
#include <string_view>

#include "fuzz/check.h"
#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/selector.h"

using lastout::fuzz::check;
namespace kube = lastout::kube;

namespace {

const kube::ResourceMap& types() {
  static const kube::ResourceMap kTypes = [] {
    auto map = kube::ResourceMap::builtIn();
    map.add({.type = {"my.crd.group", "coolresources"},
             .kind = "CoolResource",
             .version = "v1",
             .singular = "coolresource",
             .shortNames = {"cool"},
             .namespaced = false});
    return map;
  }();
  return kTypes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  (void)kube::parseSelector(text);
  if (const auto duration = kube::parseDuration(text))
    check(duration->count() >= 0, "no duration is negative", text);

  const auto reference = kube::parseReference(text, types());
  const auto pattern = kube::parsePattern(text, types());
  if (!pattern) {
    check(!reference, "every reference is a pattern", text);
    check(!pattern.error().message.empty(), "an error says something", text);
    return 0;
  }
  const std::string written = toString(pattern->key);
  const auto again = kube::parsePattern(written, types());
  const bool asItIs = kube::printable(pattern->key.name) == pattern->key.name;  // else escaped, for people
  check(!asItIs || (again && again->key == pattern->key && again->anyNamespace == pattern->anyNamespace),
        "a pattern is read as it is written", written);
  check(pattern->matches(pattern->key), "a pattern matches its own text", written);
  check(reference.has_value() == (!pattern->hasGlob() && !pattern->anyNamespace), "one object, or a pattern",
        written);
  if (reference) check(*reference == pattern->key, "a reference is its pattern", written);
  return 0;
}
