// Manifests: what a cluster would hold after everything in some files was applied to it, works included.
#pragma once

#include <vector>

#include "kube/object.h"
#include "kube/parse.h"
#include "manifestwork/manifest_work.h"
#include "protection/policy.h"
#include "replay/input_file.h"
#include "replay/scenario.h"

namespace lastout::replay {

struct Manifests {
  std::vector<kube::Object> objects;  // without ManifestWorks and AppliedManifestWorks
  std::vector<manifestwork::ManifestWork> works;
  std::vector<manifestwork::AppliedManifestWork> applied;
  std::vector<protection::DeletionPolicy> profiles;  // policies of profiles, which are no objects
  std::vector<ScenarioController> controllers;       // of scenarios
  kube::ResourceMap types = kube::ResourceMap::builtIn();
};

// Reads files of manifests (JSON when the name ends so or the standard input begins so, else YAML) as one
// cluster: CRDs count for all files, and words of works may name objects of any. A file that holds a Scenario
// is read as that scenario is, with its further files; its steps count for nothing. Reports everything that
// is wrong, each with file:line:column, but of files that cannot be parsed only that; an object that stands
// twice is an error, except that works may apply what another work applies or what stands by itself.
tl::expected<Manifests, kube::Errors> readManifests(const std::vector<InputFile>& files,
                                                    const kube::ParseLimits& limits = {});

}  // namespace lastout::replay
