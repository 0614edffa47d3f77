#include "protection/evaluate.h"

#include <algorithm>
#include <utility>

#include "kube/messages.h"
#include "kube/well_known.h"
#include "protection/message.h"

namespace lastout::protection {
namespace {

// Whether a case holds, and in which words.
struct CaseOutcome {
  bool holds = false;
  bool isUncertain = false;
  std::string reason;

  // Both hold: the words of both.
  void join(CaseOutcome other) {
    holds = holds && other.holds;
    isUncertain = isUncertain || other.isUncertain;
    if (!other.reason.empty()) reason += (reason.empty() ? "" : " and ") + std::move(other.reason);
  }
};

CaseOutcome ofAncestor(const AncestorState& state) {
  using Kind = AncestorState::Kind;
  switch (state.kind) {
    case Kind::Protects:
      return {true, false, "it belongs to " + state.detail + ", which is protected"};
    case Kind::Incomplete:
      return {true, true,
              "its label " + state.detail + " is missing or empty, so nobody can say what it belongs to"};
    case Kind::Unknown:
      return {true, true, "what it belongs to cannot be found out: " + state.detail};
    case Kind::Frees:
    case Kind::Gone:
    case Kind::NotManaged:
      return {};
  }
  return {};
}

// What is counted, in words.
struct Counted {
  std::string one;
  std::string several;
};

CaseOutcome ofCount(const Count& count, const Counted& what) {
  if (count.unknown) return {true, true, what.several + " cannot be counted: " + *count.unknown};
  if (count.objects == 0) return {};
  std::string reason = std::to_string(count.objects) + " " + (count.objects == 1 ? what.one : what.several);
  if (!count.first.empty()) reason += " (" + count.first + (count.objects > 1 ? ", …)" : ")");
  return {true, false, std::move(reason)};
}

CaseOutcome ofListers(const Listers& listers) {
  if (listers.unknown) return {true, true, "whether it is listed cannot be found out: " + *listers.unknown};
  return {true, false, listers.first + " lists it"};
}

Counted wordsOf(Activity activity) {
  switch (activity) {
    case Activity::Pods:
      return {"active Pod in it", "active Pods in it"};
    case Activity::BoundClaims:
      return {"bound PersistentVolumeClaim in it", "bound PersistentVolumeClaims in it"};
    case Activity::Instances:
      return {"instance of it", "instances of it"};
    case Activity::Replicas:
      break;
  }
  return {};
}

Counted wordsOf(const ChildrenTest& test) {
  const std::string type = toString(test.type);
  return {"object of " + type + " that refers to it", type + " that refer to it"};
}

// The object itself tells: absent counts as 1, as the API server fills it in.
CaseOutcome ofReplicas(const kube::Value& object) {
  const kube::Value* replicas = object.at({"spec", "replicas"});
  if (replicas != nullptr && !replicas->isNull()) {
    const int64_t* number = replicas->asInteger();
    if (number == nullptr || *number <= 0) return {};
  }
  return {true, false, std::string(kReplicasReason)};
}

// What the object itself says.
CaseOutcome ofObject(const Case& one, const Request& request) {
  CaseOutcome all{true, false, {}};
  if (one.key) {
    const std::string* value = one.key->valueIn(*request.meta);
    all.join({one.key->holds(*request.meta), false, value == nullptr ? "" : reasonOfKey(*one.key, *value)});
  }
  if (one.field) all.join({one.field->holds(*request.content), false, reasonOfField(*one.field)});
  if (one.activity == Activity::Replicas) all.join(ofReplicas(*request.content));
  return all;
}

CaseOutcome outcomeOf(const Case& one, const Request& request, const Facts& facts) {
  CaseOutcome all = ofObject(one, request);
  if (!all.holds) return {};
  if (one.ancestor) all.join(ofAncestor(facts.ancestor(*one.ancestor, request)));
  if (all.holds && one.activity && *one.activity != Activity::Replicas)
    all.join(ofCount(facts.active(*one.activity, request), wordsOf(*one.activity)));
  if (all.holds && !one.children.empty()) {
    CaseOutcome any;
    for (const ChildrenTest& test : one.children) {
      any = ofCount(facts.children(test, request), wordsOf(test));
      if (any.holds) break;
    }
    all.join(std::move(any));
  }
  return all.holds ? all : CaseOutcome{};
}

bool anyHolds(const std::vector<KeyTest>& tests, const kube::ObjectMeta& meta) {
  return std::any_of(tests.begin(), tests.end(), [&](const KeyTest& test) { return test.holds(meta); });
}

bool matchesAny(const std::vector<Selection>& selections, const kube::ObjectKey& object,
                const kube::Labels& labels) {
  return std::any_of(selections.begin(), selections.end(),
                     [&](const Selection& selection) { return selection.matches(object, labels); });
}

// An update keeps what protects the object: the value of the key, and what the policy selects by.
bool keepsProtection(const DeletionPolicy& policy, const Case* one, const Request& request) {
  if (!concerns(policy, request.object, request.newMeta->labels)) return false;
  if (one == nullptr || !one->key) return true;
  const std::string* before = one->key->valueIn(*request.meta);
  const std::string* after = one->key->valueIn(*request.newMeta);
  return before == nullptr || (after != nullptr && *before == *after);
}

// The block of the policy that the request meets, if the object is protected; nullopt: none.
std::optional<Block> blockOf(const DeletionPolicy& policy, const Request& request) {
  if (request.operation == PolicyOperation::Update)
    return policy.blocksAny(Block::Unprotect) ? std::optional(Block::Unprotect) : std::nullopt;
  if (policy.blocksAny(Block::Delete)) return Block::Delete;
  if (request.orphans && policy.blocksAny(Block::Orphan)) return Block::Orphan;
  return std::nullopt;
}

// The DELETE of an object is accepted that the policy's finalizer keeps, that terminates already, or that
// somebody forces. An object that another operator deletes by itself cannot be held; one without the
// finalizer would be gone at once.
bool isHeldInstead(const DeletionPolicy& policy, const kube::ObjectMeta& meta) {
  if (!policy.hold) return false;
  const Hold& hold = *policy.hold;
  if (hold.force && hold.force->key.holds(meta)) return true;
  if (isOfAnotherOperator(hold, meta)) return false;
  return meta.deletionTimestamp || kube::hasFinalizer(meta, hold.finalizer);
}

// The objects that refer to a held one.
CaseOutcome ofChildren(const DeletionPolicy& policy, const Request& request, const Facts& facts) {
  for (const Case& one : policy.when) {
    if (one.children.empty()) continue;
    CaseOutcome why = outcomeOf(one, request, facts);
    if (why.holds) return why;
  }
  return {};
}

bool isIn(CaseScope part, bool isLocal) {
  return part == CaseScope::All || (part == CaseScope::Local) == isLocal;
}

}  // namespace

Request deletionOf(const kube::Object& object) {
  Request request;
  request.object = object.key;
  request.kind = object.kind;
  request.meta = &object.meta;
  request.content = &object.content;
  return request;
}

std::string fieldOf(const Denial& denial) {
  return denial.policy.empty() ? "" : toString(deletionPolicyType()) + "/" + denial.policy;
}

bool isWayOut(const kube::GroupResource& type) {
  if (type == deletionPolicyType()) return true;
  return type == kube::kValidatingAdmissionPolicies || type == kube::kValidatingAdmissionPolicyBindings;
}

bool concerns(const DeletionPolicy& policy, const kube::ObjectKey& object, const kube::Labels& labels) {
  if (isWayOut(object.type)) return false;
  if (matchesAny(policy.exceptObjects, object, labels)) return false;
  return policy.listedBy.has_value() || matchesAny(policy.objects, object, labels);
}

bool isExempt(const DeletionPolicy& policy, const Request& request) {
  const auto has = [](const std::vector<std::string>& list, std::string_view one) {
    return std::find(list.begin(), list.end(), one) != list.end();
  };
  return has(policy.exemptUsers, request.user) ||
         std::any_of(request.groups.begin(), request.groups.end(),
                     [&](const std::string& group) { return has(policy.exemptGroups, group); });
}

std::optional<Denial> judge(const DeletionPolicy& policy, const Request& request, const Facts& facts,
                            CaseScope part) {
  const std::optional<Block> block = blockOf(policy, request);
  if (!block || !concerns(policy, request.object, request.meta->labels)) return std::nullopt;
  if (policy.skipTerminating && request.meta->deletionTimestamp) return std::nullopt;
  if (isExempt(policy, request) || isHeldInstead(policy, *request.meta)) return std::nullopt;
  const bool isUpdate = *block == Block::Unprotect;
  if (isUpdate ? anyHolds(policy.exemptions, *request.newMeta) : anyHolds(policy.overrides, *request.meta))
    return std::nullopt;

  CaseOutcome listed{true, false, {}};
  Listers listers;
  if (policy.listedBy) {
    if (part == CaseScope::Local) return std::nullopt;
    listers = facts.listers(*policy.listedBy, request);
    if (!listers.unknown && listers.count == 0) return std::nullopt;
    listed = ofListers(listers);
  }
  const auto denial = [&](size_t whichCase, CaseOutcome why) {
    Denial made{policy.meta.name,      *block, whichCase,   why.isUncertain,
                std::move(why.reason), {},     policy.code, false};
    made.message = messageOf(policy, request, made, listers);
    made.isReplayed = *block == Block::Delete && listers.replays;
    if (policy.hold && !isOfAnotherOperator(*policy.hold, *request.meta))
      made.message += notHeldYet(*policy.hold);
    return made;
  };
  if (policy.when.empty()) {
    if (!isIn(part, !policy.listedBy)) return std::nullopt;
    if (isUpdate && keepsProtection(policy, nullptr, request)) return std::nullopt;
    if (!policy.listedBy) listed.reason = kAlwaysReason;
    return denial(0, std::move(listed));
  }
  for (size_t i = 0; i < policy.when.size(); ++i) {
    const Case& one = policy.when[i];
    if (!isIn(part, one.isLocal() && !policy.listedBy)) continue;
    if (isUpdate && keepsProtection(policy, &one, request)) continue;
    CaseOutcome why = outcomeOf(one, request, facts);
    if (!why.holds) continue;
    why.join(listed);
    return denial(i, std::move(why));
  }
  return std::nullopt;
}

bool isOfAnotherOperator(const Hold& hold, const kube::ObjectMeta& meta) {
  return std::any_of(hold.finalizersOfOthers.begin(), hold.finalizersOfOthers.end(),
                     [&](const std::string& finalizer) { return kube::hasFinalizer(meta, finalizer); });
}

std::optional<std::string> protectionOf(const DeletionPolicy& policy, const Request& request) {
  if (anyHolds(policy.overrides, *request.meta)) return std::nullopt;
  for (const Case& one : policy.when) {
    if (!one.children.empty()) continue;
    CaseOutcome why = ofObject(one, request);
    if (why.holds) return std::move(why.reason);
  }
  return std::nullopt;
}

std::optional<Denial> holdOf(const DeletionPolicy& policy, const Request& request, const Facts& facts) {
  if (!policy.hold || isOfAnotherOperator(*policy.hold, *request.meta) ||
      !kube::hasFinalizer(*request.meta, policy.hold->finalizer))
    return std::nullopt;
  if (policy.hold->force && policy.hold->force->key.holds(*request.meta)) return std::nullopt;
  if (!concerns(policy, request.object, request.meta->labels)) return std::nullopt;
  CaseOutcome why;
  if (std::optional<std::string> reason = protectionOf(policy, request))
    why = {true, false, std::move(*reason)};
  else
    why = ofChildren(policy, request, facts);
  if (!why.holds) return std::nullopt;
  Denial held;
  held.policy = policy.meta.name;
  held.isUncertain = why.isUncertain;
  held.isHeld = true;
  held.message = "DeletionPolicy " + policy.meta.name + " holds " + toString(request.object) +
                 " by finalizer " + policy.hold->finalizer + ": " + why.reason;
  held.reason = std::move(why.reason);
  return held;
}

}  // namespace lastout::protection
