#include "server/webhook_configuration.h"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "criticalservice/critical_service.h"
#include "criticalservice/validation.h"
#include "kube/base64.h"
#include "kube/text_at.h"
#include "server/sentinel.h"

namespace lastout::server {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr size_t kPathBytes = 16;
constexpr int kReviewTimeout = 5;                                        // seconds
constexpr const char* kNameOfNamespace = "kubernetes.io/metadata.name";  // a label of every Namespace

Json rule(const std::vector<std::string>& operations, const std::string& group,
          std::vector<std::string> resources) {
  return {{"operations", operations},
          {"apiGroups", {group}},
          {"apiVersions", {"*"}},
          {"resources", std::move(resources)},
          {"scope", "*"}};
}

Json rule(const std::vector<std::string>& operations, const kube::GroupResource& type) {
  return rule(operations, type.group, {type.resource});
}

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

Json webhook(const WebhookConfiguration& configuration, const char* name, Json rules,
             Json namespaceSelector) {
  return webhookAt(configuration.address.reviewPath, configuration, name, std::move(rules),
                   std::move(namespaceSelector));
}

Json outside(const std::vector<std::string>& namespaces) {
  return {{"matchExpressions",
           Json::array({{{"key", kNameOfNamespace}, {"operator", "NotIn"}, {"values", namespaces}}})}};
}

// Of types such as Secrets, which whole clusters are full of, the API server asks only where something is
// needed. What is in no namespace matches every selector by namespace, also one that no namespace does: each
// has this label.
Json withinAny(const std::set<std::string>& namespaces) {
  Json expression = {{"key", kNameOfNamespace}, {"operator", namespaces.empty() ? "DoesNotExist" : "In"}};
  if (!namespaces.empty()) expression["values"] = namespaces;
  return {{"matchExpressions", Json::array({std::move(expression)})}};
}

// Deletions of what providers need. Nothing: none needs anything that is not reviewed everywhere.
std::optional<Json> webhookOfDependencies(const WebhookConfiguration& configuration) {
  std::set<kube::GroupResource> types = configuration.types.needed;
  for (const kube::GroupResource& type : configuration.types.everywhere()) types.erase(type);
  if (types.empty()) return std::nullopt;
  Json rules = Json::array();
  for (const kube::GroupResource& type : types) rules.push_back(rule({"DELETE"}, type));
  return webhook(configuration, "dependencies.lastout.dev", std::move(rules),
                 withinAny(configuration.types.neededIn));
}

// A selector by namespace looks at a Namespace's own labels, so Namespaces have a webhook of their own: that
// of lastout is to stay while there is a CriticalService.
Json reviewingWebhooks(const WebhookConfiguration& configuration) {
  const kube::GroupResource services = criticalservice::criticalServiceType();
  std::vector<std::string> excluded{std::string(criticalservice::kExcludedNamespace)};
  if (!configuration.ownNamespace.empty()) excluded.push_back(configuration.ownNamespace);
  Json deletions = Json::array();
  for (const kube::GroupResource& type : configuration.types.everywhere())
    deletions.push_back(rule({"DELETE"}, type));
  for (const kube::GroupResource& type : configuration.types.scaled)
    deletions.push_back(rule({"UPDATE"}, type.group, {type.resource, type.resource + "/scale"}));
  Json webhooks = Json::array(
      {webhook(configuration, "criticalservices.lastout.dev",
               Json::array({rule({"CREATE", "UPDATE"}, services)}), Json::object()),
       webhook(configuration, "deletions.lastout.dev", std::move(deletions), outside(excluded)),
       webhook(configuration, "namespaces.lastout.dev", Json::array({rule({"DELETE"}, {"", "namespaces"})}),
               outside({std::string(criticalservice::kExcludedNamespace)}))});
  if (auto dependencies = webhookOfDependencies(configuration)) webhooks.push_back(std::move(*dependencies));
  return webhooks;
}

Json webhookOfSentinel(const WebhookConfiguration& configuration, const std::string& fingerprint) {
  SentinelWebhook sentinel = sentinelWebhook();
  Json made = webhookAt(std::string(kProbePath) + fingerprint, configuration, kSentinelWebhookName,
                        Json::array({std::move(sentinel.rule)}), std::move(sentinel.namespaceSelector));
  made["objectSelector"] = std::move(sentinel.objectSelector);
  return made;
}

// The first so many bytes of its digest, in hexadecimal.
std::string digestOf(std::string_view text, size_t bytes) {
  std::array<unsigned char, 32> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string digits;
  for (size_t i = 0; i < bytes; ++i) (digits += kHexDigits[digest[i] >> 4U]) += kHexDigits[digest[i] & 15U];
  return digits;
}

std::string fingerprintOfAll(const WebhookConfiguration& configuration, const Json& reviewing) {
  return digestOf(reviewing.dump() + webhookOfSentinel(configuration, "").dump(), 8);
}

Json webhooksOf(const WebhookConfiguration& configuration) {
  Json webhooks = reviewingWebhooks(configuration);
  const std::string fingerprint = fingerprintOfAll(configuration, webhooks);
  webhooks.push_back(webhookOfSentinel(configuration, fingerprint));
  return webhooks;
}

// So that nothing dead keeps namespaces from being deleted when lastout's own goes.
Json ownersOf(const WebhookConfiguration& configuration) {
  if (configuration.types.ownNamespaceUid.empty()) return Json::array();
  return Json::array({{{"apiVersion", "v1"},
                       {"kind", "Namespace"},
                       {"name", configuration.ownNamespace},
                       {"uid", configuration.types.ownNamespaceUid}}});
}

Json valueAt(const kube::Value& object, std::initializer_list<std::string_view> path) {
  const kube::Value* value = object.at(path);
  return value == nullptr ? Json::array() : Json::parse(kube::toJson(*value).dump(), nullptr, false);
}

// Empty where there is no list.
kube::Value::List listAt(const kube::Value& object, std::initializer_list<std::string_view> path) {
  const kube::Value* value = object.at(path);
  return value == nullptr || value->asList() == nullptr ? kube::Value::List() : *value->asList();
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

std::string reviewPathOf(std::string_view privateKey) {
  return std::string(kReviewPath) + "/" +
         digestOf("lastout, the path of reviews\n" + std::string(privateKey), kPathBytes);
}

bool isSecretPath(std::string_view path) {
  if (!path.starts_with(kReviewPath)) return false;
  path.remove_prefix(kReviewPath.size());
  return path.size() == 1 + 2 * kPathBytes && path.starts_with('/') &&
         path.find_first_not_of(kHexDigits, 1) == std::string_view::npos;
}

Json toJson(const WebhookConfiguration& configuration, const std::string& resourceVersion) {
  Json object = {{"apiVersion", "admissionregistration.k8s.io/v1"},
                 {"kind", "ValidatingWebhookConfiguration"},
                 {"metadata", {{"name", configuration.name}}},
                 {"webhooks", webhooksOf(configuration)}};
  if (Json owners = ownersOf(configuration); !owners.empty() || !resourceVersion.empty())
    object["metadata"]["ownerReferences"] = std::move(owners);
  if (!resourceVersion.empty()) object["metadata"]["resourceVersion"] = resourceVersion;
  return object;
}

std::string fingerprintOf(const WebhookConfiguration& configuration) {
  return fingerprintOfAll(configuration, reviewingWebhooks(configuration));
}

bool asksFor(const kube::Value& object, const WebhookConfiguration& configuration) {
  return valueAt(object, {"webhooks"}) == webhooksOf(configuration) &&
         valueAt(object, {"metadata", "ownerReferences"}) == ownersOf(configuration);
}

std::string homeOf(const kube::Value& object) {
  for (const kube::Value& owner : listAt(object, {"metadata", "ownerReferences"})) {
    if (kube::textAt(owner, {"kind"}) == "Namespace") return kube::textAt(owner, {"name"});
  }
  for (const kube::Value& webhook : listAt(object, {"webhooks"})) {
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
