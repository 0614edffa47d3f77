// Deletions that annotations ask for of what other objects list, as dialogues (dialogues/replays-*.txt):
// watches tell, passes are made, and what is deleted and told follows. It is 2026-11-26T12:00:00Z at first.
// Beside the steps of a scripted cluster:
//
//   policies FILE           of that file, and no others
//   usages                  are known from now on, those that there are
//   annotations count, annotations fail, annotations unknown    as the admission policy was found last
//   confirm fails, confirm denies, confirm answers              when it is looked at once more
//   guard OBJECT            a CriticalService does from now on, or does no longer
#include "server/controllers/replayed_deletions.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "kube/parse.h"
#include "protection/fact_index.h"
#include "tests/support/manifests.h"
#include "tests/support/scripted_cluster.h"
#include "tests/support/stop.h"

namespace lastout::server {
namespace {

using testing::DialogueStep;
using testing::wordOf;

constexpr std::chrono::sys_seconds kReplaysBegin{std::chrono::sys_days{std::chrono::year{2026} / 11 / 26} +
                                                 std::chrono::hours(12)};

class ReplayDialogue : public testing::ScriptedCluster {
 public:
  ReplayDialogue() : ScriptedCluster("scenarios/crds/usage.yaml", "protection.crossplane.io") { addSteps(); }

 protected:
  void toldOf(const kube::Object& object) override;
  void toldOfGone(const kube::ObjectKey& key, const std::string& uid) override;
  Controller& controller() override { return controller_; }

 private:
  void addSteps();
  ReplayedDeletionsOptions options();
  ControllerOptions controllerOptions();
  bool isListed(const kube::Object& object) const;
  void usePolicies(const std::string& file);
  std::optional<uint64_t> generationOf(const kube::GroupResource& type) const;

  std::vector<protection::DeletionPolicy> policyList_;
  protection::FactIndex index_{
      protection::kindsAmong([this]() -> const kube::ResourceMap& { return types_; })};
  std::optional<bool> count_ = true;
  tl::expected<bool, std::string> confirmed_ = true;
  std::set<kube::ObjectKey> guarded_;
  const TimePoint begin_ = now_;
  ReplayedDeletions deletions_{client_, options()};
  Controller controller_{controllerOptions()};
};

ReplayedDeletionsOptions ReplayDialogue::options() {
  ReplayedDeletionsOptions options;
  options.findType = [this](const kube::GroupResource& type) { return find(type); };
  options.clock = [this] { return kReplaysBegin + std::chrono::floor<std::chrono::seconds>(now_ - begin_); };
  options.mayAct = [this] { return leads_.load(); };
  options.annotationsCount = [this] { return count_; };
  options.confirmAnnotationsCount = [this] { return confirmed_; };
  options.isGuarded = [this](const kube::ObjectKey& object) { return guarded_.contains(object); };
  options.isListed = [this](const kube::Object& object) { return isListed(object); };
  options.told = [this](const kube::Object&, const DeferredDeletionEvent& news) {
    const Event event = eventOf(news);
    tell((event.warning ? "Warning " : "Normal ") + event.reason + " " + event.message);
  };
  return options;
}

ControllerOptions ReplayDialogue::controllerOptions() {
  ControllerOptions options = ScriptedCluster::controllerOptions("deletions by annotation");
  options.all = [this] { return deletions_.all(); };
  options.settle = [this](const kube::ObjectKey& key) { return deletions_.settle(key); };
  return options;
}

bool ReplayDialogue::isListed(const kube::Object& object) const {
  std::vector<const protection::DeletionPolicy*> policies;
  for (const protection::DeletionPolicy& policy : policyList_) policies.push_back(&policy);
  protection::Request request;
  request.object = object.key;
  request.kind = object.kind;
  request.meta = &object.meta;
  request.content = &object.content;
  return protection::isListed(policies, request, index_);
}

std::optional<uint64_t> ReplayDialogue::generationOf(const kube::GroupResource& type) const {
  for (const protection::WantedType& wanted : index_.wanted())
    if (wanted.type == type) return wanted.generation;
  return std::nullopt;
}

void ReplayDialogue::usePolicies(const std::string& file) {
  auto read = protection::parsePolicies(*kube::readFile(file), file);
  if (!read) testing::stop(testing::lines(read.error()));
  policyList_ = std::move(*read);
  index_.setPolicies(policyList_);
  controller_.wake(deletions_.waiting());
}

void ReplayDialogue::toldOf(const kube::Object& object) {
  if (const auto generation = generationOf(object.key.type)) {
    index_.upsert(object, *generation);
    controller_.wake(deletions_.waiting());
  } else if (deletions_.upsert(object)) {
    controller_.wake({object.key});
  }
}

void ReplayDialogue::toldOfGone(const kube::ObjectKey& key, const std::string& uid) {
  if (const auto generation = generationOf(key.type)) {
    index_.remove(key, uid, *generation);
    controller_.wake(deletions_.waiting());
  } else {
    deletions_.remove(key, uid);
  }
}

void ReplayDialogue::addSteps() {
  const auto addStep = [this](const char* name, std::function<void(std::istringstream&)> does) {
    add(name, [does = std::move(does)](const DialogueStep&, std::istringstream& rest) { does(rest); });
  };
  addStep("policies", [this](auto& rest) { usePolicies(wordOf(rest)); });
  addStep("usages", [this](auto&) {
    for (const protection::WantedType& wanted : index_.wanted())
      index_.know({wanted.cluster, wanted.type}, "", wanted.generation);
    controller_.wake(deletions_.waiting());
  });
  addStep("annotations", [this](auto& rest) {
    const std::string word = wordOf(rest);
    count_ = word == "unknown" ? std::nullopt : std::optional(word == "count");
  });
  addStep("confirm", [this](auto& rest) {
    const std::string word = wordOf(rest);
    confirmed_ = word == "answers";
    if (word == "fails") confirmed_ = tl::unexpected(std::string("the API server does not answer"));
  });
  addStep("guard", [this](auto& rest) {
    const kube::ObjectKey key = keyOf(wordOf(rest));
    if (!guarded_.insert(key).second) guarded_.erase(key);
  });
}

class ReplayDialogues : public ::testing::TestWithParam<std::string> {};

TEST_P(ReplayDialogues, GoAsWritten) {
  ReplayDialogue dialogue;
  testing::playDialogue(GetParam(), [&](const DialogueStep& step) { return dialogue.answer(step); });
}

INSTANTIATE_TEST_SUITE_P(Server, ReplayDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "replays-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
