// A LiveCluster that grew object by object ends as a model does that was built of all of them at once.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/cluster/live_world.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

struct Given {
  std::string reference;
  std::string apiVersion;
  std::string kind;
  std::vector<std::string> finalizers = {};
  std::vector<size_t> owners = {};  // earlier ones
  uint32_t replicas = 0;
  bool mounts = false;
  bool applied = false;  // by the work
};

std::string nameIn(const std::string& reference) { return reference.substr(reference.rfind('/') + 1); }

std::string spaceIn(const std::string& reference) {
  const size_t first = reference.find('/');
  const size_t last = reference.rfind('/');
  return first == last ? "" : reference.substr(first + 1, last - first - 1);
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

std::string yamlOf(const std::vector<Given>& all) {
  std::string yaml;
  for (const Given& one : all) {
    yaml += "---\napiVersion: " + one.apiVersion + "\nkind: " + one.kind + "\nmetadata:\n  name: ";
    yaml += nameIn(one.reference) + "\n";
    if (!spaceIn(one.reference).empty()) yaml += "  namespace: " + spaceIn(one.reference) + "\n";
    yaml += "  finalizers: [" + join(one.finalizers) + "]\n";
    if (!one.owners.empty()) yaml += "  ownerReferences:\n";
    for (const size_t owner : one.owners) {
      yaml += "  - {apiVersion: " + all[owner].apiVersion + ", kind: " + all[owner].kind;
      yaml += ", name: " + nameIn(all[owner].reference) + ", blockOwnerDeletion: true}\n";
    }
    if (one.kind == "CustomResourceDefinition") {
      yaml += "spec: {group: example.com, scope: Cluster, names: {plural: widgets, singular: widget, ";
      yaml += "kind: Widget}, versions: [{name: v1, served: true, storage: true}]}\n";
    }
    if (one.kind == "Deployment") {
      yaml += "spec:\n  replicas: " + std::to_string(one.replicas) + "\n";
      if (one.mounts)
        yaml += "  template: {spec: {volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]}}\n";
    }
  }
  return yaml;
}

class Pair {
 public:
  explicit Pair(uint32_t seed) : random_(seed) {
    give();
    std::string work = "provider:";
    bool works = false;
    for (const Given& one : given_) {
      if (one.applied) work += " " + one.reference;
      works = works || one.applied;
    }
    WorldOptions options{.guarded = false};
    if (works) options.works = {work};
    built_ = std::make_unique<World>(yamlOf(given_), options);
    built_->controller("auto", "", "f/auto", "configmaps");
    grow(works);
  }

  // Somebody deletes something; everything that follows from it happens.
  void step() {
    const std::vector<std::string> there = live_.left();
    if (there.empty()) return;
    const std::string& target = there[below(static_cast<uint32_t>(there.size()))];
    // Whether a claim is free for a moment while one Pod replaces another is a matter of order.
    if (target == "persistentvolumeclaims/x/data") return;
    const PropagationPolicy policies[] = {PropagationPolicy::Background, PropagationPolicy::Foreground,
                                          PropagationPolicy::Orphan};
    // Of a record that is deleted in the foreground, agent and collector both delete the dependents: who is
    // first leaves its mark.
    const PropagationPolicy policy =
        target == kLiveApplied ? PropagationPolicy::Background : policies[below(3)];
    history_ += target + " " + std::to_string(static_cast<int>(policy)) + "; ";
    built_->deletes(target, policy);
    built_->settle();
    live_.remove(target, policy);
    live_.run(live_.now + std::chrono::hours(1));
  }

  testing::AssertionResult agree() const {
    std::map<std::string, std::vector<std::string>> ours;
    std::map<std::string, std::vector<std::string>> theirs;
    for (const std::string& name : live_.left())
      ours[name] = sorted(live_.cluster.finalizers(*live_.cluster.find(live_.key(name))));
    for (const std::string& name : built_->left()) theirs[name] = sorted(built_->finalizers(name));
    if (ours == theirs) return testing::AssertionSuccess();
    return testing::AssertionFailure() << "live " << testing::PrintToString(ours) << "\nbuilt "
                                       << testing::PrintToString(theirs) << "\nafter " << history_ << "\n"
                                       << yamlOf(given_);
  }

 private:
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>(random_() % bound); }
  bool oneIn(uint32_t n) { return below(n) == 0; }
  static std::vector<std::string> sorted(std::vector<std::string> names) {
    std::sort(names.begin(), names.end());
    return names;
  }

  void add(Given one) {
    if (oneIn(4)) return;
    const bool canHaveOwners = one.kind == "ConfigMap" || one.kind == "Deployment";
    for (size_t i = 0; i < given_.size() && canHaveOwners; ++i) {
      if (spaceIn(given_[i].reference) == spaceIn(one.reference) && oneIn(3)) one.owners.push_back(i);
    }
    one.applied = one.kind == "ConfigMap" && one.owners.empty() && oneIn(3);
    if (!one.applied && one.kind != "Namespace" && oneIn(3))
      one.finalizers = {oneIn(2) ? "f/auto" : "f/never"};
    given_.push_back(std::move(one));
  }

  void give() {
    for (const char* space : {"x", "hub"})
      given_.push_back({std::string("namespaces/") + space, "v1", "Namespace"});
    add({"persistentvolumeclaims/x/data", "v1", "PersistentVolumeClaim"});
    for (const char* name : {"a", "b", "c", "d"})
      add({std::string("configmaps/x/") + name, "v1", "ConfigMap"});
    add({"deployments.apps/x/web", "apps/v1", "Deployment", {}, {}, below(4), oneIn(2)});
    if (oneIn(2)) return;
    given_.push_back({kLiveCrd, "apiextensions.k8s.io/v1", "CustomResourceDefinition"});
    for (const char* name : {"one", "two"})
      add({std::string("widgets.example.com/") + name, "example.com/v1", "Widget"});
  }

  void grow(bool works) {
    FinalizerController controller;
    controller.name = "auto";
    controller.finalizer = "f/auto";
    controller.from = {"", "configmaps"};
    ASSERT_TRUE(live_.cluster.addController(controller, std::nullopt));
    for (const Given& one : given_) {
      LiveObject object = live_.object(one.reference, one.finalizers);
      for (const size_t owner : one.owners)
        object.owners.push_back(
            {live_.cluster.uid(*live_.cluster.find(live_.key(given_[owner].reference))), false, true});
      object.replicas = one.replicas;
      if (one.mounts) object.claims = {"data"};
      live_.create(object);
    }
    if (works) {
      LiveObject work = live_.object(kLiveWork);
      work.appliedName = "applied-provider";
      for (const Given& one : given_) {
        if (one.applied) work.applies.push_back(live_.key(one.reference));
      }
      live_.create(work);
    }
    live_.run();
  }

  std::mt19937 random_;
  std::vector<Given> given_;
  std::unique_ptr<World> built_;
  LiveWorld live_;
  std::string history_;
};

TEST(LiveCluster, EndsAsAModelThatWasBuiltAtOnce) {
  for (uint32_t seed = 0; seed < 200; ++seed) {
    Pair pair(seed);
    ASSERT_TRUE(pair.agree()) << "seed " << seed;
    for (int step = 0; step < 6; ++step) {
      pair.step();
      ASSERT_TRUE(pair.agree()) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace lastout::cluster
