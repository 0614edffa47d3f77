// Held objects as dialogues (dialogues/held-*.txt): watches tell, passes are made, and what is patched, told
// and let go follows. Beside the steps of a scripted cluster:
//
//   policies FILE          the policies of that file, or without it those below, as YAML
//   no policies            they are taken back
//   guard POLICY is made|is gone|is unbound|is changed    who checks that a user may force (force_guard.h);
//                          with `policies` all are made
//   watch lists KIND       all objects of the kind are known: those below, as YAML
//   show OBJECT            its status
//
// Of the metrics a pass says what force has done: "counted begun", "counted forced".
#include "server/controllers/held_object_reconciler.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "kube/parse.h"
#include "protection/force_guard.h"
#include "tests/support/manifests.h"
#include "tests/support/scripted_cluster.h"
#include "tests/support/seed.h"
#include "tests/support/stop.h"

namespace lastout::server {
namespace {

using testing::DialogueStep;
using testing::restOf;
using testing::stop;
using testing::wordOf;

constexpr int64_t kBeginning = 1'777'000'000;  // seconds since the epoch

class HeldDialogue : public testing::ScriptedCluster {
 public:
  HeldDialogue() : ScriptedCluster("scenarios/crds/dbops.yaml", "dbops.dbprovision.io") { addSteps(); }

 protected:
  void toldOf(const kube::Object& object) override { controller_.wake(objects_.upsert(object)); }
  void toldOfGone(const kube::ObjectKey& key, const std::string& uid) override {
    controller_.wake(objects_.remove(key, uid));
  }
  Controller& controller() override { return controller_; }

 private:
  void addSteps();
  std::string policies(const std::string& file, const std::string& below);
  void guard(const protection::DeletionPolicy& policy, const std::string& how);
  HeldObjectReconcilerOptions options();
  ControllerOptions heldOptions();

  HeldObjects objects_;
  std::vector<protection::DeletionPolicy> guarded_;
  HeldObjectReconciler policies_{objects_, client_, options()};
  Controller controller_{heldOptions()};
};

HeldObjectReconcilerOptions HeldDialogue::options() {
  HeldObjectReconcilerOptions options;
  options.findType = [this](const kube::GroupResource& type) { return find(type); };
  options.clock = [this] {
    return kBeginning +
           std::chrono::floor<std::chrono::seconds>(now_ - TimePoint(std::chrono::hours(1))).count();
  };
  options.mayAct = [this] { return leads_.load(); };
  options.tell = [this](const kube::Object& object, const protection::HoldEvent& event) {
    tell(std::string(event.isWarning ? "Warning " : "Normal ") + event.reason + " " + object.kind + "/" +
         object.key.name + ": " + event.message);
  };
  options.count = [this](HeldOutcome outcome) {
    if (outcome == HeldOutcome::Begun || outcome == HeldOutcome::Forced)
      tell("counted " + std::string(toString(outcome)));
  };
  options.log = [](Level, const std::string&) {};
  return options;
}

ControllerOptions HeldDialogue::heldOptions() {
  ControllerOptions options = controllerOptions("held objects");
  options.all = [this] { return objects_.all(); };
  options.settle = [this](const kube::ObjectKey& key) { return policies_.settle(key); };
  return options;
}

std::string HeldDialogue::policies(const std::string& file, const std::string& below) {
  const auto text = file.empty() ? below : kube::readFile(file);
  if (!text) stop(toString(text.error()));
  auto read = protection::parsePolicies(*text, file);
  if (!read) return testing::lines(read.error());
  controller_.wake(objects_.setPolicies(*read));
  guarded_ = *read;
  for (const protection::DeletionPolicy& policy : guarded_) guard(policy, "is made");
  return "";
}

void HeldDialogue::guard(const protection::DeletionPolicy& policy, const std::string& how) {
  for (const nlohmann::ordered_json& made : protection::forceGuardOf(policy)) {
    const bool isBinding = made["kind"] == "ValidatingAdmissionPolicyBinding";
    Json object(made);
    if (how == "is changed" && !isBinding) object["spec"]["failurePolicy"] = "Ignore";
    const std::string path = std::string("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic") +
                             (isBinding ? "ybindings/" : "ies/") +
                             made["metadata"]["name"].get<std::string>();
    if (how != "is gone" && !(how == "is unbound" && isBinding))
      put(path, object);
    else if (read(path))
      erase(path);
  }
}

void HeldDialogue::addSteps() {
  commands_["policies"] = [this](const auto& step, auto& rest) { return policies(wordOf(rest), step.text); };
  commands_["no"] = [this](const auto&, auto&) {
    controller_.wake(objects_.setPolicies({}));
    return "";
  };
  commands_["watch"] = [this, tells = commands_["watch"]](const auto& step, auto& rest) {
    if (wordOf(rest) != "lists") return tells(step, rest);
    store(step.text);
    tellChanges();
    controller_.wake(objects_.know(typeOf(wordOf(rest)).type, ""));
    return std::string();
  };
  commands_["guard"] = [this](const auto&, auto& rest) {
    const std::string name = wordOf(rest);
    const std::string how = restOf(rest);
    for (const protection::DeletionPolicy& policy : guarded_)
      if (policy.meta.name == name) guard(policy, how);
    return "";
  };
  commands_["show"] = [this](const auto&, auto& rest) {
    const auto object = read(pathOf(wordOf(rest)));
    return object ? object->value("status", Json()).dump(2) + "\n" : std::string("gone\n");
  };
}

// Random dialogues: Databases, the DatabaseGrants in two namespaces that refer to them, two policies that
// come, change and go, and watches that are late. What must hold is told by what the API server has.
class HeldHistory : public HeldDialogue {
 public:
  explicit HeldHistory(uint32_t seed) : random_(seed) {
    play("watch lists Database", database("d0", "gold") + "---\n" + database("d1", "silver"));
    play("watch lists DatabaseGrant");
  }

  const std::string& faults() const { return faults_; }

  void step() {
    switch (pick(11)) {
      case 0:
        return changePolicy();
      case 1:
        return onDatabase("label ", pick(2) == 0 ? " tier=gold" : " tier=silver");
      case 2:
        return onDatabase("patch ", pick(2) == 0 ? R"( {"spec": {"deletionProtection": true}})"
                                                 : R"( {"spec": {"deletionProtection": false}})");
      case 3:
        return pick(3) == 0 ? onDatabase("DELETE ", "") : void();
      case 4:
        return onDatabase("annotate ", pick(2) == 0 ? " example.com/force=true" : " example.com/force");
      case 5:
      case 6:
        return changeGrant(kSpaces[pick(2)], "g" + std::to_string(pick(2)));
      case 7:
        return play("unseen");
      case 8:
        return play("watch tells");
      default:
        return playPass();
    }
  }

  // All is told, nothing blocks any more: what is being deleted goes, and the rest has the finalizer of the
  // policy that counts for it alone.
  void settle() {
    play("watch tells");
    rest();
    for (const std::string& name : there())
      if (!isTerminating(name)) expectItsFinalizerAlone(name);
    for (const std::string& name : there()) {
      play("patch Database/" + name + R"( {"spec": {"deletionProtection": false}})");
      play("annotate Database/" + name + " example.com/force");
    }
    for (const char* space : kSpaces)
      for (const char* grant : {"g0", "g1"}) removeGrant(space, grant);
    rest();
    for (const std::string& name : there()) {
      if (isTerminating(name)) fault(name + " stays");
      expectItsFinalizerAlone(name);
    }
  }

 private:
  struct Policy {
    std::string finalizer;
    std::string space;  // empty: all
    std::string tier;   // empty: all
  };
  static constexpr const char* kSpaces[] = {"default", "infra"};

  size_t pick(size_t of) { return random_() % of; }
  void fault(const std::string& what) { faults_ += what + "\n" + played_; }
  void play(const std::string& command, const std::string& text = {}) {
    played_ += command + "\n" + text;
    played_ += answer({command, text, {}, false, 0});
  }
  void rest() {
    for (int i = 0; i < 4; ++i) {
      play("wait 10");
      playPass();
    }
  }

  static std::string database(const std::string& name, const std::string& tier) {
    return "apiVersion: dbops.dbprovision.io/v1alpha1\nkind: Database\nmetadata: {name: " + name +
           ", labels: {tier: " + tier + "}}\nspec: {}\n";
  }
  std::optional<Json> stored(const std::string& name) { return read(pathOf("Database/" + name)); }
  bool isTerminating(const std::string& name) {
    return (*stored(name))["metadata"].contains("deletionTimestamp");
  }
  std::vector<std::string> there() {
    std::vector<std::string> names;
    for (const char* name : {"d0", "d1"})
      if (stored(name)) names.emplace_back(name);
    return names;
  }
  void onDatabase(const std::string& command, const std::string& change) {
    const std::vector<std::string> names = there();
    if (!names.empty()) play(command + "Database/" + names[pick(names.size())] + change);
  }
  void removeGrant(const std::string& space, const std::string& name) {
    const std::string grant = "DatabaseGrant/" + space + "/" + name;
    if (read(pathOf(grant))) play("DELETE " + grant);
  }
  void changeGrant(const std::string& space, const std::string& name) {
    removeGrant(space, name);
    if (pick(3) == 0) return;
    play("apply", "apiVersion: dbops.dbprovision.io/v1alpha1\nkind: DatabaseGrant\nmetadata: {name: " + name +
                      ", namespace: " + space + "}\nspec: {databaseRef: {name: d" + std::to_string(pick(2)) +
                      ", namespace: default}}\n");
  }
  bool hasGrants(const std::string& name) {
    for (const char* space : kSpaces)
      for (const char* grant : {"g0", "g1"})
        if (const auto found = read(pathOf(std::string("DatabaseGrant/") + space + "/" + grant)))
          if ((*found)["spec"]["databaseRef"]["name"] == name) return true;
    return false;
  }

  void changePolicy() {
    const std::string name = pick(2) == 0 ? "a" : "b";
    if (pick(4) == 0)
      known_.erase(name);
    else
      known_[name] = {"example.com/" + std::to_string(pick(3)), pick(3) == 0 ? kSpaces[pick(2)] : "",
                      pick(3) == 0 ? "gold" : ""};
    if (known_.empty()) return play("no policies");
    std::string text;
    for (const auto& [called, policy] : known_)
      text += "---\napiVersion: lastout.dev/v1alpha1\nkind: DeletionPolicy\nmetadata: {name: " + called +
              "}\nspec:\n  objects:\n  - resources: [{group: dbops.dbprovision.io, resource: databases}]\n" +
              (policy.space.empty() ? "" : "    namespaces: [" + policy.space + "]\n") +
              (policy.tier.empty() ? "" : "    labelSelector: {matchLabels: {tier: " + policy.tier + "}}\n") +
              "  when:\n  - {field: {path: spec.deletionProtection}}\n  - children: [{group: "
              "dbops.dbprovision.io, resource: databasegrants, field: spec.databaseRef.name, namespaceField: "
              "spec.databaseRef.namespace}]\n  enforcement: Hold\n  hold: {finalizer: " +
              policy.finalizer + ", force: {annotation: example.com/force}}\n";
    play("policies", text);
  }
  // The policy that counts for the Database; nullptr: none does.
  const Policy* countsFor(const Json& stored) const {
    for (const auto& [name, policy] : known_)
      if (policy.space != "infra" &&
          (policy.tier.empty() || stored["metadata"]["labels"]["tier"] == policy.tier))
        return &policy;
    return nullptr;
  }

  void playPass() {
    std::map<std::string, Json> before;
    for (const std::string& name : there()) before[name] = *stored(name);
    play("pass");
    for (const auto& [name, was] : before) {
      if (stored(name) || countsFor(was) == nullptr) continue;
      if (hasGrants(name)) fault(name + " went though DatabaseGrants refer to it");
      if (was["spec"].value("deletionProtection", false) &&
          !was["metadata"].value("annotations", Json::object()).contains("example.com/force"))
        fault(name + " went though it is protected");
    }
  }
  void expectItsFinalizerAlone(const std::string& name) {
    const Policy* const counts = countsFor(*stored(name));
    const Json wanted = counts == nullptr ? Json::array() : Json{counts->finalizer};
    if ((*stored(name))["metadata"].value("finalizers", Json::array()) != wanted)
      fault(name + " has other finalizers than " + wanted.dump() + ": " + stored(name)->dump());
  }

  std::mt19937 random_;
  std::map<std::string, Policy> known_;
  std::string played_;
  std::string faults_;
};

TEST(HeldHistories, LoseNothingThatIsHeldAndKeepNothingElse) {
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  for (uint32_t history = 0; history < 60; ++history) {
    HeldHistory world(seed + history);
    for (int step = 0; step < 60; ++step) world.step();
    world.settle();
    ASSERT_EQ(world.faults(), "") << "history " << history;
  }
}

class HeldDialogues : public ::testing::TestWithParam<std::string> {};

TEST_P(HeldDialogues, GoAsWritten) {
  HeldDialogue dialogue;
  testing::playDialogue(GetParam(), [&](const DialogueStep& step) { return dialogue.answer(step); });
}

INSTANTIATE_TEST_SUITE_P(Server, HeldDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "held-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
