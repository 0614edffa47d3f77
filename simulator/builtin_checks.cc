#include "simulator/builtin_checks.h"

#include <array>
#include <limits>
#include <string>

#include "kube/encoding.h"
#include "kube/well_known.h"
#include "simulator/field_error.h"

namespace lastout::simulator {
namespace {

// What a field holds, in Go's words; null stands for an absent one.
enum class Content { Texts, Bytes, Count };

struct CheckedField {
  const kube::GroupResource* type;
  std::string_view parent;  // empty: none
  std::string_view name;
  Content content;
  std::string_view goField;
};

constexpr std::array<CheckedField, 7> kCheckedFields = {{
    {&kube::kConfigMaps, "", "binaryData", Content::Bytes, "ConfigMap.binaryData"},
    {&kube::kConfigMaps, "", "data", Content::Texts, "ConfigMap.data"},
    {&kube::kSecrets, "", "data", Content::Bytes, "Secret.data"},
    {&kube::kSecrets, "", "stringData", Content::Texts, "Secret.stringData"},
    {&kube::kDeployments, "spec", "replicas", Content::Count, "DeploymentSpec.spec.replicas"},
    {&kube::kReplicaSets, "spec", "replicas", Content::Count, "ReplicaSetSpec.spec.replicas"},
    {&kube::kStatefulSets, "spec", "replicas", Content::Count, "StatefulSetSpec.spec.replicas"},
}};

ApiResult<void> checkTexts(const ServedType& type, const CheckedField& field, const Json& value) {
  const bool isBytes = field.content == Content::Bytes;
  const auto fail = [&](const Json& found, std::string_view wanted) {
    return tl::unexpected(undecodable(type.kind, type.version, goKind(found), field.goField, wanted));
  };
  if (!value.is_object()) return fail(value, isBytes ? "map[string][]uint8" : "map[string]string");
  for (const Json& text : value) {
    if (text.is_null()) continue;
    if (!text.is_string()) return fail(text, isBytes ? "[]uint8" : "string");
    if (isBytes && !kube::fromBase64(text.get_ref<const std::string&>()))
      return tl::unexpected(badRequest(type.kind + " in version \"" + type.version +
                                       "\" cannot be handled as a " + type.kind + ": illegal base64 data"));
  }
  return {};
}

ApiResult<void> checkCount(const ServedType& type, std::string_view name, const CheckedField& field,
                           const Json& value) {
  const bool fits = value.is_number_integer() && value <= std::numeric_limits<int32_t>::max() &&
                    value >= std::numeric_limits<int32_t>::min();
  if (!fits) {
    const std::string found = value.is_number() ? "number " + value.dump() : std::string(goKind(value));
    return tl::unexpected(undecodable(type.kind, type.version, found, field.goField, "int32"));
  }
  if (value >= 0) return {};
  return tl::unexpected(invalid(type.kind, type.type.group, name,
                                {invalidField(std::string(field.parent) + "." + std::string(field.name),
                                              value, "must be greater than or equal to 0")}));
}

}  // namespace

ApiResult<void> checkBuiltIn(const ServedType& type, std::string_view name, const Json& object) {
  for (const CheckedField& field : kCheckedFields) {
    if (*field.type != type.type) continue;
    const Json* value =
        field.parent.empty() ? at(object, {field.name}) : at(object, {field.parent, field.name});
    if (value == nullptr || value->is_null()) continue;
    auto checked = field.content == Content::Count ? checkCount(type, name, field, *value)
                                                   : checkTexts(type, field, *value);
    if (!checked) return checked;
  }
  return {};
}

}  // namespace lastout::simulator
