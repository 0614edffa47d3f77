#include "protection/protected_objects.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "kube/well_known.h"
#include "protection/fact_index.h"
#include "protection/implied.h"

namespace lastout::protection {
namespace {

// The first one of a name counts.
std::vector<kube::Object> firstOfEach(std::vector<kube::Object> objects) {
  std::set<kube::ObjectKey> seen;
  std::erase_if(objects, [&](const kube::Object& object) { return !seen.insert(object.key).second; });
  return objects;
}

// Gives each object a uid, and owner references those of the objects that they name.
void completeUids(std::vector<kube::Object>& objects, const kube::ResourceMap& types) {
  std::unordered_map<kube::ObjectKey, std::string> uids;
  for (size_t i = 0; i < objects.size(); ++i) {
    std::string& uid = objects[i].meta.uid;
    if (uid.empty()) uid = "object-" + std::to_string(i);
    uids.emplace(objects[i].key, uid);
  }
  for (kube::Object& object : objects) {
    for (kube::OwnerReference& owner : object.meta.ownerReferences) {
      const kube::ResourceType* type = types.findKind(kube::groupOf(owner.apiVersion), owner.kind);
      if (!owner.uid.empty() || type == nullptr) continue;
      const auto found =
          uids.find({type->type, type->namespaced ? object.key.namespaceName : std::string(), owner.name});
      if (found != uids.end()) owner.uid = found->second;
    }
  }
}

class ProtectionFinder {
 public:
  ProtectionFinder(const std::vector<DeletionPolicy>& policies, std::vector<kube::Object> objects,
                   const kube::ResourceMap& types)
      : policies_(policies), objects_(firstOfEach(std::move(objects))), types_(types), index_(findKind()) {
    completeUids(objects_, types);
    index_.setPolicies(policies);
    wantAncestors();
    tellAll();
    // Namespaces may name ancestors of further types.
    wantAncestors();
    tellAll();
  }

  Denials take() {
    for (const DeletionPolicy& policy : policies_)
      for (const kube::Object& object : objects_)
        if (auto denial = judge(policy, deletionOf(object), index_)) {
          note(policy, object, *denial);
          denials_[object.key].push_back(std::move(*denial));
        } else if (auto held = holdOf(policy, deletionOf(object), index_)) {
          note(policy, object, *held);
          denials_[object.key].push_back(std::move(*held));
        }
    for (auto& [container, denials] : implied_) {
      auto& all = denials_[container];
      std::move(denials.begin(), denials.end(), std::back_inserter(all));
    }
    return std::move(denials_);
  }

 private:
  FactIndex::FindKind findKind() const {
    return kindsAmong([this]() -> const kube::ResourceMap& { return types_; });
  }

  void wantAncestors() {
    for (const DeletionPolicy& policy : policies_)
      for (const Case& one : policy.when)
        for (const kube::Object& object : objects_) {
          if (!one.ancestor) break;
          const NamedAncestor named = index_.nameAncestor(*one.ancestor, deletionOf(object));
          if (named.key) index_.wantAncestors(named.key->type);
        }
  }

  // Tells until the index wants nothing more: an object may make it want another type.
  void tellAll() {
    std::set<uint64_t> told;
    for (bool isNew = true; isNew;) {
      isNew = false;
      for (const WantedType& wanted : index_.wanted()) {
        if (!told.insert(wanted.generation).second) continue;
        isNew = true;
        for (const kube::Object& object : objects_)
          if (object.key.type == wanted.type) index_.upsert(object, wanted.generation);
        index_.know(wanted.type, "", wanted.generation);
      }
    }
  }

  // Each policy names one object of what holds it; of those that stay by their finalizer some more.
  void note(const DeletionPolicy& policy, const kube::Object& object, const Denial& denial) {
    const kube::ObjectKey space = kube::namespaceKey(object.key.namespaceName);
    for (const kube::ObjectKey& container : {space, kube::crdKey(object.key.type)}) {
      if (container.name.empty()) continue;
      if (denial.isHeld || implies(policy, container.type)) {
        add(container, impliedBy(policy, container, object.key, denial));
      } else if (container == space) {
        // The Namespace may be deleted, and hangs.
        if (const auto hangs = judge(policy, contentDeletionOf(object), index_))
          add(space, hangsBy(policy, space, object.key, *hangs));
      }
    }
  }

  void add(const kube::ObjectKey& container, Denial denial) {
    std::vector<Denial>& denials = implied_[container];
    const auto noted = std::count_if(denials.begin(), denials.end(), [&](const Denial& one) {
      return one.policy == denial.policy && one.isHeld == denial.isHeld;
    });
    if (static_cast<size_t>(noted) < (denial.isHeld ? kMostHeldTold : 1))
      denials.push_back(std::move(denial));
  }

  const std::vector<DeletionPolicy>& policies_;
  std::vector<kube::Object> objects_;
  const kube::ResourceMap& types_;
  FactIndex index_;
  Denials denials_;
  std::map<kube::ObjectKey, std::vector<Denial>> implied_;
};

}  // namespace

Denials denialsOf(const std::vector<DeletionPolicy>& policies, std::vector<kube::Object> objects,
                  const kube::ResourceMap& types) {
  if (policies.empty()) return {};
  return ProtectionFinder(policies, std::move(objects), types).take();
}

}  // namespace lastout::protection
