#include "server/uninstall/uninstall_rest.h"

#include <vector>

#include "client/api_server.h"
#include "criticalservice/critical_service.h"
#include "kube/object_key.h"
#include "kube/well_known.h"
#include "protection/policy.h"

namespace lastout::server {
namespace {

// A kind of lastout's own.
struct LeftKind {
  kube::GroupResource type;
  std::optional<size_t> count;  // nullopt: they could not be read
  const char* one;
  const char* several;
  const char* consequence;
};

std::vector<LeftKind> kindsOf(const LeftObjects& left, bool isDryRun) {
  return {{criticalservice::criticalServiceType(), left.services, "CriticalService", "CriticalServices",
           isDryRun ? "whose providers nobody would guard then, whatever the status says"
                    : "whose providers nobody guards now, whatever the status says"},
          {protection::deletionPolicyType(), left.policies, "DeletionPolicy", "DeletionPolicies",
           isDryRun ? "whose objects nothing would protect then, whatever the status says"
                    : "whose objects nothing protects now, whatever the status says"}};
}

// An embedded cluster serves the types without one; and there may be one where discovery has a gap.
bool hasDefinition(const ObjectClient& objectClient, const kube::GroupResource& type) {
  const auto definition = objectClient.readMetadata(client::objectPath(kube::crdKey(type)));
  return !definition || *definition;
}

}  // namespace

void tellWhatIsLeft(const ObjectClient& objectClient, const std::string& namespaceName,
                    const LeftObjects& left, UninstallReport& report) {
  const auto space = objectClient.readMetadata(client::objectPath(kube::namespaceKey(namespaceName)));
  const bool isInstalled = !space || *space;
  std::vector<std::string> lines;
  std::string definitions;
  std::string definedKinds;
  for (const LeftKind& kind : kindsOf(left, report.isDryRun())) {
    const std::string several = kind.several;
    if (!kind.count) lines.push_back(several + ", if there are any: they could not be read");
    if (kind.count > 0)
      lines.push_back(std::to_string(*kind.count) + " " + (kind.count == 1 ? kind.one : several) + ", " +
                      kind.consequence);
    if (!hasDefinition(objectClient, kind.type)) continue;
    definitions += " " + kube::crdName(kind.type);
    definedKinds += (definedKinds.empty() ? "" : " and of ") + several;
  }
  if (!definitions.empty())
    lines.push_back((definedKinds.find(" and ") == std::string::npos ? "the CustomResourceDefinition of "
                                                                     : "the CustomResourceDefinitions of ") +
                    definedKinds);
  if (isInstalled)
    lines.push_back("namespace " + namespaceName +
                    " with what is in it; ClusterRoles and their bindings; what else deploy/ has");
  if (lines.empty())
    return report.note(report.isDryRun() ? "It would leave nothing of lastout."
                                         : "Nothing of lastout is left.");
  report.note(report.isDryRun() ? "It would leave:" : "It leaves:");
  for (const std::string& line : lines) report.note("  " + line);
  const bool hasPolicies = left.policies > 0;
  if (definitions.empty() && !isInstalled && !hasPolicies) return;
  report.note("To remove that, too:");
  if (hasPolicies) report.note("  kubectl delete deletionpolicies --all            DeletionPolicies alone");
  if (!definitions.empty() && !isInstalled) report.note("  kubectl delete crd" + definitions);
  if (!isInstalled) return;
  report.note("  kubectl delete -k deploy/ --ignore-not-found     where kubectl apply -k installed it");
  report.note("  helm uninstall lastout                           where Helm did");
}

}  // namespace lastout::server
