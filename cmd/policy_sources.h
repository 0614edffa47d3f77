// PolicySource: the deletion policies that a command line means: profiles, files of policies, and Orkestra's
// own settings.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "kube/object_key.h"
#include "kube/result.h"
#include "protection/orkestra.h"
#include "protection/policy.h"

namespace lastout::cmd {

struct PolicySource {
  std::string name;  // of the profile or file
  std::string text;  // the policies in YAML
  std::vector<protection::PolicyManifest> policies;
  std::optional<protection::OrkestraSettings> settings;  // that the policies are made of
};

// Reads each word: the name of a profile, or a file, folder or "-". Fails with all that is wrong, also where
// two policies have one name. Warnings go to the standard error.
tl::expected<std::vector<PolicySource>, kube::Errors> readPolicySources(
    const std::vector<std::string>& words);

// Says of every ancestor that the policies ask for that it is on that cluster. Fails where none asks for one,
// or the name cannot be that of a cluster.
tl::expected<void, kube::Errors> setAncestorCluster(std::vector<PolicySource>& sources,
                                                    const std::string& cluster);

// Reads Orkestra's settings; `types`: as parseOrkestra() takes them. Warnings go to the standard error.
tl::expected<PolicySource, kube::Errors> readOrkestra(
    const std::string& file, const std::map<std::string, kube::GroupResource>& types);

}  // namespace lastout::cmd
