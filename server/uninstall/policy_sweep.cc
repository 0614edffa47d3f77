#include "server/uninstall/policy_sweep.h"

#include <set>
#include <utility>

#include "client/api_server.h"
#include "kube/well_known.h"
#include "protection/cel.h"
#include "protection/policy.h"
#include "server/uninstall/object_removal.h"

namespace lastout::server {
namespace {

constexpr size_t kPoliciesPage = 50;  // of whole objects

// A list that begins once more gives an object twice.
RequestResult<void> readMade(const ObjectClient& objectClient, const kube::GroupResource& type,
                             std::vector<MadeAdmissionPolicy>& made, protection::HoldFinalizers& finalizers) {
  std::set<std::string> seen;
  const auto take = [&](const std::vector<client::StreamedObject>& page) {
    for (const client::StreamedObject& object : page) {
      if (protection::policyOfMade(object.meta.name).empty() || !seen.insert(object.meta.name).second)
        continue;
      made.push_back({object.meta.name, protection::addOfAdmissionPolicy(object.content, finalizers)});
    }
  };
  return objectClient.list({client::collectionPath(type), client::Content::Whole, kPoliciesPage}, take);
}

bool removeMade(const ObjectClient& objectClient, const kube::GroupResource& type, const std::string& name,
                UninstallReport& report) {
  const std::string kind = toString(type);
  const std::string object = toString(kube::ObjectKey{type, "", name});
  const auto removed = removeObject(objectClient, report.isDryRun(), client::objectPath({type, "", name}));
  if (!removed) {
    report.refusedOne(kind, object, "be deleted", removed.error());
    return false;
  }
  if (*removed) report.didOne(kind, object, "deleted");
  return *removed;
}

}  // namespace

RequestResult<StandingPolicies> readPolicies(const ObjectClient& objectClient,
                                             const client::Discovery& served) {
  StandingPolicies policies;
  const kube::GroupResource type = protection::deletionPolicyType();
  if (const auto* known = served.find(type)) {
    std::set<std::string> names;
    const auto take = [&](const std::vector<client::StreamedObject>& page) {
      for (const client::StreamedObject& object : page) {
        names.insert(object.meta.name);
        protection::addOfDeletionPolicy(object.content, policies.finalizers);
      }
    };
    const auto listed =
        objectClient.list({client::collectionPath(known->type), client::Content::Whole, kPoliciesPage}, take);
    if (!listed) return tl::unexpected(listed.error());
    policies.count = names.size();
  } else if (const auto* gap = served.gapIn(type.group)) {
    return tl::unexpected(NotDone{0, gap->why});
  }
  for (const auto& [made, list] :
       {std::pair(&kube::kValidatingAdmissionPolicies, &policies.made),
        std::pair(&kube::kValidatingAdmissionPolicyBindings, &policies.bindings)}) {
    const auto listed = readMade(objectClient, *made, *list, policies.finalizers);
    if (!listed) return tl::unexpected(listed.error());
  }
  return policies;
}

bool removeBindings(const ObjectClient& objectClient, const StandingPolicies& policies,
                    UninstallReport& report) {
  bool isAnyRemoved = false;
  for (const MadeAdmissionPolicy& binding : policies.bindings)
    isAnyRemoved = removeMade(objectClient, kube::kValidatingAdmissionPolicyBindings, binding.name, report) ||
                   isAnyRemoved;
  report.finish(toString(kube::kValidatingAdmissionPolicyBindings));
  return isAnyRemoved;
}

void removeMadePolicies(const ObjectClient& objectClient, const StandingPolicies& policies, bool isSwept,
                        UninstallReport& report) {
  for (const MadeAdmissionPolicy& made : policies.made) {
    if (made.namesFinalizer && !isSwept)
      report.note(toString(kube::ObjectKey{kube::kValidatingAdmissionPolicies, "", made.name}) +
                  ": stays, without its binding, as it names a finalizer that is left");
    else
      removeMade(objectClient, kube::kValidatingAdmissionPolicies, made.name, report);
  }
  report.finish(toString(kube::kValidatingAdmissionPolicies));
}

}  // namespace lastout::server
