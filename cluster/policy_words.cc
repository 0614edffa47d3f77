// What policies ask, answered for words and plans: how many objects of a state, and which first; and the
// external step.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "cluster/policy_facts.h"
#include "protection/external_report.h"
#include "protection/keeper_name.h"

namespace lastout::cluster {

using protection::Activity;
using protection::AncestorState;
using protection::ChildrenTest;

namespace {

// The object with the report of an outside controller.
kube::Object withReport(const protection::HoldFacts& facts, const protection::ReportPlace& place,
                        const std::string& word, bool isDone) {
  const std::string step = protection::reportedStep(word, facts.meta->uid);
  const std::string result(isDone ? protection::kReportedDone : protection::kReportedFailed);
  kube::Object object;
  object.meta = *facts.meta;
  object.content = *facts.content;
  if (!place.annotation.empty()) {
    object.meta.annotations[place.annotation] = step + ": " + result;
    return object;
  }
  nlohmann::json content(kube::toJson(object.content));
  nlohmann::json condition{{"type", place.condition},
                           {"status", isDone ? "True" : "False"},
                           {"reason", result},
                           {"message", step}};
  nlohmann::json& status = content["status"];
  if (!status.is_object()) status = nlohmann::json::object();
  status["conditions"] = nlohmann::json::array({std::move(condition)});
  object.content = kube::fromJson(content);
  return object;
}

}  // namespace

protection::HoldPlan planWithExternal(const Model& model, const protection::DeletionPolicy& policy,
                                      protection::HoldFacts facts) {
  protection::HoldPlan plan = protection::planHold(policy, facts);
  if (!plan.awaitedWord) return plan;
  const ExternalOutcome outcome = model.policies.external;
  facts.awaited = policy.hold->retryAfter;  // a forced object has waited long enough
  if (outcome == ExternalOutcome::NotReported) return protection::planHold(policy, facts);
  const kube::Object object = withReport(facts, *policy.hold->external->reportedBy, *plan.awaitedWord,
                                         outcome == ExternalOutcome::Done);
  facts.meta = &object.meta;
  facts.content = &object.content;
  return protection::planHold(policy, facts);
}

void PolicyWords::note(Slot slot) const {
  if (slot != kNone && std::ranges::find(because_, slot) == because_.end()) because_.push_back(slot);
}

AncestorState PolicyWords::ancestor(const protection::AncestorTest& test,
                                    const protection::Request& request) const {
  for (const AncestorCase& one : model_.policies.facts->ancestor(model_, test, slot_, request.meta->labels)) {
    if (!holds(one.tests, state_)) continue;
    if (!one.tests.first.whenAbsent) note(one.tests.first.slot);
    return one.state;
  }
  return {};
}

std::vector<Slot> PolicyWords::slotsOf(const PolicyQuestion& question) const {
  std::vector<Slot> slots;
  for (const SlotTests& tests : question) {
    const Slot slot = tests.first.slot;
    if (slot != kNone && holds(tests, state_) && std::ranges::find(slots, slot) == slots.end())
      slots.push_back(slot);
  }
  std::ranges::sort(slots, [&](Slot a, Slot b) {
    const kube::ObjectKey& left = model_.slots[a].key;
    const kube::ObjectKey& right = model_.slots[b].key;
    return std::tie(left.namespaceName, left.name) < std::tie(right.namespaceName, right.name);
  });
  return slots;
}

protection::Count PolicyWords::countOf(const PolicyQuestion& question) const {
  const std::vector<Slot> slots = slotsOf(question);
  if (slots.empty()) return {};
  for (const Slot slot : slots) note(slot);
  const kube::ObjectKey& first = model_.slots[slots.front()].key;
  return {static_cast<uint32_t>(slots.size()),
          protection::keeperName(model_.policies.facts->kindOf(slots.front()), first.namespaceName,
                                 first.name, model_.slots[slot_].key),
          std::nullopt};
}

protection::Count PolicyWords::children(const ChildrenTest& test,
                                        const protection::Request& /*request*/) const {
  return countOf(model_.policies.facts->children(model_, test, slot_));
}

protection::Count PolicyWords::active(Activity activity, const protection::Request& /*request*/) const {
  const PolicyQuestion question = model_.policies.facts->active(model_, activity, slot_);
  if (question.size() == 1 && question.front().isAlways())
    return {0,
            {},
            activity == Activity::Instances ? "only a CustomResourceDefinition has them"
                                            : "only a Namespace has them"};
  return countOf(question);
}

protection::Listers PolicyWords::listers(const protection::ListedBy& listedBy,
                                         const protection::Request& request) const {
  const PolicyFacts& facts = *model_.policies.facts;
  const std::vector<Slot> slots = slotsOf(facts.lister(model_, listedBy, request));
  if (slots.empty()) return {};
  note(slots.front());
  protection::Listers listers =
      facts.listersIn(slots.front(), state_.object(slots.front()).form, listedBy, request);
  listers.count = static_cast<uint32_t>(std::min<size_t>(slots.size(), protection::kMostCountedListers));
  return listers;
}

}  // namespace lastout::cluster
