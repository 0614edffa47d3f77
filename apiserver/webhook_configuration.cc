// checkConfiguration: reads the webhooks of a configuration and words what is wrong with them.
#include <algorithm>
#include <optional>
#include <set>

#include "apiserver/webhook_url.h"
#include "apiserver/webhooks.h"
#include "kube/base64.h"
#include "kube/fields.h"
#include "kube/names.h"
#include "kube/quoting.h"

namespace lastout::apiserver {
namespace {

constexpr size_t kMostConditions = 64;  // of one webhook

// One webhook of the configuration, with the causes that its fields give.
class WebhookReader {
 public:
  WebhookReader(kube::Fields& fields, std::vector<Cause>& causes) : fields_(&fields), causes_(&causes) {}

  Webhook read();

 private:
  void required(const std::string& field, std::string_view why) {
    causes_->push_back({"FieldValueRequired",
                        why.empty() ? "Required value" : "Required value: " + std::string(why), field});
  }
  void wrong(const std::string& field, std::string_view value, std::string_view why) {
    causes_->push_back(
        {"FieldValueInvalid", "Invalid value: " + kube::inQuotes(value) + ": " + std::string(why), field});
  }
  void notSupported(const std::string& field, std::string_view value, std::string_view supported) {
    causes_->push_back(
        {"FieldValueNotSupported",
         "Unsupported value: " + kube::inQuotes(value) + ": supported values: " + std::string(supported),
         field});
  }

  void readName(Webhook& webhook);
  void readVersions();
  WebhookRule readRule(kube::Fields& fields);
  kube::LabelSelector readSelector(std::string_view key);
  void readConditions(Webhook& webhook);
  void readCondition(Webhook& webhook, kube::Fields& fields);
  void readPolicies(Webhook& webhook);
  void readTimeout(Webhook& webhook);
  WebhookAddress readAddress();
  void readUrl(WebhookAddress& address, const std::string& path);
  void readService(WebhookAddress& address, kube::Fields& service);
  void readAuthorities(WebhookAddress& address, kube::Fields& client);
  // A word that has to be one of two or three; `ifAbsent` when it is not there.
  std::string word(kube::Fields& fields, std::string_view key,
                   std::initializer_list<std::string_view> choices, std::string_view ifAbsent);

  kube::Fields* fields_;
  std::vector<Cause>* causes_;
};

std::string quotedList(std::initializer_list<std::string_view> words) {
  std::string list;
  for (const std::string_view each : words) list += (list.empty() ? "" : ", ") + kube::inQuotes(each);
  return list;
}

std::string WebhookReader::word(kube::Fields& fields, std::string_view key,
                                std::initializer_list<std::string_view> choices, std::string_view ifAbsent) {
  const auto given = fields.string(key);
  if (!given) return std::string(ifAbsent);
  if (std::find(choices.begin(), choices.end(), *given) == choices.end())
    notSupported(fields.pathOf(key), *given, quotedList(choices));
  return *given;
}

void WebhookReader::readName(Webhook& webhook) {
  webhook.name = fields_->string("name").value_or("");
  const std::string path = fields_->pathOf("name");
  if (webhook.name.empty()) {
    required(path, "");
  } else if (!kube::isDnsSubdomain(webhook.name)) {
    wrong(path, webhook.name,
          "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
          "characters, '-' or '.', and must start and end with an alphanumeric character");
  } else if (std::ranges::count(webhook.name, '.') < 2) {
    wrong(path, webhook.name, "should be a domain with at least three segments separated by dots");
  }
}

void WebhookReader::readVersions() {
  const auto versions = fields_->strings("admissionReviewVersions");
  const std::string path = fields_->pathOf("admissionReviewVersions");
  if (versions.empty()) {
    required(path, "must specify one of v1, v1beta1");
  } else if (std::ranges::find(versions, "v1") == versions.end()) {
    wrong(path, versions.front(), "must include at least one of v1");
  }
}

WebhookRule WebhookReader::readRule(kube::Fields& fields) {
  WebhookRule rule;
  const auto list = [this, &fields](std::string_view key) {
    auto words = fields.strings(key);
    if (words.empty()) required(fields.pathOf(key), "");
    return words;
  };
  rule.operations = list("operations");
  rule.groups = list("apiGroups");
  rule.versions = list("apiVersions");
  rule.resources = list("resources");
  rule.scope = word(fields, "scope", {"*", "Cluster", "Namespaced"}, "*");
  for (size_t i = 0; i < rule.operations.size(); ++i) {
    static const std::set<std::string, std::less<>> kKnown = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE"};
    if (!kKnown.contains(rule.operations[i]))
      notSupported(fields.pathOf("operations") + "[" + std::to_string(i) + "]", rule.operations[i],
                   R"("*", "CONNECT", "CREATE", "DELETE", "UPDATE")");
  }
  return rule;
}

kube::LabelSelector WebhookReader::readSelector(std::string_view key) {
  const kube::Value* given = fields_->map(key);
  if (given == nullptr) return {};
  auto selector = kube::parseSelector(*given, "");
  if (selector) return std::move(*selector);
  wrong(fields_->pathOf(key), "", selector.error().message);
  return {};
}

void WebhookReader::readCondition(Webhook& webhook, kube::Fields& fields) {
  const std::string name = fields.string("name").value_or("");
  const std::string text = fields.string("expression").value_or("");
  if (name.empty()) {
    required(fields.pathOf("name"), "");
  } else if (!kube::isQualifiedName(name)) {
    wrong(
        fields.pathOf("name"), name,
        "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "
        "alphanumeric character");
  } else if (std::ranges::find(webhook.matchConditions, name, &MatchCondition::name) !=
             webhook.matchConditions.end()) {
    causes_->push_back(
        {"FieldValueDuplicate", "Duplicate value: " + kube::inQuotes(name), fields.pathOf("name")});
  }
  if (text.find_first_not_of(" \t\n\r") == std::string::npos)
    return required(fields.pathOf("expression"), "");
  auto expression = CelExpression::compile(text);
  if (!expression)
    return wrong(fields.pathOf("expression"), text, "compilation failed: " + expression.error());
  webhook.matchConditions.push_back({name, std::move(*expression)});
}

void WebhookReader::readConditions(Webhook& webhook) {
  auto conditions = fields_->items("matchConditions");
  if (conditions.size() > kMostConditions) {
    causes_->push_back({"FieldValueTooMany",
                        "Too many: " + std::to_string(conditions.size()) + ": must have at most " +
                            std::to_string(kMostConditions) + " items",
                        fields_->pathOf("matchConditions")});
    return;
  }
  for (kube::Fields& condition : conditions) readCondition(webhook, condition);
}

void WebhookReader::readPolicies(Webhook& webhook) {
  webhook.failureIsIgnored = word(*fields_, "failurePolicy", {"Fail", "Ignore"}, "Fail") == "Ignore";
  word(*fields_, "matchPolicy", {"Equivalent", "Exact"}, "Equivalent");
  // In v1 there are no others, and so any webhook can be asked in a dry run.
  if (word(*fields_, "sideEffects", {"None", "NoneOnDryRun"}, "").empty())
    required(fields_->pathOf("sideEffects"), "must specify one of None, NoneOnDryRun");
  if (webhook.mutating) word(*fields_, "reinvocationPolicy", {"IfNeeded", "Never"}, "Never");
}

void WebhookReader::readTimeout(Webhook& webhook) {
  const int64_t seconds = fields_->integer("timeoutSeconds").value_or(10);
  if (seconds < 1 || seconds > 30) {
    causes_->push_back(
        {"FieldValueInvalid",
         "Invalid value: " + std::to_string(seconds) + ": the timeout value must be between 1 and 30 seconds",
         fields_->pathOf("timeoutSeconds")});
  } else {
    webhook.timeout = std::chrono::seconds(seconds);
  }
}

void WebhookReader::readUrl(WebhookAddress& address, const std::string& path) {
  if (const auto problem = webhookUrlProblem(address.url)) wrong(path, problem->value, problem->message);
}

void WebhookReader::readService(WebhookAddress& address, kube::Fields& service) {
  address.serviceNamespace = service.string("namespace").value_or("");
  address.serviceName = service.string("name").value_or("");
  address.servicePath = service.string("path").value_or("");
  const int64_t port = service.integer("port").value_or(443);
  if (address.serviceName.empty()) required(service.pathOf("name"), "service name is required");
  if (address.serviceNamespace.empty())
    required(service.pathOf("namespace"), "service namespace is required");
  if (!address.servicePath.empty() && !isUrlPath(address.servicePath))
    wrong(service.pathOf("path"), address.servicePath, "must be a URL path that starts with a '/'");
  if (port < 1 || port > 65535) {
    causes_->push_back({"FieldValueInvalid",
                        "Invalid value: " + std::to_string(port) +
                            ": port is not valid: must be between 1 and 65535, inclusive",
                        service.pathOf("port")});
  } else {
    address.servicePort = static_cast<int>(port);
  }
}

void WebhookReader::readAuthorities(WebhookAddress& address, kube::Fields& client) {
  const auto encoded = client.string("caBundle");
  if (!encoded || encoded->empty()) return;
  const auto decoded = kube::fromBase64(*encoded);
  if (!decoded) {
    client.fail("caBundle", client.pathOf("caBundle") + ": illegal base64 data");
  } else if (decoded->find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    wrong(client.pathOf("caBundle"), *encoded,
          "unable to load root certificates: unable to parse bytes as PEM block");
  } else {
    address.authorities = *decoded;
  }
}

WebhookAddress WebhookReader::readAddress() {
  WebhookAddress address;
  auto client = fields_->fields("clientConfig");
  const std::string path = fields_->pathOf("clientConfig");
  const bool hasUrl = client && client->has("url");
  if (!client || hasUrl == client->has("service")) {
    required(path, "exactly one of url or service is required");
    return address;
  }
  if (hasUrl) {
    address.url = client->string("url").value_or("");
    readUrl(address, client->pathOf("url"));
  } else if (auto service = client->fields("service")) {
    readService(address, *service);
  }
  readAuthorities(address, *client);
  return address;
}

Webhook WebhookReader::read() {
  Webhook webhook;
  readName(webhook);
  readVersions();
  for (kube::Fields& rule : fields_->items("rules")) webhook.rules.push_back(readRule(rule));
  webhook.namespaceSelector = readSelector("namespaceSelector");
  webhook.objectSelector = readSelector("objectSelector");
  readConditions(webhook);
  readPolicies(webhook);
  readTimeout(webhook);
  webhook.address = readAddress();
  return webhook;
}

}  // namespace

ApiResult<std::vector<Webhook>> checkConfiguration(const Json& configuration) {
  const std::string kind(stringAt(configuration, {"kind"}));
  const std::string name(stringAt(configuration, {"metadata", "name"}));
  kube::Errors errors;
  std::vector<Cause> causes;
  std::vector<Webhook> webhooks;
  const kube::Value value = kube::fromJson(configuration);
  kube::Fields fields(value, "", "", errors);
  std::set<std::string, std::less<>> names;
  for (kube::Fields& each : fields.items("webhooks")) {
    Webhook webhook = WebhookReader(each, causes).read();
    webhook.configuration = name;
    webhook.mutating = kind == "MutatingWebhookConfiguration";
    if (!webhook.name.empty() && !names.insert(webhook.name).second)
      causes.push_back(
          {"FieldValueDuplicate", "Duplicate value: " + kube::inQuotes(webhook.name), each.pathOf("name")});
    webhooks.push_back(std::move(webhook));
  }
  if (!errors.empty())
    return tl::unexpected(badRequest(kind + " in version \"v1\" cannot be handled as a " + kind + ": " +
                                     errors.front().message));
  if (!causes.empty()) return tl::unexpected(invalid(kind, "admissionregistration.k8s.io", name, causes));
  return webhooks;
}

}  // namespace lastout::apiserver
