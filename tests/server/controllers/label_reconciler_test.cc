// Labels that policies keep, as dialogues (dialogues/labels-*.txt): watches tell, passes are made, and what
// is patched and told follows. Beside the steps of a scripted cluster:
//
//   policies               those below, as YAML, are all that there are; none: they are deleted
//   watch lists            it tells of all that there is, as one of a type that was not followed before
//   restarts               another process with what the API server has
//   ends                   the controller ends in an orderly way: what was written, and how much was left
//   labels OBJECT          its labels
//   problem KIND           why objects of it could not be written last
#include "server/controllers/label_reconciler.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/support/manifests.h"
#include "tests/support/scripted_cluster.h"

namespace lastout::server {
namespace {

using testing::DialogueStep;
using testing::wordOf;

// What dies with a process.
struct LabelProcess {
  LabelProcess(const ObjectClient& client, LabelReconcilerOptions options, ControllerOptions controlling)
      : policies(objects, client, std::move(options)), controller(withThis(std::move(controlling))) {}

  ControllerOptions withThis(ControllerOptions controlling) {
    controlling.all = [this] { return objects.all(); };
    controlling.settle = [this](const kube::ObjectKey& key) { return policies.settle(key); };
    return controlling;
  }

  LabelledObjects objects;
  LabelReconciler policies;
  Controller controller;
};

class LabelDialogue : public testing::ScriptedCluster {
 public:
  LabelDialogue() : ScriptedCluster("scenarios/crds/orkestra.yaml", "security.orkestra.io") {
    restart();
    addSteps();
  }

 protected:
  void toldOf(const kube::Object& object) override { wake(process_->objects.upsert(object, now_)); }
  void toldOfGone(const kube::ObjectKey& key, const std::string& uid) override {
    process_->objects.remove(key, uid);
  }
  Controller& controller() override { return process_->controller; }
  void looksOn() override {
    process_->controller.forget();
    process_->objects.leaveCleanUp();
  }

 private:
  void addSteps();
  void restart();
  void wake(const LabelledObjects::Changed& changed) { process_->controller.wake(changed); }
  std::string policies(const std::string& text);
  std::string ended();
  LabelReconcilerOptions options();

  std::string policyText_;
  std::unique_ptr<LabelProcess> process_;
};

LabelReconcilerOptions LabelDialogue::options() {
  LabelReconcilerOptions options;
  options.findType = [this](const kube::GroupResource& type) { return find(type); };
  options.now = [this] { return now_; };
  options.mayAct = [this] { return leads_.load(); };
  options.tell = [this](const LabelledObject& object, const std::string& reason, const std::string& message) {
    tell("Warning " + reason + " " + object.kind + "/" + object.key.name + ": " + message);
  };
  options.count = [this](LabelOutcome outcome) { tell("counted: " + std::string(toString(outcome))); };
  options.log = [](Level, const std::string&) {};
  return options;
}

void LabelDialogue::restart() {
  process_ = std::make_unique<LabelProcess>(client_, options(), controllerOptions("labels"));
  policies(policyText_);
  tellOfAll();
}

std::string LabelDialogue::policies(const std::string& text) {
  policyText_ = text;
  std::vector<protection::DeletionPolicy> read;
  if (!text.empty()) {
    auto parsed = protection::parsePolicies(text, "");
    if (!parsed) return testing::lines(parsed.error());
    read = std::move(*parsed);
  }
  wake(process_->objects.setPolicies(read));
  std::string said;
  for (const std::string& conflict : process_->objects.conflicts()) said += conflict + "\n";
  return said;
}

std::string LabelDialogue::ended() {
  const size_t left = process_->policies.cleanUp(now_ + std::chrono::seconds(10));
  const std::string written = writes() + takeTold();
  tellChanges();
  return written + "left: " + std::to_string(left) + "\n";
}

void LabelDialogue::addSteps() {
  commands_["policies"] = [this](const auto& step, auto&) { return policies(step.text); };
  commands_["restarts"] = [this](const auto&, auto&) {
    restart();
    return "";
  };
  commands_["watch"] = [this, tells = commands_["watch"]](const auto& step, auto& rest) {
    if (wordOf(rest) != "lists") return tells(step, rest);
    tellOfAll();
    return std::string();
  };
  commands_["ends"] = [this](const auto&, auto&) { return ended(); };
  commands_["labels"] = [this](const auto&, auto& rest) {
    const auto object = read(pathOf(wordOf(rest)));
    if (!object) return std::string("gone\n");
    return (*object)["metadata"].value("labels", Json::object()).dump() + "\n";
  };
  commands_["problem"] = [this](const auto&, auto& rest) {
    const std::string problem = process_->policies.problemOf(typeOf(wordOf(rest)).type);
    return (problem.empty() ? "none" : problem) + "\n";
  };
}

class LabelDialogues : public ::testing::TestWithParam<std::string> {};

TEST_P(LabelDialogues, GoAsWritten) {
  LabelDialogue dialogue;
  testing::playDialogue(GetParam(), [&](const DialogueStep& step) { return dialogue.answer(step); });
}

INSTANTIATE_TEST_SUITE_P(Server, LabelDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "labels-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
