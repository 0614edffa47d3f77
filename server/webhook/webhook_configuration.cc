#include "server/webhook/webhook_configuration.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "kube/encoding.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "server/webhook/sentinel.h"
#include "server/webhook/webhook_entries.h"
#include "tls/openssl.h"

namespace lastout::server {
namespace {

using kube::Json;

constexpr size_t kPathBytes = 16;
constexpr int kReviewTimeout = 5;  // seconds
constexpr size_t kFingerprintBytes = 8;
constexpr size_t kMostBytes = 1'000'000;  // of the webhooks; an API server stores objects of 1.5 MB

Json clientConfig(const WebhookAddress& address, const std::string& path) {
  Json config = {{"caBundle", kube::toBase64(address.authorities)}};
  if (address.url.empty()) {
    config["service"] = {{"namespace", address.serviceNamespace},
                         {"name", address.serviceName},
                         {"path", path},
                         {"port", address.servicePort}};
  } else {
    config["url"] = address.url + path;
  }
  return config;
}

Json webhookAt(const std::string& path, const WebhookConfiguration& configuration, const char* name,
               Json rules, Json namespaceSelector) {
  return {{"name", name},
          {"admissionReviewVersions", {"v1"}},
          {"clientConfig", clientConfig(configuration.address, path)},
          {"failurePolicy", configuration.auditOnly ? "Ignore" : "Fail"},
          {"matchPolicy", "Equivalent"},
          {"namespaceSelector", std::move(namespaceSelector)},
          {"objectSelector", Json::object()},
          {"rules", std::move(rules)},
          {"sideEffects", "NoneOnDryRun"},
          {"timeoutSeconds", kReviewTimeout}};
}

// `whole`: nullopt: of all types.
std::vector<WebhookEntry> entriesOf(const WebhookConfiguration& configuration,
                                    const std::optional<Places>& whole) {
  const ReviewedObjects& objects = configuration.objects;
  const std::string& ownNamespace = configuration.ownNamespace;
  std::vector<WebhookEntry> entries =
      whole ? entriesByObject(objects, ownNamespace, *whole) : entriesByType(objects, ownNamespace);
  const bool withConditions = configuration.scope != WebhookScope::Types;
  for (WebhookEntry& entry : entriesOfPolicies(objects, entries, withConditions))
    entries.push_back(std::move(entry));
  entries.push_back(entryOfPolicyWrites());
  return entries;
}

Json reviewingWebhooks(const WebhookConfiguration& configuration, const std::optional<Places>& whole) {
  Json webhooks = Json::array();
  for (WebhookEntry& entry : entriesOf(configuration, whole)) {
    Json webhook = webhookAt(configuration.address.reviewPath, configuration, entry.name.c_str(),
                             std::move(entry.rules), std::move(entry.namespaceSelector));
    webhook["objectSelector"] = std::move(entry.objectSelector);
    if (!entry.failsClosed) webhook["failurePolicy"] = "Ignore";
    if (!entry.condition.empty())
      webhook["matchConditions"] =
          Json::array({{{"name", "guarded"}, {"expression", std::move(entry.condition)}}});
    webhooks.push_back(std::move(webhook));
  }
  return webhooks;
}

struct ReviewingWebhooks {
  WebhookScope scope = WebhookScope::Objects;
  Json webhooks;
};

// The narrowest of which the API server stores the webhooks; the widest takes no room that grows.
ReviewingWebhooks reviewingWebhooks(const WebhookConfiguration& configuration) {
  Places whole;
  while (configuration.scope != WebhookScope::Types) {
    Json webhooks = reviewingWebhooks(configuration, whole);
    const size_t bytes = webhooks.dump().size();
    if (bytes <= kMostBytes)
      return {whole.empty() ? WebhookScope::Objects : WebhookScope::Namespaces, std::move(webhooks)};
    Places wider = configuration.objects.wider(whole, bytes - kMostBytes);
    if (wider.size() == whole.size()) break;
    whole = std::move(wider);
  }
  return {WebhookScope::Types, reviewingWebhooks(configuration, std::nullopt)};
}

Json webhookOfSentinel(const WebhookConfiguration& configuration, const std::string& fingerprint) {
  SentinelWebhook sentinel = sentinelWebhook();
  Json made = webhookAt(std::string(kProbePath) + fingerprint, configuration, kSentinelWebhookName,
                        Json::array({std::move(sentinel.rule)}), std::move(sentinel.namespaceSelector));
  made["objectSelector"] = std::move(sentinel.objectSelector);
  return made;
}

Json withoutConditions(Json webhooks) {
  for (Json& webhook : webhooks) webhook.erase("matchConditions");
  return webhooks;
}

// So that nothing dead keeps namespaces from being deleted when lastout's own goes.
Json ownersOf(const WebhookConfiguration& configuration) {
  if (configuration.objects.ownNamespaceUid.empty()) return Json::array();
  return Json::array({{{"apiVersion", "v1"},
                       {"kind", "Namespace"},
                       {"name", configuration.ownNamespace},
                       {"uid", configuration.objects.ownNamespaceUid}}});
}

Json valueAt(const kube::Value& object, std::initializer_list<std::string_view> path) {
  const kube::Value* value = object.at(path);
  return value == nullptr ? Json::array() : kube::toSortedJson(*value);
}

// Of a webhook: of its Service, or in its URL.
std::string pathOf(const kube::Value& webhook) {
  const std::string& path = kube::textAt(webhook, {"clientConfig", "service", "path"});
  if (!path.empty()) return path;
  const std::string& url = kube::textAt(webhook, {"clientConfig", "url"});
  const size_t host = url.find("://");
  const size_t begin = host == std::string::npos ? host : url.find('/', host + 3);
  return begin == std::string::npos ? "" : url.substr(begin);
}

}  // namespace

std::string reviewPathOf(std::string_view privateKey, std::string_view seed) {
  return std::string(kReviewPath) + "/" +
         tls::digestOf("lastout, the path of reviews\n" + std::string(privateKey).append(seed), kPathBytes);
}

bool isSecretPath(std::string_view path) {
  if (!path.starts_with(kReviewPath)) return false;
  path.remove_prefix(kReviewPath.size());
  return path.size() == 1 + 2 * kPathBytes && path.starts_with('/') &&
         path.find_first_not_of(kube::kHexDigits, 1) == std::string_view::npos;
}

DeclaredWebhooks declaredIn(const kube::Value& object) {
  return {valueAt(object, {"webhooks"}), valueAt(object, {"metadata", "ownerReferences"})};
}

MadeWebhooks makeWebhooks(const WebhookConfiguration& configuration) {
  ReviewingWebhooks reviewing = reviewingWebhooks(configuration);
  std::string fingerprint = tls::digestOf(
      reviewing.webhooks.dump() + webhookOfSentinel(configuration, "").dump(), kFingerprintBytes);
  reviewing.webhooks.push_back(webhookOfSentinel(configuration, fingerprint));
  return {{std::move(reviewing.webhooks), ownersOf(configuration)}, std::move(fingerprint), reviewing.scope};
}

Json toJson(const std::string& name, const DeclaredWebhooks& declared, const kube::Labels& labels,
            const std::string& resourceVersion) {
  Json object = {{"apiVersion", kube::kAdmissionRegistrationApiVersion},
                 {"kind", "ValidatingWebhookConfiguration"},
                 {"metadata", {{"name", name}}},
                 {"webhooks", declared.webhooks}};
  for (const auto& [key, value] : labels) object["metadata"]["labels"][key] = value;
  if (!declared.owners.empty() || !resourceVersion.empty())
    object["metadata"]["ownerReferences"] = declared.owners;
  if (!resourceVersion.empty()) object["metadata"]["resourceVersion"] = resourceVersion;
  return object;
}

Json toJson(const WebhookConfiguration& configuration) {
  return toJson(configuration.name, makeWebhooks(configuration).declared, configuration.labels);
}

bool hasLabels(const kube::Value& object, const kube::Labels& labels) {
  return std::ranges::all_of(labels, [&](const auto& label) {
    const kube::Value* found = object.at({"metadata", "labels", label.first});
    return found != nullptr && found->asString() != nullptr && *found->asString() == label.second;
  });
}

bool lacksConditions(const DeclaredWebhooks& standing, const DeclaredWebhooks& made) {
  const Json bare = withoutConditions(made.webhooks);
  return bare != made.webhooks && standing.webhooks == bare;
}

std::string homeOf(const kube::Value& object) {
  for (const kube::Value& owner : kube::listAt(object, {"metadata", "ownerReferences"})) {
    if (kube::textAt(owner, {"kind"}) == "Namespace") return kube::textAt(owner, {"name"});
  }
  for (const kube::Value& webhook : kube::listAt(object, {"webhooks"})) {
    const std::string& home = kube::textAt(webhook, {"clientConfig", "service", "namespace"});
    if (!home.empty()) return home;
  }
  return "";
}

std::string reviewPathIn(const kube::Value& object) {
  const kube::Value* webhooks = object.find("webhooks");
  if (webhooks == nullptr || webhooks->asList() == nullptr) return "";
  for (const kube::Value& webhook : *webhooks->asList()) {
    const std::string path = pathOf(webhook);  // of a URL a proxy may take a part off
    if (const size_t begin = path.rfind(kReviewPath); begin != std::string::npos) return path.substr(begin);
  }
  return "";
}

bool namesAuthorities(const kube::Value& object, const std::string& authorities) {
  const kube::Value* webhooks = object.find("webhooks");
  if (webhooks == nullptr || webhooks->asList() == nullptr || webhooks->asList()->empty()) return false;
  return std::ranges::all_of(*webhooks->asList(), [&](const kube::Value& webhook) {
    const auto bundle = kube::fromBase64(kube::textAt(webhook, {"clientConfig", "caBundle"}));
    return bundle && bundle->find(authorities) != std::string::npos;
  });
}

}  // namespace lastout::server
