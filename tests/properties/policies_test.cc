// Policies in the machine, compiled into questions about slots, and what their rules and plans say of the
// same objects: in every state that random actions lead to, the machine denies what protection::judge()
// denies over an index, in the same words, and lastout's own actions are those of planHold() and
// planLabels().
#include "cluster/policies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cluster/build.h"
#include "kube/parse.h"
#include "kube/well_known.h"
#include "protection/fact_index.h"
#include "protection/hold_plan.h"
#include "protection/hold_status.h"
#include "protection/kept_facts.h"
#include "protection/label_plan.h"
#include "protection/protected_objects.h"
#include "tests/properties/random_policies.h"
#include "tests/properties/runs.h"
#include "tests/support/manifests.h"
#include "tests/support/seed.h"
#include "tests/support/stop.h"

namespace lastout::cluster {
namespace {

using protection::DeletionPolicy;

// What an API server would hold in this state; `manifests`: by slot, with a content for each that has one.
std::vector<kube::Object> objectsIn(const Model& model, const StateRef& state,
                                    const std::vector<kube::Object>& manifests) {
  std::vector<kube::Object> objects;
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const ObjectState now = state.object(slot);
    if (!now.present()) continue;
    const SlotInfo& info = model.slots[slot];
    kube::Object object = manifests[slot];
    if (!object.content.isNull() || now.form > 0) {
      object.meta.labels = info.forms[now.form].labels;
      object.meta.annotations = info.forms[now.form].annotations;
    }
    if (info.forms[now.form].content != nullptr) object.content = *info.forms[now.form].content;
    object.meta.finalizers.clear();
    for (size_t bit = 0; bit < info.finalizers.size(); ++bit)
      if ((now.finalizers >> bit & 1) != 0) object.meta.finalizers.push_back(info.finalizers[bit]);
    object.meta.uid = "uid-" + std::to_string(slot);
    if (now.terminating()) object.meta.deletionTimestamp = 7;
    object.meta.ownerReferences.clear();
    for (size_t i = 0; i < info.owners.size(); ++i) {
      if (now.owner(i) == OwnerState::None) continue;
      kube::OwnerReference reference;
      reference.uid =
          now.owner(i) == OwnerState::Current ? "uid-" + std::to_string(info.owners[i].owner) : "gone";
      object.meta.ownerReferences.push_back(std::move(reference));
    }
    if (info.kind == SlotKind::Deployment || info.kind == SlotKind::ReplicaSet) {
      std::string yaml =
          "apiVersion: apps/v1\nkind: X\nspec: {replicas: " + std::to_string(now.value) + "}\n";
      object.content = kube::parseYaml(yaml, "")->front();
    }
    objects.push_back(std::move(object));
  }
  return objects;
}

// By slot. What Kubernetes derives gets the labels of the Deployment's template.
std::vector<kube::Object> manifestsBySlot(const Model& model, const std::vector<kube::Object>& given,
                                          const kube::ResourceMap& types) {
  std::vector<kube::Object> manifests(model.slots.size());
  for (const kube::Object& object : given) manifests[*model.find(object.key)] = object;
  for (Slot slot = 0; slot < manifests.size(); ++slot) {
    kube::Object& object = manifests[slot];
    object.key = model.slots[slot].key;
    object.kind = types.find(object.key.type)->kind;
    if (object.content.isNull()) object.meta.labels = {{"app", "a"}, {"keep", "yes"}};
  }
  return manifests;
}

std::multiset<std::string> messagesOf(const std::vector<protection::Denial>& denials) {
  std::multiset<std::string> messages;
  for (const protection::Denial& denial : denials) messages.insert(denial.policy + ": " + denial.message);
  return messages;
}

// What a policy that holds the object says of it.
struct Held {
  bool goes = false;                // its finalizer is taken off
  bool isDeleted = false;           // by lastout
  std::set<kube::ObjectKey> taken;  // children that lastout deletes
  bool isConfirmationNews = false;  // the status says something else of a confirmation
};

std::vector<protection::HeldChild> childrenOf(const DeletionPolicy& policy, const kube::Object& object,
                                              const std::vector<kube::Object>& objects) {
  std::vector<protection::HeldChild> children;
  const protection::Request request = protection::deletionOf(object);
  for (const protection::Case& one : policy.when)
    for (const protection::ChildrenTest& test : one.children)
      for (const kube::Object& other : objects)
        if (other.key.type == test.type && protection::childrenAmong({other}, test, request).objects > 0)
          children.push_back(
              {other.key, other.kind, other.meta.uid, other.meta.deletionTimestamp.has_value(), ""});
  return children;
}

// A confirmation that was given, and for which children.
std::vector<std::string> givenFor(const protection::Hold& hold, const kube::Value& content) {
  const auto confirmation = protection::confirmationIn(hold, content);
  return confirmation && !confirmation->required ? confirmation->children : std::vector<std::string>();
}

// The object once an outside controller has reported that of its external step.
kube::Object reportedOn(kube::Object object, const DeletionPolicy& policy, const std::string& word,
                        const std::string& result) {
  const protection::ReportPlace& place = *policy.hold->external->reportedBy;
  const std::string step = word + "/" + object.meta.uid;
  if (place.condition.empty()) {
    object.meta.annotations[place.annotation] = step + ": " + result;
    return object;
  }
  nlohmann::json content(kube::toJson(object.content));
  content["status"]["conditions"] = {{{"type", place.condition},
                                      {"status", result == "Done" ? "True" : "False"},
                                      {"reason", result},
                                      {"message", step}}};
  object.content = kube::fromJson(content);
  return object;
}

Held heldBy(const DeletionPolicy& policy, const kube::Object& object,
            const std::vector<kube::Object>& objects, ExternalOutcome outcome) {
  Held held;
  const bool terminates = object.meta.deletionTimestamp.has_value();
  if (!kube::hasFinalizer(object.meta, policy.hold->finalizer)) return held;
  if (!protection::concerns(policy, object.key, object.meta.labels)) {
    held.goes = terminates;
    return held;
  }
  protection::HoldFacts facts;
  facts.key = object.key;
  facts.kind = object.kind;
  facts.meta = &object.meta;
  facts.content = &object.content;
  facts.protectedBy = protection::protectionOf(policy, protection::deletionOf(object));
  facts.children = childrenOf(policy, object, objects);
  protection::HoldPlan plan = protection::planHold(policy, facts);
  if (plan.awaitedWord) {
    const kube::Object reported = outcome == ExternalOutcome::NotReported
                                      ? object
                                      : reportedOn(object, policy, *plan.awaitedWord,
                                                   outcome == ExternalOutcome::Done ? "Done" : "Failed");
    facts.meta = &reported.meta;
    facts.content = &reported.content;
    facts.awaited = std::chrono::hours(1);
    plan = protection::planHold(policy, facts);
  }
  held.goes = terminates && plan.removeFinalizer;
  nlohmann::json after = kube::toJson(object.content);
  if (!plan.statusPatch.is_null()) after.merge_patch(plan.statusPatch);
  const std::vector<std::string> before = givenFor(*policy.hold, object.content);
  const std::vector<std::string> given = givenFor(*policy.hold, kube::fromJson(after));
  const bool isCascade = !given.empty() && !facts.children.empty();
  // With the last child goes the object: what its status says then makes no difference.
  held.isConfirmationNews = given != before && !plan.removeFinalizer;
  // The status comes first, then the object, then its children.
  held.isDeleted = plan.deleteItself && (!isCascade || given == before);
  if (isCascade && terminates && given == before)
    for (const protection::HeldChild& child : plan.deleteChildren) held.taken.insert(child.key);
  return held;
}

class Walk {
 public:
  explicit Walk(uint64_t seed) : random_(seed), outcome_(static_cast<ExternalOutcome>(seed % 3)) {
    given_ = testing::objects(random_.manifests(), random_.types());
    model_ = random_.model(given_);
    for (GivenPolicy& policy : random_.policies()) policies_.push_back(std::move(policy));
    std::vector<const kube::Object*> sources;
    for (const kube::Object& object : given_) sources.push_back(&object);
    const auto added = addPolicies(model_, policies_, sources, random_.types(), outcome_);
    if (!added) testing::stop(added.error().message);
    manifests_ = manifestsBySlot(model_, given_, random_.types());
  }

  // Counts what was compared.
  void run(std::map<std::string, size_t>& counts) {
    const Machine machine(model_);
    std::vector<uint64_t> words = machine.initial();
    const StateRef state(words.data(), machine.layout());
    compare(state, counts);
    for (int i = 0; i < 60 && !::testing::Test::HasFailure(); ++i) {
      std::vector<Action> actions;
      machine.enabled(state, actions);
      if (actions.empty()) break;
      machine.apply(state, random_.dice().pick(actions), nullptr);
      compare(state, counts);
    }
  }

 private:
  void compare(const StateRef& state, std::map<std::string, size_t>& counts) {
    std::vector<DeletionPolicy> policies;
    for (const GivenPolicy& given : policies_) policies.push_back(given.policy);
    kube::ResourceMap types = random_.types();
    for (const kube::Object& object : given_) {
      if (object.key.type == kube::kCustomResourceDefinitions &&
          state.presence(*model_.find(object.key)) == Presence::Absent)
        types.remove(kube::definedBy(object.key.name));
    }
    const std::vector<kube::Object> objects = objectsIn(model_, state, manifests_);
    compareHeld(state, policies, objects, counts);
    compareUpdates(state, policies, objects, types, counts);
    protection::Denials expected = protection::denialsOf(policies, objects, types);
    for (auto& [key, denials] : expected)
      std::erase_if(denials, [](const protection::Denial& one) { return one.isHeld; });
    std::erase_if(expected, [](const auto& one) { return one.second.empty(); });
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      if (state.presence(slot) == Presence::Absent) continue;
      const auto found = expected.find(model_.slots[slot].key);
      const bool isDenied = found != expected.end();
      EXPECT_EQ(isDeniedByPolicy(model_, state, {.slot = slot}), isDenied) << model_.name(slot);
      std::vector<protection::Denial> told;
      for (PolicyDenial& one : policyDenials(model_, state, {.slot = slot})) told.push_back(one.denial);
      EXPECT_EQ(messagesOf(told), isDenied ? messagesOf(found->second) : std::multiset<std::string>());
      counts["denied"] += isDenied ? 1 : 0;
    }
  }

  void compareHeld(const StateRef& state, const std::vector<DeletionPolicy>& policies,
                   const std::vector<kube::Object>& objects, std::map<std::string, size_t>& counts) const {
    std::set<kube::ObjectKey> deleted;
    for (const kube::Object& object : objects) {
      const Slot slot = *model_.find(object.key);
      std::set<std::string> released;
      bool isConfirmationNews = false;
      for (const DeletionPolicy& policy : policies) {
        if (!policy.hold) continue;
        const Held held = heldBy(policy, object, objects, outcome_);
        if (held.goes) released.insert(policy.hold->finalizer);
        if (held.isDeleted) deleted.insert(object.key);
        deleted.insert(held.taken.begin(), held.taken.end());
        isConfirmationNews = isConfirmationNews || held.isConfirmationNews;
        counts["goes"] += held.goes ? 1 : 0;
        counts["forced"] += held.isDeleted ? 1 : 0;
        counts["taken along"] += held.taken.size();
        counts["confirmation"] += held.isConfirmationNews ? 1 : 0;
      }
      std::set<std::string> letGo;
      const uint16_t bits = policyBitsToLetGo(model_, state, slot);
      for (size_t bit = 0; object.meta.deletionTimestamp && bit < model_.slots[slot].finalizers.size(); ++bit)
        if ((bits >> bit & 1) != 0) letGo.insert(model_.slots[slot].finalizers[bit]);
      EXPECT_EQ(letGo, released) << model_.name(slot);
      EXPECT_EQ(confirmationChange(model_, state, slot).has_value(), isConfirmationNews) << model_.name(slot);
    }
    for (const kube::Object& object : objects) {
      const Slot slot = *model_.find(object.key);
      EXPECT_EQ(isDeletedByPolicy(model_, state, slot), deleted.contains(object.key)) << model_.name(slot);
    }
  }

  void compareUpdates(const StateRef& state, const std::vector<DeletionPolicy>& policies,
                      const std::vector<kube::Object>& objects, const kube::ResourceMap& types,
                      std::map<std::string, size_t>& counts) const {
    protection::FactIndex index(protection::kindsAmong([&]() -> const kube::ResourceMap& { return types; }));
    index.setPolicies(policies);
    for (const protection::WantedType& wanted : index.wanted()) {
      for (const kube::Object& object : objects)
        if (object.key.type == wanted.type) index.upsert(object, wanted.generation);
      index.know(wanted.type, "", wanted.generation);
    }
    for (const kube::Object& object : objects) {
      const Slot slot = *model_.find(object.key);
      const auto isDenied = [&](uint8_t form) {
        kube::ObjectMeta after = object.meta;
        after.labels = model_.slots[slot].forms[form].labels;
        after.annotations = model_.slots[slot].forms[form].annotations;
        protection::Request request = protection::deletionOf(object);
        request.operation = protection::PolicyOperation::Update;
        request.newMeta = &after;
        return std::ranges::any_of(policies, [&](const DeletionPolicy& policy) {
          return protection::judge(policy, request, index).has_value();
        });
      };
      for (const uint32_t number : model_.slots[slot].steps) {
        if (model_.steps[number].verb != ClientStep::Verb::SetForm) continue;
        const bool expected = isDenied(model_.steps[number].forms[state.object(slot).form]);
        EXPECT_EQ(isUpdateDeniedByPolicy(model_, state, number), expected) << model_.name(slot);
        counts["update denied"] += expected ? 1 : 0;
      }
      compareLabels(state, policies, object, isDenied, counts);
    }
  }

  template <class IsDenied>
  void compareLabels(const StateRef& state, const std::vector<DeletionPolicy>& policies,
                     const kube::Object& object, IsDenied isDenied,
                     std::map<std::string, size_t>& counts) const {
    const Slot slot = *model_.find(object.key);
    std::vector<protection::UpkeepOfObject> upkeeps;  // the policies have the order of their names
    for (const DeletionPolicy& policy : policies)
      if (policy.labels && protection::concerns(policy, object.key, object.meta.labels))
        upkeeps.push_back({policy.meta.name, *policy.labels});
    const protection::LabelPatch patch = protection::planLabels(upkeeps, object.meta.labels).patch;
    const auto write = labelWriteOf(model_, state, slot);
    ASSERT_EQ(write.has_value(), !patch.empty() && !object.meta.deletionTimestamp) << model_.name(slot);
    if (!write) return;
    kube::Labels labels = object.meta.labels;
    for (const auto& [key, value] : patch) {
      labels.erase(key);
      if (value) labels[key] = *value;
    }
    EXPECT_EQ(model_.slots[slot].forms[write->form].labels, labels) << model_.name(slot);
    EXPECT_EQ(write->isDenied, isDenied(write->form)) << model_.name(slot);
    ++counts[write->isDenied ? "labels denied" : "labels written"];
  }

  testing::RandomPolicies random_;
  const ExternalOutcome outcome_;
  std::vector<kube::Object> given_;
  Model model_;
  std::vector<GivenPolicy> policies_;
  std::vector<kube::Object> manifests_;  // by slot
};

TEST(PoliciesInTheMachine, SayAndDoWhatTheirRulesAndPlansSayOfTheSameObjects) {
  const uint64_t seed = testing::seed();
  std::map<std::string, size_t> counts;
  constexpr uint32_t kAll = 60;
  const uint32_t runs = testing::runsHere(kAll);
  for (uint64_t i = 0; i < runs && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed + i));
    Walk(seed + i).run(counts);
  }
  if (runs < kAll) return;  // too few to have drawn all of it
  EXPECT_GT(counts["denied"], 500u) << "what is compared are denials, too";
  for (const char* what :
       {"goes", "forced", "taken along", "confirmation", "update denied", "labels written", "labels denied"})
    EXPECT_GT(counts[what], 10u) << what;
}

}  // namespace
}  // namespace lastout::cluster
