// checkConfiguration: reads the webhooks of a configuration and words what is wrong with them.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "kube/encoding.h"
#include "kube/fields.h"
#include "kube/well_known.h"
#include "net/sockets.h"
#include "simulator/match_resources.h"
#include "simulator/webhooks.h"

namespace lastout::simulator {
namespace {

// One webhook of the configuration, with the causes that its fields give.
class WebhookReader {
 public:
  WebhookReader(kube::Fields& fields, std::vector<StatusCause>& causes) : fields_(&fields), match_(causes) {}

  Webhook read();

 private:
  void readName(Webhook& webhook);
  void readVersions();
  void readPolicies(Webhook& webhook);
  void readTimeout(Webhook& webhook);
  WebhookEndpoint readAddress();
  void readUrl(WebhookEndpoint& address, const std::string& path);
  void readService(WebhookEndpoint& address, kube::Fields& service);
  void readServicePath(std::string_view path, const std::string& field);
  void readAuthorities(WebhookEndpoint& address, kube::Fields& client);
  kube::Fields* fields_;
  MatchReader match_;
};

void WebhookReader::readName(Webhook& webhook) {
  webhook.name = fields_->string("name").value_or("");
  const std::string path = fields_->pathOf("name");
  if (webhook.name.empty()) {
    match_.add(requiredField(path));
  } else if (const auto problems = subdomainProblems(webhook.name); !problems.empty()) {
    match_.add(invalidField(path, webhook.name, problems.back()));
  } else if (std::ranges::count(webhook.name, '.') < 2) {
    match_.add(invalidField(path, webhook.name,
                            "should be a domain with at least three segments separated by dots"));
  }
}

void WebhookReader::readVersions() {
  const auto versions = fields_->strings("admissionReviewVersions");
  const std::string path = fields_->pathOf("admissionReviewVersions");
  if (versions.empty()) match_.add(requiredField(path, "must specify one of v1, v1beta1"));
  bool isKnown = versions.empty();
  std::set<std::string_view> seen;
  for (size_t i = 0; i < versions.size(); ++i) {
    const std::string place = path + "[" + std::to_string(i) + "]";
    if (!seen.insert(versions[i]).second) {
      match_.add(invalidField(place, versions[i], "duplicate version"));
      continue;
    }
    for (const std::string& problem : dns1035LabelProblems(versions[i]))
      match_.add(invalidField(place, versions[i], problem));
    isKnown = isKnown || versions[i] == "v1" || versions[i] == "v1beta1";
  }
  if (!isKnown) match_.add(invalidField(path, versions, "must include at least one of v1, v1beta1"));
}

void WebhookReader::readPolicies(Webhook& webhook) {
  webhook.failureIsIgnored = match_.word(*fields_, "failurePolicy", {"Fail", "Ignore"}, "Fail") == "Ignore";
  match_.word(*fields_, "matchPolicy", {"Equivalent", "Exact"}, "Equivalent");
  // In v1 there are no others, and so any webhook can be asked in a dry run.
  if (match_.word(*fields_, "sideEffects", {"None", "NoneOnDryRun"}, "").empty())
    match_.add(requiredField(fields_->pathOf("sideEffects"), "must specify one of None, NoneOnDryRun"));
}

void WebhookReader::readTimeout(Webhook& webhook) {
  const int64_t seconds = fields_->integer("timeoutSeconds").value_or(10);
  if (seconds < 1 || seconds > 30) {
    match_.add(invalidField(fields_->pathOf("timeoutSeconds"), seconds,
                            "the timeout value must be between 1 and 30 seconds"));
  } else {
    webhook.timeout = std::chrono::seconds(seconds);
  }
}

void WebhookReader::readUrl(WebhookEndpoint& address, const std::string& path) {
  for (const WebhookUrlProblem& problem : webhookUrlProblems(address.url))
    match_.add(problem.isUnreadable ? requiredField(path, problem.message)
                                    : invalidField(path, problem.value, problem.message));
}

void WebhookReader::readService(WebhookEndpoint& address, kube::Fields& service) {
  address.serviceNamespace = service.string("namespace").value_or("");
  address.serviceName = service.string("name").value_or("");
  address.servicePath = service.string("path").value_or("");
  const int64_t port = service.integer("port").value_or(443);
  if (address.serviceName.empty())
    match_.add(requiredField(service.pathOf("name"), "service name is required"));
  if (address.serviceNamespace.empty())
    match_.add(requiredField(service.pathOf("namespace"), "service namespace is required"));
  if (port < 1 || port > 65535)
    match_.add(invalidField(service.pathOf("port"), port,
                            "port is not valid: must be between 1 and 65535, inclusive"));
  else
    address.servicePort = static_cast<int>(port);
  readServicePath(address.servicePath, service.pathOf("path"));
}

// Each segment is a DNS subdomain; a slash may end the path.
void WebhookReader::readServicePath(std::string_view path, const std::string& field) {
  if (path.empty() || path == "/") return;
  const auto wrong = [&](const std::string& why) { match_.add(invalidField(field, path, why)); };
  if (path == "//") return wrong("segment[0] may not be empty");
  if (!path.starts_with('/')) wrong("must start with a '/'");
  std::string_view rest = path.substr(1);
  if (rest.ends_with('/')) rest.remove_suffix(1);
  for (size_t i = 0;; ++i) {
    const size_t end = std::min(rest.find('/'), rest.size());
    const std::string segment = "segment[" + std::to_string(i) + "]";
    if (end == 0) wrong(segment + " may not be empty");
    for (const std::string& problem :
         end == 0 ? std::vector<std::string>() : subdomainProblems(rest.substr(0, end)))
      wrong(segment + ": " + problem);
    if (end == rest.size()) return;
    rest.remove_prefix(end + 1);
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
    match_.add(requiredField(path, "exactly one of url or service is required"));
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
  for (kube::Fields& rule : fields_->items("rules")) webhook.matches.rules.push_back(match_.readRule(rule));
  readPolicies(webhook);
  readTimeout(webhook);
  webhook.matches.namespaceSelector = match_.readSelector(*fields_, "namespaceSelector");
  webhook.matches.objectSelector = match_.readSelector(*fields_, "objectSelector");
  match_.word(*fields_, "reinvocationPolicy", {"IfNeeded", "Never"}, "Never");  // of mutating ones
  webhook.address = readAddress();
  webhook.matchConditions = match_.readConditions(*fields_, {.hasAuthorizer = true, .asksAuthorizer = false});
  readVersions();
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
      causes.push_back(duplicateField(each.pathOf("name"), webhook.name));
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

bool hasNoSpace(std::string_view text) {
  return std::ranges::all_of(text, [](char character) { return character > ' ' && character < 0x7F; });
}

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

std::vector<WebhookUrlProblem> webhookUrlProblems(std::string_view url) {
  std::vector<WebhookUrlProblem> problems;
  const auto add = [&problems](std::string_view value, std::string_view message, bool withForm) {
    problems.push_back({std::string(value), std::string(message) + std::string(withForm ? kDesired : "")});
  };
  const size_t colon = url.find("://");
  const std::string_view scheme = url.substr(0, colon == std::string_view::npos ? 0 : colon);
  const std::string_view rest = colon == std::string_view::npos ? url : url.substr(colon + 3);
  std::string_view authority =
      colon == std::string_view::npos ? "" : rest.substr(0, rest.find_first_of("/?#"));
  const std::string_view path = rest.substr(authority.size());
  const size_t user = authority.find('@');
  const std::string_view host = user == std::string_view::npos ? authority : authority.substr(user + 1);
  if ((!host.empty() && host.front() != ':' && !hostAndPort(host)) || !hasNoSpace(path)) {
    add(url, "url must be a valid URL", true);
    problems.back().isUnreadable = true;
    return problems;
  }
  if (scheme != "https") add(scheme, "'https' is the only allowed URL scheme", true);
  if (host.empty() || host.front() == ':') add("", "host must be specified", true);
  if (user != std::string_view::npos)
    add(authority.substr(0, user), "user information is not permitted in the URL", false);
  const size_t fragment = std::min(path.find('#'), path.size());
  const size_t query = path.substr(0, fragment).find('?');
  if (fragment + 1 < path.size())
    add(path.substr(fragment + 1), "fragments are not permitted in the URL", false);
  if (query != std::string_view::npos && query + 1 < fragment)
    add(path.substr(query + 1, fragment - query - 1), "query parameters are not permitted in the URL", false);
  return problems;
}

std::optional<WebhookUrl> parseWebhookUrl(std::string_view url) {
  if (!webhookUrlProblems(url).empty()) return std::nullopt;
  const std::string_view authority = authorityOf(url);
  auto parts = hostAndPort(authority);
  const std::string_view rest = url.substr(kScheme.size() + authority.size());
  if (parts) parts->path = rest.substr(0, rest.find_first_of("?#"));
  return parts;
}

}  // namespace lastout::simulator
