#include "protection/implied.h"

#include <algorithm>

#include "kube/messages.h"
#include "kube/well_known.h"

namespace lastout::protection {
namespace {

constexpr size_t kMostUnreadableTold = 100;

bool isNamespaceType(const kube::GroupResource& type) { return type == kube::kNamespaces; }

}  // namespace

bool implies(const DeletionPolicy& policy, const kube::GroupResource& container) {
  if (!policy.blocksAny(Block::Delete)) return false;
  if (isNamespaceType(container)) return policy.namespaces != Implication::Ignore;
  return container == kube::kCustomResourceDefinitions && policy.crds != Implication::Ignore;
}

bool isSoughtInContainers(const DeletionPolicy& policy, const kube::ResourceType& type,
                          const ListedKinds& listed) {
  const bool isInNamespace = type.namespaced && implies(policy, kube::kNamespaces);
  if (!isInNamespace && (type.builtIn || !implies(policy, kube::kCustomResourceDefinitions))) return false;
  return std::ranges::any_of(listed.kinds, [&](const ListedKind& kind) { return kind.matches(type); }) ||
         std::ranges::any_of(policy.objects, [&](const Selection& selection) {
           return std::ranges::any_of(selection.resources,
                                      [&](const ResourcePattern& one) { return one.matches(type.type); });
         });
}

std::string unreadableTypes(const DeletionPolicy& policy, const std::vector<std::string>& types) {
  std::string text = "lastout may not list " + kube::listed(types, kMostUnreadableTold) + ":";
  if (implies(policy, kube::kNamespaces))
    text += letsNamespacesGoUnseen(policy) ? " a Namespace is deleted with a Warning although it may hold "
                                             "protected ones, and waits at these;"
                                           : " no Namespace that may hold protected ones can be deleted;";
  if (implies(policy, kube::kCustomResourceDefinitions))
    text += " no CustomResourceDefinition of these types can be deleted;";
  return text + " " + howToGiveReads("them");
}

std::string howToGiveReads(std::string_view types) {
  return "let lastout's accounts get, list and watch " + std::string(types) +
         ", by a ClusterRole with the label " + std::string(kube::kReadsLabel) +
         ": \"true\", which Kubernetes adds to ClusterRole lastout-reads";
}

Request contentDeletionOf(const kube::Object& object) {
  Request request = deletionOf(object);
  request.user = "system:serviceaccount:kube-system:namespace-controller";
  request.groups = {"system:serviceaccounts", "system:serviceaccounts:kube-system", "system:authenticated"};
  return request;
}

bool letsNamespacesGoUnseen(const DeletionPolicy& policy) {
  return policy.namespaces == Implication::Imply && policy.failsClosed && !policy.listedBy &&
         std::ranges::all_of(policy.when, [](const Case& one) { return one.children.empty(); }) &&
         !isExempt(policy, contentDeletionOf(kube::Object()));
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
