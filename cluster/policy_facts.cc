#include "cluster/policy_facts.h"

#include <algorithm>
#include <utility>

#include "kube/value.h"
#include "kube/well_known.h"
#include "protection/kept_facts.h"

namespace lastout::cluster {
namespace {

using protection::Activity;
using protection::AncestorState;
using protection::ChildrenTest;
using protection::DeletionPolicy;

constexpr uint16_t kAnyForm = 0xffff;

SlotTest isThere(Slot slot, uint16_t forms = kAnyForm) {
  return {.slot = slot, .live = forms, .terminating = forms};
}

uint16_t bitOf(size_t form) { return static_cast<uint16_t>(1u << form); }

// Sets a number in a tree of maps; what is no map on the way becomes one.
void setNumber(kube::Value& at, std::initializer_list<std::string_view> path, int64_t number) {
  kube::Value* value = &at;
  for (const std::string_view key : path) {
    if (value->asMap() == nullptr) value->data = kube::Value::Map{};
    auto& map = std::get<kube::Value::Map>(value->data);
    auto found = std::ranges::find(map, key, &kube::Member::key);
    if (found == map.end()) found = map.insert(map.end(), {std::string(key), value->position, {}});
    value = &found->value;
  }
  value->data = number;
}

// The labels that Kubernetes gives what it makes of a workload.
kube::Labels templateLabels(const kube::Value& workload) {
  kube::Labels labels;
  const kube::Value* found = workload.at({"spec", "template", "metadata", "labels"});
  if (found == nullptr || found->asMap() == nullptr) return labels;
  for (const kube::Member& member : *found->asMap())
    if (const std::string* text = member.value.asString()) labels.emplace(member.key, *text);
  return labels;
}

bool namesAny(const protection::AncestorTest& test, const kube::Labels& labels) {
  return labels.contains(test.nameLabel) || labels.contains(test.kindLabel) ||
         labels.contains(test.versionLabel) || labels.contains(test.groupLabel);
}

DeletionPolicy asking(protection::Case one) {
  DeletionPolicy policy;
  policy.when.push_back(std::move(one));
  return policy;
}

}  // namespace

PolicyRelevantState policyViewOf(const ObjectState& state) {
  return {state.form, state.terminating(), state.value > 0, state.finalizers};
}

bool holds(const SlotTest& test, const StateRef& state) {
  if (test.slot == kNone) return true;
  const Presence presence = state.presence(test.slot);
  if (test.whenAbsent || presence == Presence::Absent) return test.whenAbsent && presence == Presence::Absent;
  const ObjectState object = state.object(test.slot);
  const uint16_t forms = object.live() ? test.live : test.terminating;
  if ((forms >> object.form & 1) == 0) return false;
  return test.owner == kAnyOwner || object.owner(test.owner) == OwnerState::Current;
}

bool holds(const SlotTests& tests, const StateRef& state) {
  return holds(tests.first, state) && holds(tests.second, state);
}

bool holds(const PolicyQuestion& question, const StateRef& state) {
  return std::ranges::any_of(question, [&](const SlotTests& tests) { return holds(tests, state); });
}

protection::HoldFacts holdFactsOf(const DeletionPolicy& policy, const kube::Object& object) {
  protection::HoldFacts facts;
  facts.key = object.key;
  facts.kind = object.kind;
  facts.meta = &object.meta;
  facts.content = &object.content;
  protection::Request request;
  request.object = object.key;
  request.kind = object.kind;
  request.meta = &object.meta;
  request.content = &object.content;
  facts.protectedBy = protection::protectionOf(policy, request);
  return facts;
}

// --- the objects

PolicyFacts::PolicyFacts(const Model& model, const std::vector<const kube::Object*>& objects,
                         kube::ResourceMap types, const std::vector<DeletionPolicy>& policies)
    : objects_(model.slots.size()), types_(std::make_shared<const kube::ResourceMap>(std::move(types))) {
  for (const kube::Object* object : objects) {
    const auto slot = model.find(object->key);
    if (slot && objects_[*slot].key.name.empty()) objects_[*slot] = *object;
  }
  for (Slot slot = 0; slot < objects_.size(); ++slot) {
    kube::Object& object = objects_[slot];
    object.key = model.slots[slot].key;
    object.meta.namespaceName = object.key.namespaceName;
    object.meta.name = object.key.name;
    const kube::ResourceType* type = types_->find(object.key.type);
    if (object.kind.empty()) object.kind = type == nullptr ? object.key.type.resource : type->kind;
    object.meta.uid = "slot-" + std::to_string(slot);
  }
  addLabelsOfTemplates(model);
  addGroups(model, policies);
  addListers(model, policies);
}

// Owners stand before what is derived from them.
void PolicyFacts::addLabelsOfTemplates(const Model& model) {
  for (Slot slot = 0; slot < objects_.size(); ++slot) {
    kube::Object& object = objects_[slot];
    if (!object.content.isNull()) continue;
    for (const OwnerLink& link : model.slots[slot].owners) {
      if (!link.controller || link.owner == kNone) continue;
      const kube::Object& owner = objects_[link.owner];
      object.meta.labels = owner.content.isNull() ? owner.meta.labels : templateLabels(owner.content);
    }
  }
}

kube::Object PolicyFacts::objectOf(const Model& model, Slot slot, const PolicyRelevantState& view) const {
  const SlotInfo& info = model.slots[slot];
  kube::Object object = objects_[slot];
  // A derived object (a Pod, a ReplicaSet) has the labels of its template, which the model does not know.
  if (view.form > 0 || !object.content.isNull()) {
    object.meta.labels = info.forms[view.form].labels;
    object.meta.annotations = info.forms[view.form].annotations;
  }
  if (info.forms[view.form].content != nullptr) object.content = *info.forms[view.form].content;
  object.meta.deletionTimestamp.reset();
  if (view.terminates) object.meta.deletionTimestamp = 1;
  object.meta.finalizers.clear();
  for (size_t i = 0; i < info.finalizers.size(); ++i)
    if ((view.finalizers >> i & 1) != 0) object.meta.finalizers.push_back(info.finalizers[i]);
  if (hasReplicas(info.kind)) setNumber(object.content, {"spec", "replicas"}, view.hasReplicas ? 1 : 0);
  return object;
}

// --- groups of objects, as FactIndex counts them

void PolicyFacts::addGroups(const Model& model, const std::vector<DeletionPolicy>& policies) {
  std::unordered_map<kube::GroupResource, protection::Questions> asked;
  const auto addOnce = [](std::vector<ChildrenTest>& tests, const ChildrenTest& test) {
    if (std::ranges::find(tests, test) == tests.end()) tests.push_back(test);
  };
  for (const DeletionPolicy& policy : policies) {
    for (const protection::Case& one : policy.when) {
      for (const ChildrenTest& test : one.children) addOnce(asked[test.type].children, test);
      if (one.activity == Activity::Pods) asked[kube::kPods].activePods = true;
      if (one.activity == Activity::BoundClaims) asked[kube::kPersistentVolumeClaims].boundClaims = true;
      if (one.activity != Activity::Instances) continue;
      for (const kube::ResourceType& type : types_->types())
        if (model.find(kube::crdKey(type.type))) asked[type.type].instances = true;
    }
  }
  for (Slot slot = 0; slot < model.slots.size(); ++slot) {
    const auto found = asked.find(model.slots[slot].key.type);
    if (found == asked.end()) continue;
    std::map<std::string, SlotTest> tests;
    for (size_t form = 0; form < model.slots[slot].forms.size(); ++form) {
      for (const bool terminates : {false, true}) {
        const PolicyRelevantState view{static_cast<uint8_t>(form), terminates, true, 0};
        for (std::string& group : keptOf(found->second, objectOf(model, slot, view)).groups) {
          SlotTest& test = tests.try_emplace(std::move(group), SlotTest{.slot = slot}).first->second;
          (terminates ? test.terminating : test.live) |= bitOf(form);
        }
      }
    }
    for (auto& [group, test] : tests) groups_[found->first][group].push_back(test);
  }
}

PolicyQuestion PolicyFacts::groupOf(const kube::GroupResource& type, const std::string& group) const {
  PolicyQuestion question;
  const auto groups = groups_.find(type);
  if (groups == groups_.end()) return question;
  const auto found = groups->second.find(group);
  if (found == groups->second.end()) return question;
  for (const SlotTest& test : found->second) question.push_back({test, {}});
  return question;
}

PolicyQuestion PolicyFacts::children(const Model& model, const ChildrenTest& test, Slot slot) const {
  const kube::ObjectKey& key = model.slots[slot].key;
  PolicyQuestion question;
  if (test.by != ChildrenTest::By::OwnerReference) {
    question = groupOf(test.type, protection::childrenGroup(test, key.namespaceName, key.name));
    if (!key.namespaceName.empty()) return question;
    for (const SlotTests& more : groupOf(test.type, protection::clusterChildrenGroup(test, key.name)))
      if (std::ranges::find(question, more) == question.end()) question.push_back(more);
    return question;
  }
  for (const Slot dependent : model.slots[slot].dependents) {
    const SlotInfo& info = model.slots[dependent];
    for (size_t i = 0; info.key.type == test.type && i < info.owners.size(); ++i) {
      if (info.owners[i].owner != slot) continue;
      SlotTest owned = isThere(dependent);
      owned.owner = static_cast<uint8_t>(i);
      question.push_back({owned, {}});
    }
  }
  return question;
}

PolicyQuestion PolicyFacts::allChildren(const Model& model, const DeletionPolicy& policy, Slot slot) const {
  PolicyQuestion all;
  for (const protection::Case& one : policy.when)
    for (const ChildrenTest& test : one.children)
      for (const SlotTests& child : children(model, test, slot))
        if (std::ranges::find(all, child) == all.end()) all.push_back(child);
  return all;
}

PolicyQuestion PolicyFacts::active(const Model& model, Activity activity, Slot slot) const {
  const kube::ObjectKey& key = model.slots[slot].key;
  const bool isAskedOfCrd = activity == Activity::Instances;
  // Only a Namespace, or a CRD, has any: nobody can say how many there are of another object.
  if (key.type != (isAskedOfCrd ? kube::kCustomResourceDefinitions : kube::kNamespaces)) return {SlotTests{}};
  if (isAskedOfCrd) return groupOf(kube::definedBy(key.name), protection::instancesGroup());
  return groupOf(activity == Activity::Pods ? kube::kPods : kube::kPersistentVolumeClaims,
                 protection::activityGroup(key.name));
}

// --- objects that list others

void PolicyFacts::addListers(const Model& model, const std::vector<DeletionPolicy>& policies) {
  for (const DeletionPolicy& policy : policies) {
    if (!policy.listedBy) continue;
    for (Slot slot = 0; slot < model.slots.size(); ++slot) {
      if (model.slots[slot].key.type != policy.listedBy->type) continue;
      for (size_t form = 0; form < model.slots[slot].forms.size(); ++form) {
        const PolicyRelevantState view{static_cast<uint8_t>(form), false, true, 0};
        auto index = std::make_shared<protection::FactIndex>(findKind());
        index->setPolicies({policy});
        for (const protection::WantedType& wanted : index->wanted()) {
          if (wanted.type != policy.listedBy->type) continue;
          index->upsert(objectOf(model, slot, view), wanted.generation);
          index->know(wanted.type, "", wanted.generation);
        }
        listers_.push_back({slot, view.form, *policy.listedBy, std::move(index)});
      }
    }
  }
}

PolicyQuestion PolicyFacts::lister(const Model& model, const protection::ListedBy& listedBy,
                                   const protection::Request& request) const {
  PolicyQuestion question;
  for (const Lister& one : listers_) {
    if (!(one.listedBy == listedBy) || one.slot >= model.slots.size()) continue;
    const protection::Listers by = one.index->listers(listedBy, request);
    if (by.count == 0 && !by.unknown) continue;
    const auto found =
        std::ranges::find(question, one.slot, [](const SlotTests& tests) { return tests.first.slot; });
    if (found == question.end()) {
      question.push_back({isThere(one.slot, bitOf(one.form)), {}});
    } else {
      found->first.live |= bitOf(one.form);
      found->first.terminating |= bitOf(one.form);
    }
  }
  return question;
}

protection::Listers PolicyFacts::listersIn(Slot slot, uint8_t form, const protection::ListedBy& listedBy,
                                           const protection::Request& request) const {
  const auto one = std::ranges::find_if(listers_, [&](const Lister& lister) {
    return lister.slot == slot && lister.form == form && lister.listedBy == listedBy;
  });
  return one == listers_.end() ? protection::Listers() : one->index->listers(listedBy, request);
}

// --- ancestors

protection::FactIndex::FindKind PolicyFacts::findKind() const {
  return protection::kindsAmong([types = types_]() -> const kube::ResourceMap& { return *types; });
}

void PolicyFacts::addNamed(const Model& model, const protection::AncestorTest& test,
                           const protection::NamedAncestor& named, const SlotTest& condition,
                           std::vector<AncestorCase>& cases) const {
  using Kind = AncestorState::Kind;
  if (!named.key) {
    if (named.state.kind != Kind::NotManaged) cases.push_back({{{}, condition}, named.state});
    return;
  }
  // While its CRD is not there, nobody can say which objects there are of the kind.
  if (const auto crd = model.find(kube::crdKey(named.key->type))) {
    SlotTest isGone;
    isGone.slot = *crd;
    isGone.whenAbsent = true;
    cases.push_back({{isGone, condition},
                     {Kind::Unknown, "the cluster serves no kind " + types_->find(named.key->type)->kind +
                                         " of group " + named.key->type.group}});
  }
  const auto slot = model.find(*named.key);
  if (!slot) return;
  for (size_t form = 0; form < model.slots[*slot].forms.size(); ++form) {
    const kube::Object object = objectOf(model, *slot, {static_cast<uint8_t>(form), false, true, 0});
    const AncestorState standing = protection::standingOf(test, *named.key, &object);
    if (standing.kind != Kind::Protects) continue;
    const auto isSameStanding = [&](const AncestorCase& one) {
      return one.tests.first.slot == *slot && one.tests.second == condition &&
             one.state.detail == standing.detail;
    };
    const auto found = std::ranges::find_if(cases, isSameStanding);
    if (found == cases.end())
      cases.push_back({{{.slot = *slot, .live = bitOf(form)}, condition}, standing});
    else
      found->tests.first.live |= bitOf(form);
  }
}

std::vector<AncestorCase> PolicyFacts::ancestor(const Model& model, const protection::AncestorTest& test,
                                                Slot slot, const kube::Labels& labels) const {
  const Slot space = model.slots[slot].namespaceSlot;
  const std::vector<ObjectForm> none;
  const std::vector<ObjectForm>& forms =
      test.orOfNamespace && space != kNone ? model.slots[space].forms : none;
  const bool isOwn = namesAny(test, labels);
  const auto names = [&](const ObjectForm& form) { return namesAny(test, form.labels); };
  if (!isOwn && std::ranges::none_of(forms, names)) return {};
  protection::FactIndex index(findKind());
  protection::Case one;
  one.ancestor = test;
  index.setPolicies({asking(one)});
  kube::Object object = objects_[slot];
  object.meta.labels = labels;
  protection::Request request;
  request.object = object.key;
  request.meta = &object.meta;
  request.content = &object.content;
  std::vector<AncestorCase> cases;
  if (isOwn) {
    addNamed(model, test, index.nameAncestor(test, request), {}, cases);
    return cases;
  }
  for (size_t form = 0; form < forms.size(); ++form) {
    kube::Object holder = objects_[space];
    holder.meta.labels = forms[form].labels;
    for (const protection::WantedType& wanted : index.wanted()) {
      if (wanted.type != kube::kNamespaces) continue;
      index.upsert(holder, wanted.generation);
      index.know(wanted.type, "", wanted.generation);
    }
    const SlotTest condition{.slot = space, .live = bitOf(form), .terminating = bitOf(form)};
    addNamed(model, test, index.nameAncestor(test, request), condition, cases);
  }
  return cases;
}

}  // namespace lastout::cluster
