// World: a small cluster for a test, written as YAML, in which the test says what happens next.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/build.h"
#include "cluster/machine.h"

namespace lastout::cluster {

using Kind = Action::Kind;

struct WorldOptions {
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;
  bool guarded = true;
  bool runsDeferredDeletions = false;
  std::vector<std::string> works =
      {};  // names of objects in the YAML that each work applies: "name: ref ref"
  std::vector<std::string> absent = {};  // references of objects that only steps create
  std::string lastoutNamespace = {};
  std::vector<std::string> orphans = {};   // references of objects that all works leave behind
  std::vector<std::string> readOnly = {};  // and of those that they only read
};

class World {
 public:
  explicit World(std::string_view yaml, const WorldOptions& options = {});

  Slot slot(std::string_view reference) const;
  void controller(std::string_view name, std::string_view runsIn, std::string_view finalizer,
                  std::string_view from);
  uint32_t step(ClientStep::Verb verb, std::string_view reference,
                const std::function<void(ClientStep&)>& adjust = {});
  // A client's DELETE, sent at once; with review and commit where the object is guarded.
  void deletes(std::string_view reference, std::optional<PropagationPolicy> policy = {});
  void send(uint32_t step);
  // A step of any other verb, sent at once.
  void does(ClientStep::Verb verb, std::string_view reference, uint16_t value = 0);

  bool enabled(Kind kind, std::string_view reference) const;
  bool enabledWork(uint32_t work) const;
  // Performs an action; the test fails when it is not enabled.
  void perform(Kind kind, std::string_view reference, Actor actor);
  void perform(Kind kind, std::string_view reference);
  void agent(uint32_t work);
  void agentConfirms(uint32_t work);
  void agentCommits(uint32_t work);
  // Performs enabled actions, first come first served, until nothing changes any more.
  void settle();

  bool present(std::string_view reference) const;
  bool terminating(std::string_view reference) const;
  std::vector<std::string> finalizers(std::string_view reference) const;
  std::vector<std::string> left() const;  // what is present, sorted
  // What happened so far: "client denied namespaces/x".
  const std::vector<std::string>& log() const { return log_; }
  bool unsafe() const;
  Model& model() { return model_; }
  const Model& model() const { return model_; }
  StateRef state() const { return {words_.data(), machine_->layout()}; }
  const Machine& machine() const { return *machine_; }

 private:
  void rebuild();  // after the model was extended
  bool apply(const Action& action);
  std::vector<Action> actions() const;
  void performWhere(const std::function<bool(const Action&)>& matches, const std::string& what);

  kube::ResourceMap types_;
  Model model_;
  std::unique_ptr<Machine> machine_;
  mutable std::vector<uint64_t> words_;
  std::vector<std::string> log_;
};

}  // namespace lastout::cluster
