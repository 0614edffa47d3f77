// StoredPolicies: the DeletionPolicies that the embedded cluster stores, as its guard goes by them: what a
// request alone tells as ValidatingAdmissionPolicies, the rest by an index of what is stored.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "protection/fact_index.h"
#include "protection/policy_set.h"
#include "simulator/mutation.h"
#include "simulator/policies.h"

namespace lastout::simulator {

// The object as it is stored; nullopt: its metadata cannot be read, so that it orders nothing.
std::optional<kube::Object> objectOf(const kube::ObjectKey& key, const Json& stored);

// Returns the mistakes in a DeletionPolicy that somebody wants to store.
kube::Errors policyProblems(const Json& stored, const kube::ResourceMap& types);

// Threading: as ControlPlane: its lock is held whenever this is called, but for ofApiServer().
class StoredPolicies {
 public:
  // Keeps references; nothing may be stored yet.
  StoredPolicies(const TypeRegistry& types, const Storage& storage);
  StoredPolicies(const StoredPolicies&) = delete;
  StoredPolicies& operator=(const StoredPolicies&) = delete;

  void take(const Write& write);  // each write of the cluster, in their order
  // Returns the ValidatingAdmissionPolicies that stand for the stored policies, as if they were stored, too.
  // Needs no lock.
  std::shared_ptr<const Policies::List> ofApiServer() const { return made_.snapshot(); }
  // Returns what the rest of each policy denies of a DELETE or an update, by the policies' names; of a DELETE
  // of a Namespace or a CRD also what protects an object in it.
  std::vector<protection::Denial> judge(const Mutation& mutation);
  // The name of the webhook that denies for the policy; empty: the guard's.
  std::string webhookNameOf(const std::string& policy) const;

 private:
  void enforce(const kube::Object& policy);
  void takeBack(const std::string& policy);
  void usePolicies();
  void index(const Write& write);
  void tellWanted();
  void wantAncestorOf(const protection::DeletionPolicy& policy, const protection::Request& request);
  std::vector<protection::Denial> judgeHolder(const protection::Request& request);
  std::vector<RecordRef> heldBy(const kube::ObjectKey& holder) const;

  const TypeRegistry& types_;
  const Storage& storage_;
  Policies made_;
  std::map<std::string, protection::DeletionPolicy> policies_;  // by name
  std::shared_ptr<const protection::PolicySet> byType_;         // the same; nullptr while there is none
  protection::FactIndex index_;
  std::map<kube::GroupResource, uint64_t> told_;  // the generation in which the index knows a type
};

}  // namespace lastout::simulator
