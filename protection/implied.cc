#include "protection/implied.h"

#include "kube/well_known.h"

namespace lastout::protection {
namespace {

bool isNamespaceType(const kube::GroupResource& type) { return type == kube::kNamespaces; }

}  // namespace

bool implies(const DeletionPolicy& policy, const kube::GroupResource& container) {
  if (!policy.blocksAny(Block::Delete)) return false;
  if (isNamespaceType(container)) return policy.namespaces == Implication::Imply;
  return container == kube::kCustomResourceDefinitions && policy.crds == Implication::Imply;
}

Request contentDeletionOf(const kube::Object& object) {
  Request request = deletionOf(object);
  request.user = "system:serviceaccount:kube-system:namespace-controller";
  request.groups = {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"};
  return request;
}

Denial hangsBy(const DeletionPolicy& policy, const kube::ObjectKey& space, const kube::ObjectKey& object,
               const Denial& denial) {
  const std::string name = toString(object);
  Denial made;
  made.policy = policy.meta.name;
  made.isUncertain = denial.isUncertain;
  made.isHeld = true;
  made.reason = "it holds " + name + ": " + denial.reason;
  made.message = toString(space) + " stays until " + name + " is gone, whose deletion DeletionPolicy " +
                 policy.meta.name + " denies (" + denial.reason + "): unprotect that first";
  return made;
}

Denial impliedBy(const DeletionPolicy& policy, const kube::ObjectKey& container,
                 const kube::ObjectKey& object, const Denial& denial) {
  const std::string name = toString(object);
  Denial made;
  made.policy = policy.meta.name;
  made.isUncertain = denial.isUncertain;
  made.reason = "it holds " + name + ": " + denial.reason;
  made.isHeld = denial.isHeld;
  if (made.isHeld) {
    made.message = toString(container) + " stays until " + name + " is gone, which DeletionPolicy " +
                   policy.meta.name + " holds by its finalizer (" + denial.reason + ")";
    return made;
  }
  made.message = toString(container) + " holds " + name + ", which DeletionPolicy " + policy.meta.name +
                 " protects (" + denial.reason + "): unprotect that, or set " +
                 (isNamespaceType(container.type) ? "namespaces" : "crds") + ": Ignore in the policy";
  return made;
}

}  // namespace lastout::protection
