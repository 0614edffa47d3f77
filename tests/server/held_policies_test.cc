// Held objects as dialogues (dialogues/held-*.txt): watches tell, passes are made, and what is patched, told
// and let go follows. Beside the steps of a scripted cluster:
//
//   policies FILE          the policies of that file, or without it those below, as YAML
//   no policies            they are taken back
//   watch lists KIND       all objects of the kind are known: those below, as YAML
//   database succeeds|fails|is unreachable
//   show OBJECT            its status
#include "server/held_policies.h"

#include <gtest/gtest.h>

#include <string>

#include "kube/parse.h"
#include "tests/server/scripted_cluster.h"
#include "tests/support/manifests.h"
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
  std::string alsoDone() override;

 private:
  void addSteps();
  std::string policies(const std::string& file, const std::string& below);
  HeldPoliciesOptions options();
  ControllerOptions heldOptions();

  HeldObjects objects_;
  protection::SimulatedDatabase database_;
  size_t databaseTold_ = 0;
  HeldPolicies policies_{objects_, client_, database_, options()};
  Controller controller_{heldOptions()};
};

HeldPoliciesOptions HeldDialogue::options() {
  HeldPoliciesOptions options;
  options.findType = [this](const kube::GroupResource& type) { return find(type); };
  options.clock = [this] {
    return kBeginning +
           std::chrono::floor<std::chrono::seconds>(now_ - TimePoint(std::chrono::hours(1))).count();
  };
  options.mayAct = [this] { return leads_; };
  options.tell = [this](const kube::Object& object, const protection::HoldEvent& event) {
    told_ += std::string(event.isWarning ? "Warning " : "Normal ") + event.reason + " " + object.kind + "/" +
             object.key.name + ": " + event.message + "\n";
  };
  options.count = [](HeldOutcome) {};
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
  return "";
}

std::string HeldDialogue::alsoDone() {
  std::string said;
  for (; databaseTold_ < database_.done().size(); ++databaseTold_)
    said += "database: " + database_.done()[databaseTold_] + "\n";
  return said;
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
    controller_.wake(objects_.know(typeOf(wordOf(rest)).type, ""));
    return std::string();
  };
  commands_["database"] = [this](const auto&, auto& rest) {
    using Mode = protection::SimulatedDatabase::Mode;
    const std::string how = restOf(rest);
    database_.become(how == "succeeds" ? Mode::Succeeds : how == "fails" ? Mode::Fails : Mode::Unreachable);
    return "";
  };
  commands_["show"] = [this](const auto&, auto& rest) {
    const Json* object = api_.find(pathOf(wordOf(rest)));
    return object == nullptr ? std::string("gone\n") : object->value("status", Json()).dump(2) + "\n";
  };
}

class HeldDialogues : public ::testing::TestWithParam<std::string> {};

TEST_P(HeldDialogues, GoAsWritten) {
  HeldDialogue dialogue;
  testing::playDialogue(GetParam(), [&](const DialogueStep& step) { return dialogue.answer(step); });
}

INSTANTIATE_TEST_SUITE_P(Server, HeldDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/dialogues", "held-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
