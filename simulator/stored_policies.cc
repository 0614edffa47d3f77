#include "simulator/stored_policies.h"

#include <set>
#include <utility>

#include "kube/object.h"
#include "kube/well_known.h"
#include "protection/cel.h"
#include "protection/implied.h"
#include "protection/placement.h"

namespace lastout::simulator {
namespace {

using protection::DeletionPolicy;
using protection::Denial;
using protection::Request;

// The objects that API servers enforce a policy by.
std::vector<Json> enforcing(const DeletionPolicy& policy) {
  std::vector<Json> made;
  for (const auto& object : protection::admissionPoliciesOf(policy)) made.emplace_back(object);
  return made;
}

}  // namespace

std::optional<kube::Object> objectOf(const kube::ObjectKey& key, const Json& stored) {
  kube::Object object;
  object.key = key;
  object.kind = stringAt(stored, {"kind"});
  object.content = kube::fromJson(stored);
  const kube::Value* metadata = object.content.find("metadata");
  if (metadata == nullptr) return std::nullopt;
  auto meta = kube::parseMeta(*metadata, "");
  if (!meta) return std::nullopt;
  object.meta = std::move(*meta);
  return object;
}

kube::Errors policyProblems(const Json& stored, const kube::ResourceMap& types) {
  const auto object = kube::parseObject(kube::fromJson(stored), "", types);
  if (!object) return {object.error()};
  auto policy = protection::parsePolicy(*object);
  if (!policy) return std::move(policy.error());
  kube::Errors problems;
  for (const Json& one : enforcing(*policy)) {
    if (const auto checked = checkPolicyOrBinding(one); !checked)
      problems.push_back({checked.error().message, {}, {}});
  }
  return problems;
}

StoredPolicies::StoredPolicies(const TypeRegistry& types, const Storage& storage)
    : types_(types),
      storage_(storage),
      index_(protection::kindsAmong([this]() -> const kube::ResourceMap& { return types_.resources(); })) {}

void StoredPolicies::take(const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  if (key.type == protection::deletionPolicyType()) {
    takeBack(key.name);
    if (write.kind != Write::Kind::Deleted)
      if (const auto policy = objectOf(key, write.record->object())) enforce(*policy);
    usePolicies();
  }
  if (policies_.empty()) return;
  index(write);
  if (key.type == kube::kCustomResourceDefinitions) index_.typesChanged();
  tellWanted();
}

// Its content was checked before it was stored, by a guard that was there from the beginning.
void StoredPolicies::enforce(const kube::Object& policy) {
  kube::Object named = policy;
  named.apiVersion = kube::kLastoutApiVersion;
  named.kind = protection::kPolicyKind;
  auto parsed = protection::parsePolicy(named);
  if (!parsed) return;
  for (const Json& one : enforcing(*parsed)) static_cast<void>(made_.put(one));
  policies_.insert_or_assign(policy.key.name, std::move(*parsed));
}

void StoredPolicies::takeBack(const std::string& policy) {
  DeletionPolicy named;
  named.meta.name = policy;
  for (const std::string& name : {protection::admissionPolicyName(named), protection::forceGuardName(named)})
    for (const char* kind : {"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"})
      made_.remove(kind, name);
  policies_.erase(policy);
}

void StoredPolicies::usePolicies() {
  std::vector<DeletionPolicy> all;
  all.reserve(policies_.size());
  for (const auto& [name, policy] : policies_) all.push_back(policy);
  index_.setPolicies(all);
  byType_ = all.empty() ? nullptr : std::make_shared<const protection::PolicySet>(std::move(all));
}

// --- what the index is told

// A type that is not told yet is told whole, with this write in it.
void StoredPolicies::index(const Write& write) {
  const kube::ObjectKey& key = write.record->key();
  const auto told = told_.find(key.type);
  if (told == told_.end()) return;
  const auto object = objectOf(key, write.record->object());
  if (!object) return;
  if (write.kind == Write::Kind::Deleted)
    index_.remove(key, object->meta.uid, told->second);
  else
    index_.upsert(*object, told->second);
}

// Tells until the index wants nothing more: an object may make it want another type.
void StoredPolicies::tellWanted() {
  for (bool isNew = true; isNew;) {
    isNew = false;
    for (const protection::WantedType& wanted : index_.wanted()) {
      if (!wanted.cluster.empty()) continue;
      uint64_t& told = told_[wanted.type];
      if (told == wanted.generation) continue;
      told = wanted.generation;
      isNew = true;
      for (const RecordRef& record : storage_.list(wanted.type, ""))
        if (const auto object = objectOf(record->key(), record->object()))
          index_.upsert(*object, wanted.generation);
      index_.know({"", wanted.type}, "", wanted.generation);
    }
  }
}

void StoredPolicies::wantAncestorOf(const DeletionPolicy& policy, const Request& request) {
  for (const protection::Case& one : policy.when) {
    if (!one.ancestor) continue;
    const protection::NamedAncestor named = index_.nameAncestor(*one.ancestor, request);
    if (!named.key || !one.ancestor->cluster.empty() || told_.contains(named.key->type)) continue;
    index_.wantAncestors({"", named.key->type});
    tellWanted();
  }
}

// --- what follows from it

std::vector<Denial> StoredPolicies::judge(const Mutation& mutation) {
  if (byType_ == nullptr || mutation.operation == Mutation::Operation::Create) return {};
  const auto before = objectOf(mutation.key, mutation.before->object());
  if (!before) return {};
  Request request = protection::deletionOf(*before);
  request.user = mutation.user.username;
  request.groups = mutation.user.groups;
  request.orphans = mutation.policy == cluster::PropagationPolicy::Orphan;
  std::optional<kube::Object> after;
  if (mutation.operation == Mutation::Operation::Update) {
    after = objectOf(mutation.key, mutation.after);
    if (!after) return {};
    request.operation = protection::PolicyOperation::Update;
    request.newMeta = &after->meta;
  }
  std::vector<Denial> denials;
  for (const DeletionPolicy* policy : byType_->about(request.object.type)) {
    wantAncestorOf(*policy, request);
    const protection::CaseScope part = webhookPartOf(*policy, protection::PolicyMode::ApiServer);
    if (auto denial = protection::judge(*policy, request, index_, part))
      denials.push_back(std::move(*denial));
  }
  if (request.operation == protection::PolicyOperation::Update) return denials;
  std::vector<Denial> implied = judgeHolder(request);
  std::move(implied.begin(), implied.end(), std::back_inserter(denials));
  return denials;
}

// As if the user who deletes what holds the objects deleted each of them.
std::vector<Denial> StoredPolicies::judgeHolder(const Request& request) {
  const kube::ObjectKey& holder = request.object;
  std::vector<Denial> denials;
  if (holder.type != kube::kNamespaces && holder.type != kube::kCustomResourceDefinitions) return denials;
  const std::vector<RecordRef> held = heldBy(holder);
  for (const auto& [name, policy] : policies_) {
    if (!protection::implies(policy, holder.type)) continue;
    for (const RecordRef& record : held) {
      const auto object = objectOf(record->key(), record->object());
      if (!object) continue;
      Request ofObject = protection::deletionOf(*object);
      ofObject.user = request.user;
      ofObject.groups = request.groups;
      wantAncestorOf(policy, ofObject);
      if (const auto denial = protection::judge(policy, ofObject, index_)) {
        denials.push_back(protection::impliedBy(policy, holder, object->key, *denial));
        break;
      }
    }
  }
  return denials;
}

std::vector<RecordRef> StoredPolicies::heldBy(const kube::ObjectKey& holder) const {
  if (holder.type == kube::kCustomResourceDefinitions) return storage_.list(kube::definedBy(holder.name), "");
  std::set<kube::GroupResource> types;
  for (const ServedGroup& group : types_.groups())
    for (const std::string& version : group.versions)
      for (const ServedTypePointer& type : types_.typesOf(group.name, version))
        if (type->namespaced) types.insert(type->type);
  std::vector<RecordRef> held;
  for (const kube::GroupResource& type : types) {
    const std::vector<RecordRef> ofType = storage_.list(type, holder.name);
    held.insert(held.end(), ofType.begin(), ofType.end());
  }
  return held;
}

std::string StoredPolicies::webhookNameOf(const std::string& policy) const {
  const auto found = policies_.find(policy);
  return found == policies_.end() ? "" : found->second.webhookName;
}

}  // namespace lastout::simulator
