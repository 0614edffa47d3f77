// Profiles: the deletion policies of other systems (protection/profiles/), which are part of the program.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "kube/compiled_text.h"
#include "protection/policy.h"

namespace lastout::protection {

// The files of protection/profiles/, in the order of their names.
std::span<const kube::CompiledText> profileTexts();

struct Profile {
  std::string_view name;     // "karmada"
  std::string_view file;     // "protection/profiles/karmada.yaml"
  std::string_view text;     // comments included
  std::string_view summary;  // the first line of its comment
};

std::vector<Profile> profiles();

// Returns the profile of that name. Fails with the nearest name, or with all of them.
kube::Result<Profile> findProfile(std::string_view name);

// Returns the profile's policies as objects. Fails as findProfile() does.
tl::expected<std::vector<PolicyManifest>, kube::Errors> profileManifests(std::string_view name);

// Returns the profile's policies. Fails as findProfile() does.
tl::expected<std::vector<DeletionPolicy>, kube::Errors> parseProfile(std::string_view name);

}  // namespace lastout::protection
