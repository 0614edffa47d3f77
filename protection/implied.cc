#include "protection/implied.h"

namespace lastout::protection {
namespace {

bool isNamespaceType(const kube::GroupResource& type) {
  return type == kube::GroupResource{"", "namespaces"};
}

}  // namespace

bool implies(const DeletionPolicy& policy, const kube::GroupResource& holder) {
  if (!policy.blocksAny(Block::Delete)) return false;
  if (isNamespaceType(holder)) return policy.namespaces == Implication::Imply;
  return holder == kube::crdType() && policy.crds == Implication::Imply;
}

Denial impliedBy(const DeletionPolicy& policy, const kube::ObjectKey& holder, const kube::ObjectKey& object,
                 const Denial& denial) {
  const std::string name = toString(object);
  Denial made;
  made.policy = policy.meta.name;
  made.isUncertain = denial.isUncertain;
  made.reason = "it holds " + name + ": " + denial.reason;
  made.isHeld = denial.isHeld;
  if (made.isHeld) {
    made.message = toString(holder) + " stays until " + name + " is gone, which DeletionPolicy " +
                   policy.meta.name + " holds by its finalizer (" + denial.reason + ")";
    return made;
  }
  made.message = toString(holder) + " holds " + name + ", which DeletionPolicy " + policy.meta.name +
                 " protects (" + denial.reason + "): unprotect that, or set " +
                 (isNamespaceType(holder.type) ? "namespaces" : "crds") + ": Ignore in the policy";
  return made;
}

}  // namespace lastout::protection
