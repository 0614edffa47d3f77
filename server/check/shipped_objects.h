// ShippedFile: what deploy/ installs, as this version ships it; and whether an object that stands in a
// cluster is as shipped.
#pragma once

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "admission/service_changes.h"
#include "kube/compiled_text.h"
#include "kube/object.h"
#include "kube/value.h"

namespace lastout::server {

inline constexpr const char* kInstalledNamespace = "lastout";  // of deploy/

// The files of deploy/ and of its components that have objects, which are part of the program.
std::span<const kube::CompiledText> deployTexts();

struct ShippedFile {
  std::string_view name;    // "deploy/rbac.yaml"
  bool isOptional = false;  // an installation may leave it out
  std::vector<kube::Object> objects;
};
const std::vector<ShippedFile>& shippedFiles();
// Returns the object of these files that has the key, which has to be one of theirs.
const kube::Object& shippedObject(const kube::ObjectKey& key);

inline constexpr const char* kApplyAgain = "; apply deploy/ again, or run helm upgrade";
// Returns why the object that stands is not as shipped, or is not in force, and what to do: "rules has 2
// items instead of 3; apply deploy/ again, ...". Empty: it is. Metadata may say more, and so may objects of
// types that decide nothing about rights or admission; fields that whoever installs lastout may choose
// (docs/install.md) do not count.
std::string problemWith(const kube::Object& shipped, const kube::Value& standing);

// "Available is False (MinimumReplicasUnavailable): ...", of an entry of status.conditions.
std::string conditionText(const kube::Value& condition);

// Returns the rights that the bindings in these files give to that ServiceAccount of lastout's namespace.
std::set<admission::NeededRight> rightsOf(const std::string& account,
                                          const std::vector<const ShippedFile*>& files);

}  // namespace lastout::server
