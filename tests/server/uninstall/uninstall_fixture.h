// UninstallTest: a ScriptedWorld with a lastout that was installed and has ended, to be uninstalled.
#pragma once

#include <string>
#include <vector>

#include "server/uninstall/uninstall.h"
#include "tests/support/server_world.h"

namespace lastout::server {

using lastout::testing::Json;

inline constexpr const char* kOwnDeployment = "/apis/apps/v1/namespaces/lastout/deployments/lastout";
inline constexpr const char* kOwnPods = "/api/v1/namespaces/lastout/pods";
inline constexpr const char* kOwnSecret = "/api/v1/namespaces/lastout/secrets/lastout-tls";
inline constexpr const char* kOwnLeases = "/apis/coordination.k8s.io/v1/namespaces/lastout/leases";
inline constexpr const char* kOwnLease = "/apis/coordination.k8s.io/v1/namespaces/lastout/leases/lastout";
inline constexpr const char* kOwnWebhook =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lastout";
inline constexpr const char* kStoryProvider = "/apis/apps/v1/namespaces/default/deployments/provider";
inline constexpr const char* kRecordingService = "/apis/lastout.dev/v1alpha1/criticalservices/s";
inline constexpr const char* kWorks = "/apis/work.open-cluster-management.io/v1/appliedmanifestworks";
inline constexpr const char* kWork = "/apis/work.open-cluster-management.io/v1/appliedmanifestworks/work";
inline constexpr const char* kWayOut = "kubectl delete validatingwebhookconfiguration lastout";

inline constexpr const char* kOwnLock =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/lastout-configuration";
inline constexpr const char* kInstallationBinding =
    "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings/lastout-installation";

class UninstallTest : public lastout::testing::ScriptedWorld {
 public:
  UninstallTest();

  // As a lastout leaves it that has ended: the story, and what it put there.
  void install();
  // The story's provider, whose deletion somebody was denied.
  void deferDeletions();
  void createSecret(const Json& data);
  void createWork(const std::string& name, const Json& finalizers);
  void renew(const std::string& holder);
  // The policy and binding of that name, as deploy/ has them.
  void lock(const std::string& name);
  // Both of deploy/, beside the former one.
  void createDeployments();

  bool run();
  Json finalizersOf(const std::string& path);
  int statusOfDelete(const std::string& path);
  void expectNothingHoldsOrDenies();

  static Json ownDeployment();
  static Json lease(const std::string& holder);
  Json webhook() const;

  UninstallOptions options;
  std::vector<std::string> told;
  std::vector<std::string> complaints;
  int renewals = 0;
};

}  // namespace lastout::server
