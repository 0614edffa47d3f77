#include "kube/object_key.h"

#include <string_view>

#include "kube/messages.h"
#include "kube/well_known.h"

namespace lastout::kube {

std::string toString(const GroupResource& type) {
  return type.group.empty() ? type.resource : type.resource + "." + type.group;
}

std::string toString(const ObjectKey& key) {
  std::string text = toString(key.type);
  if (!key.namespaceName.empty()) {
    text += "/";
    text += key.namespaceName;
  }
  text += "/";
  text += printable(key.name);  // a Role's may be a line break
  return text;
}

std::string crdName(const GroupResource& type) { return type.resource + "." + type.group; }

ObjectKey crdKey(const GroupResource& type) { return {kCustomResourceDefinitions, "", crdName(type)}; }

DefinedNames definedNames(std::string_view crdName) {
  const size_t dot = crdName.find('.');
  if (dot == std::string_view::npos) return {"", crdName};
  return {crdName.substr(dot + 1), crdName.substr(0, dot)};
}

GroupResource definedBy(std::string_view crdName) {
  const DefinedNames names = definedNames(crdName);
  return {std::string(names.group), std::string(names.resource)};
}

size_t hashAfter(size_t seed, std::string_view part) noexcept {
  uint64_t h =
      seed ^ (std::hash<std::string_view>{}(part) + 0x9e3779b97f4a7c15ULL + (seed << 6) + (seed >> 2));
  h ^= h >> 32;
  h *= 0xd6e8feb86659fd93ULL;
  h ^= h >> 32;
  return h;
}

}  // namespace lastout::kube

size_t std::hash<lastout::kube::GroupResource>::operator()(
    const lastout::kube::GroupResource& type) const noexcept {
  return lastout::kube::hashAfter(lastout::kube::hashAfter(0, type.group), type.resource);
}

size_t std::hash<lastout::kube::ObjectKey>::operator()(const lastout::kube::ObjectKey& key) const noexcept {
  const size_t type = std::hash<lastout::kube::GroupResource>{}(key.type);
  return lastout::kube::hashAfter(lastout::kube::hashAfter(type, key.namespaceName), key.name);
}
