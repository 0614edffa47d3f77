// What `lastout serve` is told, by flags, the environment and a file, and what follows from it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/connection.h"
#include "cmd/listening.h"
#include "kube/object_key.h"
#include "kube/result.h"
#include "protection/policy.h"
#include "server/controllers/deferred_deletion_store.h"
#include "server/server_options.h"
#include "server/webhook/certificate_secret.h"
#include "server/webhook/webhook_configuration.h"
#include "tls/certificates.h"

namespace lastout::cmd {

inline constexpr const char* kWebhookRole = "webhook";
inline constexpr const char* kControllerRole = "controller";

struct ServeOptions {
  std::vector<std::string> roles{kWebhookRole, kControllerRole};
  std::set<std::string> given;  // names of options that somebody gave, without the dashes
  std::string config;
  std::string kubeconfig;
  std::string context;
  std::string listen = "127.0.0.1:9443";
  std::string answers = "127.0.0.1:9090";
  std::string url;
  std::string service;
  std::string certificate;
  std::string key;
  std::string authority;
  std::string clientAuthority;
  std::string secret;
  bool manageWebhook = true;
  std::string webhookScope = "objects";
  std::string policies = "apiserver";
  std::vector<std::string> profiles;
  std::vector<std::string> ownLabels;  // KEY=VALUE
  std::string ownNamespace;
  int denyStatus = 403;
  bool auditOnly = false;
  int holdAfter = 65;  // seconds
  std::string leaseNamespace;
  std::string leaseName = "lastout";
  std::string identity;
  std::vector<std::string> deferFor;
  std::vector<std::string> policyClusters;  // NAME=KUBECONFIG
  bool holdPolicies = false;
  bool labelPolicies = false;
  std::vector<std::string> replayDeletions;  // types, "deployments.apps"
  std::string externalStep;                  // refused
  std::string shutdownDelay = "0s";
};

// What is wrong with the options by themselves, each with the option's name: Services and Secrets that cannot
// be named so, options that exclude each other, or that the roles have no use for, a URL that no API server
// can call.
kube::Errors problemsOf(const ServeOptions& options);

// The following take options without such problems.

server::Roles rolesOf(const ServeOptions& options);

// The names under which API servers call it, for a certificate.
tls::ServerNames namesOf(const ServeOptions& options);

// Of the webhook configuration: `authorities` (PEM) vouch for the certificate. nullopt: neither this process
// nor one with the other role keeps it.
// Fails when the API server of `cluster` could not call what would be written there.
kube::Result<std::optional<server::WebhookAddress>> webhookOf(const ServeOptions& options,
                                                              const ListenAddress& listen,
                                                              const client::ServerAddress& cluster,
                                                              const std::string& authorities);

// The policies of --profile. Fails with what is wrong with a name.
tl::expected<std::vector<protection::PolicyManifest>, kube::Errors> keptPoliciesOf(
    const ServeOptions& options);

// The labels of --own-labels. Fails with what is wrong with one.
kube::Result<kube::Labels> ownLabelsOf(const ServeOptions& options);

// The types of --replay-deletions. Fails with what is wrong with one.
kube::Result<std::set<kube::GroupResource>> replayedTypesOf(const ServeOptions& options);

// Whose denied deletions are deferred: persons count where --client-ca proves that an API server asks.
server::Requesters requestersOf(const ServeOptions& options);

// Returns the Secret of --tls-secret; nullopt: there is none.
std::optional<server::CertificateSecretOptions> secretOf(const ServeOptions& options);

}  // namespace lastout::cmd
