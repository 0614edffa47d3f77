#include "cmd/serve_options.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <string_view>
#include <utility>

#include "cmd/policy_clusters.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "protection/profiles.h"

namespace lastout::cmd {
namespace {

struct NamespacedName {
  std::string namespaceName;
  std::string name;
};

NamespacedName partsOf(const std::string& text) {
  const size_t slash = text.find('/');
  if (slash == std::string::npos) return {};
  return {text.substr(0, slash), text.substr(slash + 1)};
}

void checkName(kube::Errors& problems, const char* option, const std::string& text,
               bool (*isName)(std::string_view)) {
  const auto [namespaceName, name] = partsOf(text);
  if (text.empty() || (kube::isDnsLabel(namespaceName) && isName(name))) return;
  problems.push_back(
      {std::string(option) + ": " + kube::inQuotes(text) + " is no namespace/name, such as lastout/lastout",
       {},
       {}});
}

bool isLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// What one role alone has a use for.
struct OptionOfRole {
  const char* option;
  const char* role;
  const char* why;
};
constexpr std::array kOptionsOfRoles{
    OptionOfRole{"listen", kWebhookRole, "it is where reviews are answered"},
    OptionOfRole{"deny-status", kWebhookRole, "it is about answers to reviews"},
    OptionOfRole{"policy-cluster", kWebhookRole, "what answers reviews reads there"},
    OptionOfRole{"webhook-scope", kControllerRole, "it is about the webhook configuration"},
    OptionOfRole{"profile", kControllerRole, "the controller applies policies"},
    OptionOfRole{"own-labels", kControllerRole,
                 "the controller makes the Secret and the webhook configuration"},
    OptionOfRole{"hold-policies", kControllerRole, "the controller holds objects"},
    OptionOfRole{"label-policies", kControllerRole, "the controller labels objects"},
    OptionOfRole{"lease-namespace", kControllerRole, "the Lease is that of controllers"},
    OptionOfRole{"lease-name", kControllerRole, "the Lease is that of controllers"},
};

// A process with one role shares the certificate, and the path for reviews, with those that have the other.
void checkRoles(kube::Errors& problems, const ServeOptions& options) {
  const auto refuse = [&problems](std::string message) { problems.push_back({std::move(message), {}, {}}); };
  const server::Roles roles = rolesOf(options);
  if (!roles.webhook && !roles.controller) refuse("--roles: choose webhook, controller, or both");
  if (roles.webhook && roles.controller) return;
  const std::string mine = roles.webhook ? kWebhookRole : kControllerRole;
  for (const OptionOfRole& one : kOptionsOfRoles) {
    if (one.role != mine && options.given.contains(one.option))
      refuse("--" + std::string(one.option) + ": " + one.why + ", and --roles " + mine +
             " does nothing of that; give it to the process with the role " + one.role);
  }
  if (!options.manageWebhook) return;
  for (const char* option : {"url", "service"}) {
    if (roles.webhook && options.given.contains(option))
      refuse("--" + std::string(option) +
             ": it is for the webhook configuration and the certificate, which the process with the role "
             "controller makes; give it to that one");
  }
  if (options.secret.empty())
    refuse("--roles " + mine +
           ": give --tls-secret, by which all processes have the same certificate and the same path for "
           "reviews, or --manage-webhook=false");
}

}  // namespace

server::Roles rolesOf(const ServeOptions& options) {
  const auto has = [&](std::string_view role) {
    return std::ranges::find(options.roles, role) != options.roles.end();
  };
  return {has(kWebhookRole), has(kControllerRole)};
}

tl::expected<std::vector<protection::PolicyManifest>, kube::Errors> keptPoliciesOf(
    const ServeOptions& options) {
  std::vector<protection::PolicyManifest> policies;
  for (const std::string& name : std::set<std::string>(options.profiles.begin(), options.profiles.end())) {
    const auto profile = protection::findProfile(name);
    if (!profile) return tl::unexpected(kube::Errors{{"--profile: " + profile.error().message, {}, {}}});
    auto manifests = protection::profileManifests(name);
    if (!manifests) return tl::unexpected(std::move(manifests.error()));
    std::ranges::move(*manifests, std::back_inserter(policies));
  }
  return policies;
}

kube::Result<kube::Labels> ownLabelsOf(const ServeOptions& options) {
  kube::Labels labels;
  for (const std::string& text : options.ownLabels) {
    const size_t equals = text.find('=');
    std::string key = text.substr(0, equals);
    std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
    if (equals == std::string::npos || !kube::isQualifiedName(key) || !kube::isLabelValue(value))
      return tl::unexpected(
          kube::Error{"--own-labels: write it as KEY=VALUE of a label, not " + kube::inQuotes(text), {}, {}});
    labels[std::move(key)] = std::move(value);
  }
  return labels;
}

kube::Result<std::set<kube::GroupResource>> replayedTypesOf(const ServeOptions& options) {
  std::set<kube::GroupResource> types;
  for (const std::string& text : options.replayDeletions) {
    kube::GroupResource type = kube::definedBy(text);
    if (!kube::isDnsLabel(type.resource) || (!type.group.empty() && !kube::isDnsSubdomain(type.group)) ||
        toString(type) != text)
      return tl::unexpected(kube::Error{"--replay-deletions: " + kube::inQuotes(text) +
                                            " is no type, such as configmaps or deployments.apps",
                                        {},
                                        {}});
    types.insert(std::move(type));
  }
  return types;
}

kube::Errors problemsOf(const ServeOptions& options) {
  kube::Errors problems;
  const auto refuse = [&problems](std::string message) { problems.push_back({std::move(message), {}, {}}); };
  checkName(problems, "--service", options.service, kube::isDnsLabel);
  checkName(problems, "--tls-secret", options.secret, kube::isDnsSubdomain);
  if (!options.ownNamespace.empty() && !kube::isDnsLabel(options.ownNamespace))
    refuse("--own-namespace: " + kube::inQuotes(options.ownNamespace) + " is no name of a namespace");
  if (const auto clusters = policyClustersOf(options.policyClusters); !clusters)
    problems.push_back(clusters.error());
  if (auto policies = keptPoliciesOf(options); !policies)
    std::ranges::move(policies.error(), std::back_inserter(problems));
  if (const auto labels = ownLabelsOf(options); !labels) problems.push_back(labels.error());
  if (options.given.contains("own-labels") && !options.manageWebhook && options.secret.empty())
    refuse(
        "--own-labels: it makes neither a webhook configuration (--manage-webhook=false) nor a Secret "
        "(--tls-secret)");
  if (const auto types = replayedTypesOf(options); !types) problems.push_back(types.error());
  if (!options.url.empty() && !options.service.empty()) refuse("--url and --service: choose one");
  if (!options.url.empty()) {
    const auto url = client::parseServerAddress(options.url);
    if (!url) {
      refuse("--url: " + url.error().message);
    } else if (!url->tls) {
      refuse("--url: API servers call webhooks by https:// alone");
    }
  }
  if (options.certificate.empty() != options.key.empty()) refuse("--tls-cert and --tls-key belong together");
  if (!options.authority.empty() && options.certificate.empty())
    refuse("--tls-ca: it vouches for the certificate of --tls-cert, which is not given");
  if (!options.secret.empty() && !options.certificate.empty())
    refuse("--tls-secret and --tls-cert: the certificate comes from one of them");
  if (options.given.contains("external-step"))
    refuse(
        "--external-step: lastout no longer simulates a database; leave the option out, and let "
        "spec.hold.external.reportedBy of a DeletionPolicy name where an outside controller reports what it "
        "did");
  checkRoles(problems, options);
  return problems;
}

tls::ServerNames namesOf(const ServeOptions& options) {
  tls::ServerNames names{{"localhost"}, {"127.0.0.1", "::1"}};
  if (!options.service.empty()) {
    const auto [namespaceName, name] = partsOf(options.service);
    names.hosts.push_back(name + "." + namespaceName + ".svc");
  }
  if (const auto url = client::parseServerAddress(options.url); url && !isLoopback(url->host))
    (isIpAddress(url->host) ? names.addresses : names.hosts).push_back(url->host);
  return names;
}

kube::Result<std::optional<server::WebhookAddress>> webhookOf(const ServeOptions& options,
                                                              const ListenAddress& listen,
                                                              const client::ServerAddress& cluster,
                                                              const std::string& authorities) {
  if (!options.manageWebhook) return std::nullopt;
  const server::Roles roles = rolesOf(options);
  if (!roles.controller) return server::WebhookAddress();
  server::WebhookAddress address;
  address.authorities = authorities;
  address.url = options.url;
  while (address.url.ends_with('/')) address.url.pop_back();
  const auto [namespaceName, name] = partsOf(options.service);
  address.serviceNamespace = namespaceName;
  address.serviceName = name;
  if (!address.url.empty() || !address.serviceName.empty()) return address;
  if (!roles.webhook)
    return tl::unexpected(kube::Error{
        "--roles controller has no listener; give --service or --url, by which API servers reach those that "
        "have the role webhook, or --manage-webhook=false",
        {},
        {}});
  // What API servers cannot call they take for a denial of everything that it covers.
  const bool isAny = listen.host == "0.0.0.0" || listen.host == "::";
  if (isAny || (isLoopback(listen.host) && !isLoopback(cluster.host)))
    return tl::unexpected(
        kube::Error{"the API server at " + toString(cluster) + " cannot call " + options.listen +
                        "; give --service or --url, by which it can, or --manage-webhook=false",
                    {},
                    {}});
  return address;
}

server::Requesters requestersOf(const ServeOptions& options) {
  server::Requesters requesters;
  requesters.controllers.insert(options.deferFor.begin(), options.deferFor.end());
  requesters.personsCount = !options.clientAuthority.empty();
  return requesters;
}

std::optional<server::CertificateSecretOptions> secretOf(const ServeOptions& options) {
  if (options.secret.empty()) return std::nullopt;
  server::CertificateSecretOptions secret;
  const auto [namespaceName, name] = partsOf(options.secret);
  secret.namespaceName = namespaceName;
  secret.name = name;
  secret.names = namesOf(options);
  secret.clock = [] { return int64_t{std::time(nullptr)}; };
  return secret;
}

}  // namespace lastout::cmd
