// Guard: lastout's own engine inside the embedded cluster (`lastout up --guard inside`): the live graph of
// what is stored, its verdict on each DELETE, and what the stored DeletionPolicies say of a request alone.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "admission/cluster_view.h"
#include "apiserver/control_plane.h"
#include "apiserver/mutation.h"
#include "apiserver/policies.h"

namespace lastout::apiserver {

// What it calls itself where a webhook has its name.
inline constexpr const char* kGuardName = "deletions.lastout.dev";

// Threading: as ControlPlane: its lock is held whenever this is called.
class Guard {
 public:
  // Follows the plane's writes from now on; both must live equally long, and nothing may be stored yet.
  explicit Guard(ControlPlane& plane);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // Nothing where it is not for the guard to say: it decides DELETEs, and what CriticalServices and
  // DeletionPolicies say. Fails with 403 for a DELETE that the engine denies, in the words and with the
  // causes that a webhook would answer with, and for a CriticalService that cannot be understood, or must not
  // become so, or a DeletionPolicy that cannot be.
  std::optional<ApiResult<void>> review(const Mutation& mutation) const;

  // What is made of the stored DeletionPolicies: it denies as if ValidatingAdmissionPolicies of these names
  // were stored. Needs no lock.
  std::shared_ptr<const Policies::List> policies() const { return policies_.snapshot(); }

 private:
  void take(const Write& write);
  void enforce(const kube::Object& policy);
  void takeBack(const std::string& policy);
  kube::Errors problemsOf(const Mutation& mutation) const;
  bool scalesGuarded(const Mutation& mutation) const;
  const TypeRegistry& types_;
  admission::ClusterView view_;
  Policies policies_;
};

}  // namespace lastout::apiserver
