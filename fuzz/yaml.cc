// Any text as YAML, and what can be read from it: what is accepted is valid JSON with the same content, and
// what is refused says where.
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "fuzz/check.h"
#include "kube/object.h"
#include "kube/parse.h"
#include "kube/reference.h"
#include "kube/selector.h"

using lastout::fuzz::check;
namespace kube = lastout::kube;

namespace {

// What aliases repeat is written out as JSON, which is then still within parseJson()'s own limits.
constexpr kube::ParseLimits kLimits = {.bytes = size_t{1} << 20, .depth = 64, .values = 100'000};

void checkValue(const kube::Value& value) {
  check(value.position.line > 0 && value.position.column > 0, "every value has a place");
  // Escaped, since JSON text may not have all characters that a YAML escape can make.
  const std::string json = kube::toJson(value).dump(-1, ' ', true);
  const auto again = kube::parseJson(json, "json");
  check(again.has_value(), "what YAML gives is valid JSON", json);
  check(kube::toJson(*again).dump(-1, ' ', true) == json, "JSON keeps the content of YAML", json);
}

void checkObjects(std::vector<kube::Value> documents) {
  auto types = kube::ResourceMap::builtIn();
  const auto objects = kube::parseObjects(std::move(documents), "yaml", types);
  if (!objects) {
    check(objects.error().position.line > 0, "an error of an object has a place", toString(objects.error()));
    return;
  }
  for (const kube::Object& object : *objects) {
    const std::string text = toString(object.key);
    if (text.find_first_of(" *?") != std::string::npos) continue;  // names that a reference cannot write
    const auto key = kube::parseReference(text, types);
    check(key && *key == object.key, "an object's key is its reference", text);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  auto documents = kube::parseYaml(text, "yaml", kLimits);
  if (!documents) {
    check(documents.error().position.line > 0, "an error has a place", toString(documents.error()));
    return 0;
  }
  for (const kube::Value& document : *documents) {
    checkValue(document);
    (void)kube::parseSelector(document, "yaml");
    (void)kube::parseMeta(document, "yaml");
  }
  checkObjects(std::move(*documents));
  return 0;
}
