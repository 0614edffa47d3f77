// RecordedStory: a recording as the machine can play it again: the cluster at its beginning, what clients
// asked for, and what came of it.
#pragma once

#include <chrono>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "cluster/model.h"
#include "kube/kubernetes_version.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "replay/compile.h"

namespace lastout::testing {

// One thing that happened to an object; of all but Gone only the first time counts.
struct Happened {
  kube::ObjectKey key;
  cluster::EventKind kind = cluster::EventKind::Gone;  // Accepted, Denied or Gone
};

struct ClientDelete {
  kube::ObjectKey key;
  std::chrono::milliseconds at{0};  // since the story began
};

struct RecordedStory {
  std::string name;                                              // "guarded"
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;  // where it was recorded
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  std::vector<kube::Object> objects;  // there when the story begins
  std::vector<ClientDelete> deletes;
  std::vector<Happened> happened;
  std::set<std::string> left;  // references of what is there when it ends
  bool guarded = false;        // a webhook enforced the CriticalService
};

RecordedStory readStory(const std::string& name, kube::KubernetesVersion kubernetes);

// The stories of both: "guarded" of 1.26, ...
struct StoryName {
  std::string name;
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;
  friend std::ostream& operator<<(std::ostream& out, const StoryName& story) { return out << story.test(); }
  std::string test() const;  // "guarded_1_26"
};
std::vector<StoryName> storyNames();
inline RecordedStory readStory(const StoryName& story) { return readStory(story.name, story.kubernetes); }

// The story's beginning as a model, with its clients' deletes as steps in their order, and the finalizer
// controller that its CriticalService speaks of. The goal is that nothing is left.
replay::Compiled toModel(const RecordedStory& story);

}  // namespace lastout::testing
