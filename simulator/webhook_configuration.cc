// checkConfiguration: reads the webhooks of a configuration and words what is wrong with them.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "kube/encoding.h"
#include "kube/fields.h"
#include "kube/names.h"
#include "kube/well_known.h"
#include "net/sockets.h"
#include "simulator/match_resources.h"
#include "simulator/webhooks.h"

namespace lastout::simulator {
namespace {

// One webhook of the configuration, with the causes that its fields give.
class WebhookReader {
 public:
  WebhookReader(kube::Fields& fields, std::vector<StatusCause>& causes)
      : fields_(&fields), causes_(&causes), match_(causes) {}

  Webhook read();

 private:
  void readName(Webhook& webhook);
  void readVersions();
  void readPolicies(Webhook& webhook);
  void readTimeout(Webhook& webhook);
  WebhookEndpoint readAddress();
  void readUrl(WebhookEndpoint& address, const std::string& path);
  void readService(WebhookEndpoint& address, kube::Fields& service);
  void readAuthorities(WebhookEndpoint& address, kube::Fields& client);
  kube::Fields* fields_;
  std::vector<StatusCause>* causes_;
  MatchReader match_;
};

void WebhookReader::readName(Webhook& webhook) {
  webhook.name = fields_->string("name").value_or("");
  const std::string path = fields_->pathOf("name");
  if (webhook.name.empty()) {
    match_.required(path);
  } else if (!kube::isDnsSubdomain(webhook.name)) {
    match_.wrong(path, webhook.name,
                 "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric "
                 "characters, '-' or '.', and must start and end with an alphanumeric character");
  } else if (std::ranges::count(webhook.name, '.') < 2) {
    match_.wrong(path, webhook.name, "should be a domain with at least three segments separated by dots");
  }
}

void WebhookReader::readVersions() {
  const auto versions = fields_->strings("admissionReviewVersions");
  const std::string path = fields_->pathOf("admissionReviewVersions");
  if (versions.empty()) {
    match_.required(path, "must specify one of v1, v1beta1");
  } else if (std::ranges::find(versions, "v1") == versions.end()) {
    match_.wrong(path, versions.front(), "must include at least one of v1");
  }
}

void WebhookReader::readPolicies(Webhook& webhook) {
  webhook.failureIsIgnored = match_.word(*fields_, "failurePolicy", {"Fail", "Ignore"}, "Fail") == "Ignore";
  match_.word(*fields_, "matchPolicy", {"Equivalent", "Exact"}, "Equivalent");
  // In v1 there are no others, and so any webhook can be asked in a dry run.
  if (match_.word(*fields_, "sideEffects", {"None", "NoneOnDryRun"}, "").empty())
    match_.required(fields_->pathOf("sideEffects"), "must specify one of None, NoneOnDryRun");
  if (webhook.mutating) match_.word(*fields_, "reinvocationPolicy", {"IfNeeded", "Never"}, "Never");
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

void WebhookReader::readUrl(WebhookEndpoint& address, const std::string& path) {
  if (const auto problem = webhookUrlProblem(address.url))
    match_.wrong(path, problem->value, problem->message);
}

void WebhookReader::readService(WebhookEndpoint& address, kube::Fields& service) {
  address.serviceNamespace = service.string("namespace").value_or("");
  address.serviceName = service.string("name").value_or("");
  address.servicePath = service.string("path").value_or("");
  const int64_t port = service.integer("port").value_or(443);
  if (address.serviceName.empty()) match_.required(service.pathOf("name"), "service name is required");
  if (address.serviceNamespace.empty())
    match_.required(service.pathOf("namespace"), "service namespace is required");
  if (!address.servicePath.empty() && !isUrlPath(address.servicePath))
    match_.wrong(service.pathOf("path"), address.servicePath, "must be a URL path that starts with a '/'");
  if (port < 1 || port > 65535) {
    causes_->push_back({"FieldValueInvalid",
                        "Invalid value: " + std::to_string(port) +
                            ": port is not valid: must be between 1 and 65535, inclusive",
                        service.pathOf("port")});
  } else {
    address.servicePort = static_cast<int>(port);
  }
}

void WebhookReader::readAuthorities(WebhookEndpoint& address, kube::Fields& client) {
  const auto encoded = client.string("caBundle");
  if (!encoded || encoded->empty()) return;
  const auto decoded = kube::fromBase64(*encoded);
  if (!decoded) {
    client.fail("caBundle", client.pathOf("caBundle") + ": illegal base64 data");
  } else {
    address.authorities = *decoded;
    address.cannotTrust = decoded->find(kube::kPemCertificate) == std::string::npos;
  }
}

WebhookEndpoint WebhookReader::readAddress() {
  WebhookEndpoint address;
  auto client = fields_->fields("clientConfig");
  const std::string path = fields_->pathOf("clientConfig");
  const bool hasUrl = client && client->has("url");
  if (!client || hasUrl == client->has("service")) {
    match_.required(path, "exactly one of url or service is required");
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
  for (kube::Fields& rule : fields_->items("rules")) webhook.matches.rules.push_back(match_.readRule(rule));
  webhook.matches.namespaceSelector = match_.readSelector(*fields_, "namespaceSelector");
  webhook.matches.objectSelector = match_.readSelector(*fields_, "objectSelector");
  webhook.matchConditions = match_.readConditions(*fields_, {});
  readPolicies(webhook);
  readTimeout(webhook);
  webhook.address = readAddress();
  webhook.warnings = match_.warnings(webhook.failureIsIgnored);
  return webhook;
}

}  // namespace

ApiResult<std::vector<Webhook>> checkConfiguration(const Json& configuration) {
  const std::string kind(stringAt(configuration, {"kind"}));
  const std::string name(stringAt(configuration, {"metadata", "name"}));
  kube::Errors errors;
  std::vector<StatusCause> causes;
  std::vector<Webhook> webhooks;
  const kube::Value value = kube::fromJson(configuration);
  kube::Fields fields(value, "", "", errors);
  std::set<std::string, std::less<>> names;
  for (kube::Fields& each : fields.items("webhooks")) {
    Webhook webhook = WebhookReader(each, causes).read();
    webhook.configuration = name;
    webhook.mutating = kind == "MutatingWebhookConfiguration";
    if (!webhook.name.empty() && !names.insert(webhook.name).second)
      MatchReader(causes).duplicate(each.pathOf("name"), webhook.name);
    webhooks.push_back(std::move(webhook));
  }
  if (!errors.empty())
    return tl::unexpected(badRequest(kind + " in version \"v1\" cannot be handled as a " + kind + ": " +
                                     errors.front().message));
  if (!causes.empty()) return tl::unexpected(invalid(kind, kube::kAdmissionRegistrationGroup, name, causes));
  return webhooks;
}

namespace {

constexpr std::string_view kScheme = "https://";
constexpr std::string_view kDesired = "; desired format: https://host[/path]";

// What stands between the scheme and the path.
std::string_view authorityOf(std::string_view url) {
  const std::string_view rest = url.substr(kScheme.size());
  return rest.substr(0, rest.find_first_of("/?#"));
}

// "host:443", "[::1]"; nullopt: it is no such thing.
std::optional<WebhookUrl> hostAndPort(std::string_view authority) {
  auto parsed = net::parseHostPort(authority);
  if (!parsed) return std::nullopt;
  WebhookUrl url;
  url.host = std::move(parsed->host);
  url.port = parsed->port.value_or(443);
  return url;
}

}  // namespace

std::optional<WebhookUrlProblem> webhookUrlProblem(std::string_view url) {
  const auto problem = [](std::string_view value, std::string_view message, bool withForm) {
    return WebhookUrlProblem{std::string(value),
                             std::string(message) + std::string(withForm ? kDesired : "")};
  };
  if (!url.starts_with(kScheme)) {
    const size_t end = url.find("://");
    return problem(end == std::string_view::npos ? "" : url.substr(0, end),
                   "'https' is the only allowed URL scheme", true);
  }
  const std::string_view authority = authorityOf(url);
  if (authority.empty() || authority.front() == ':') return problem("", "host must be specified", true);
  const size_t user = authority.find('@');
  if (user != std::string_view::npos)
    return problem(authority.substr(0, user), "user information is not permitted in the URL", false);
  const size_t fragment = url.find('#');
  if (fragment != std::string_view::npos)
    return problem(url.substr(fragment + 1), "fragments are not permitted in the URL", false);
  const size_t query = url.find('?');
  if (query != std::string_view::npos)
    return problem(url.substr(query + 1), "query parameters are not permitted in the URL", false);
  const auto parts = hostAndPort(authority);
  const std::string_view path = url.substr(kScheme.size() + authority.size());
  if (!parts || (!path.empty() && !isUrlPath(path))) return problem(url, "url must be a valid URL", true);
  return std::nullopt;
}

std::optional<WebhookUrl> parseWebhookUrl(std::string_view url) {
  if (webhookUrlProblem(url)) return std::nullopt;
  const std::string_view authority = authorityOf(url);
  auto parts = hostAndPort(authority);
  if (parts) parts->path = url.substr(kScheme.size() + authority.size());
  return parts;
}

bool isUrlPath(std::string_view path) {
  return path.starts_with('/') && std::ranges::all_of(path, [](char character) {
           return character > ' ' && character < 0x7F && character != '?' && character != '#';
         });
}

}  // namespace lastout::simulator
