#include "server/question_server.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "client/connection.h"
#include "kube/encoding.h"
#include "kube/messages.h"
#include "net/log_limiter.h"
#include "net/sockets.h"

namespace lastout::server {
namespace {

using admission::GraphQuestion;
using net::HttpRequest;
using net::HttpResponse;

constexpr const char* kPlainText = "text/plain; charset=utf-8";
constexpr uint32_t kDeepest = 1'000'000;
constexpr size_t kMostDrawn = 10'000;  // objects and conditions in one answer

HttpResponse said(int status, const std::string& text) { return {status, kPlainText, text + "\n", {}}; }

// The parameters of a query, one by one; what is wrong with the first bad one is kept.
class Parameters {
 public:
  Parameters(std::string_view query, std::vector<std::string_view> known) {
    auto parsed = kube::parseQuery(query);
    if (!parsed) {
      problem_ = parsed.error().message;
      return;
    }
    query_ = std::move(*parsed);
    for (const auto& [name, value] : query_) {
      if (std::ranges::find(known, name) != known.end()) continue;
      problem_ = "there is no parameter " + kube::inQuotes(name) + kube::didYouMean(name, known);
      return;
    }
  }

  bool has(std::string_view name) const { return query_.find(name) != query_.end(); }
  std::string text(std::string_view name) const {
    const auto found = query_.find(name);
    return found == query_.end() ? std::string() : found->second;
  }
  uint64_t number(std::string_view name, uint64_t otherwise, uint64_t least, uint64_t most) {
    if (!has(name)) return otherwise;
    const std::string given = text(name);
    const char* const end = given.data() + given.size();
    uint64_t number = 0;
    const auto [stop, failed] = std::from_chars(given.data(), end, number);
    if (failed == std::errc() && stop == end && number >= least && number <= most) return number;
    fail(std::string(name) + " is " + kube::inQuotes(given) + "; it has to be a number from " +
         std::to_string(least) + " to " + std::to_string(most));
    return otherwise;
  }
  bool flag(std::string_view name) {
    const std::string given = has(name) ? text(name) : "false";
    if (given != "true" && given != "false")
      fail(std::string(name) + " is " + kube::inQuotes(given) + "; it has to be true or false");
    return given == "true";
  }
  void fail(std::string problem) {
    if (problem_.empty()) problem_ = std::move(problem);
  }
  const std::string& problem() const { return problem_; }  // empty: none

 private:
  kube::Query query_;
  std::string problem_;
};

HttpResponse unanswered(const admission::Unanswered& why) {
  return said(why.isMissing ? 404 : 400, why.message);
}

struct DrawingFormat {
  std::string_view name;
  GraphQuestion::Format format;
  const char* contentType;
};
constexpr DrawingFormat kFormats[] = {
    {"json", GraphQuestion::Format::Json, "application/json"},
    {"dot", GraphQuestion::Format::Dot, "text/vnd.graphviz; charset=utf-8"},
    {"mermaid", GraphQuestion::Format::Mermaid, kPlainText},
};

// The value of the header Host says "localhost:9090", "[::1]:9090", or nothing.
bool isByLoopback(const std::string& header) {
  if (header.empty()) return true;
  const auto parsed = net::parseHostPort(header);
  return parsed && (parsed->host == "localhost" || net::isLoopback(parsed->host));
}

// "namespaces: Synced, 12 objects"
std::string standingText(const TypeStanding& standing) {
  return toString(standing.type) + ": " + std::string(graph::toString(standing.knowledge)) + ", " +
         std::to_string(standing.objects) + (standing.objects == 1 ? " object" : " objects") +
         (standing.why.empty() ? "" : " (" + standing.why + ")") + "\n";
}

// All that /readyz does not tell strangers.
std::string standingText(const GaugeValues& now) {
  std::string text = now.health.isReady() ? "ready\n" : "not ready\n";
  if (!now.health.knowsCluster) text += "too little of the cluster is known yet\n";
  if (!now.health.hasCertificate) text += "the certificate in the Secret is missing, or cannot be used\n";
  if (now.health.isEnding) text += "it is about to end\n";
  if (now.webhookInForce && !*now.webhookInForce) text += "the API server does not ask lastout yet\n";
  for (const TypeStanding& type : now.types) text += standingText(type);
  return text;
}

// What policies say of the object that the reference means, followed or not.
void addProtections(admission::KnownCluster& cluster, const std::string& reference,
                    const ProtectionsOf& protections) {
  const auto key = admission::keyOf(cluster, reference);
  const kube::ResourceType* type = key ? cluster.types.find(key->type) : nullptr;
  if (type == nullptr) return;
  CurrentProtections now = protections(*type, *key);
  cluster.protections.emplace(*key, std::move(now.denials));
  const auto known = cluster.graph.findNamed(*key);
  const bool isFollowed = known && cluster.graph.isPresent(*known);
  if (now.object && !isFollowed) cluster.graph.upsert(cluster.graph.internType(key->type), *now.object);
}

AuthorizationOptions loggedBy(AuthorizationOptions options, LogSink log) {
  options.log = std::move(log);
  return options;
}

}  // namespace

admission::KnownCluster copyOf(const LiveView& view) {
  admission::KnownCluster copy;
  view.inspect([&](const admission::ClusterView& known, const kube::ResourceMap& types) {
    copy = admission::KnownCluster(known.graph().snapshot(), known.guards(), types);
    copy.annotated = known.annotated();
  });
  return copy;
}

HttpResponse graphAnswer(const LiveView& view, std::string_view query) {
  Parameters parameters(query, {"format", "focus", "depth", "limit", "blocked", "namespace"});
  GraphQuestion question;
  question.focus = parameters.text("focus");
  question.namespaceName = parameters.text("namespace");
  question.depth = static_cast<uint32_t>(parameters.number("depth", question.depth, 0, kDeepest));
  question.limit = parameters.number("limit", question.limit, 1, kMostDrawn);
  question.blocked = parameters.flag("blocked");
  if (parameters.has("depth") && question.focus.empty())
    parameters.fail("depth is how far from a focus; give focus, too");
  const std::string name = parameters.has("format") ? parameters.text("format") : "json";
  const auto* const format = std::ranges::find(kFormats, name, &DrawingFormat::name);
  if (format == std::end(kFormats))
    parameters.fail("format is " + kube::inQuotes(name) + "; it has to be json, dot or mermaid");
  if (!parameters.problem().empty()) return said(400, parameters.problem());
  question.format = format->format;
  auto text = admission::drawn(copyOf(view), question);
  if (!text) return unanswered(text.error());
  return {200, format->contentType, std::move(*text), {}};
}

HttpResponse whyAnswer(const LiveView& view, std::string_view query, WallTime now,
                       const ProtectionsOf& protections) {
  Parameters parameters(query, {"ref", "format"});
  const std::string format = parameters.has("format") ? parameters.text("format") : "json";
  if (format != "json" && format != "text")
    parameters.fail("format is " + kube::inQuotes(format) + "; it has to be json or text");
  if (parameters.text("ref").empty())
    parameters.fail("ref is missing: name an object, as in /why?ref=deployments.apps/shop/web");
  if (!parameters.problem().empty()) return said(400, parameters.problem());
  admission::KnownCluster cluster = copyOf(view);
  cluster.now = std::chrono::floor<std::chrono::seconds>(now);
  const std::string reference = parameters.text("ref");
  if (protections) addProtections(cluster, reference, protections);
  const auto why = admission::whyOf(cluster, reference);
  if (!why) return unanswered(why.error());
  if (format == "text") return {200, kPlainText, toText(*why), {}};
  return {200, "application/json", toJson(*why), {}};
}

std::vector<net::HttpRoute> healthRoutes(std::function<Health()> health) {
  const auto ready = [health = std::move(health)](const HttpRequest&) {
    const Health now = health();
    if (now.isReady()) return said(200, "ready");
    return said(503, std::string("not ready:") + (now.knowsCluster ? "" : " cluster") +
                         (now.hasCertificate ? "" : " certificate") + (now.isEnding ? " ending" : ""));
  };
  std::vector<net::HttpRoute> routes;
  routes.push_back({"GET", "/livez", {}, [](const HttpRequest&) { return said(200, "ok"); }, true, true});
  routes.push_back({"GET", "/readyz", {}, ready, true, true});
  return routes;
}

QuestionServer::QuestionServer(const std::shared_ptr<client::Access>& access,
                               const QuestionServerOptions& options, QuestionSources sources)
    : sources_(std::move(sources)),
      httpOptions_(options.http),
      authorization_(access, loggedBy(options.authorization, sources_.log)) {
  httpOptions_.plain = net::isLoopback(httpOptions_.address);
  httpOptions_.identity.clientCa.clear();  // whoever has a token may ask
}

QuestionServer::~QuestionServer() { stop(std::chrono::milliseconds(0)); }

kube::Result<std::unique_ptr<QuestionServer>> QuestionServer::open(
    const std::shared_ptr<client::Access>& access, const QuestionServerOptions& options,
    QuestionSources sources) {
  std::unique_ptr<QuestionServer> answers(new QuestionServer(access, options, std::move(sources)));
  const auto log = [raw = answers.get()](const net::HttpEvent& event) {
    raw->sources_.log(Level::Warning, toString(event));
  };
  auto http = net::HttpServer::open(answers->httpOptions_, answers->routes(), net::limited(log, {}));
  if (!http) return tl::unexpected(std::move(http.error()));
  answers->http_ = std::move(*http);
  return answers;
}

std::vector<net::HttpRoute> QuestionServer::routes() {
  std::vector<net::HttpRoute> routes = healthRoutes(sources_.health);
  routes.push_back(route("/readyz/verbose", [this](const HttpRequest&) {
    const GaugeValues now = sources_.standing();
    return HttpResponse{now.health.isReady() ? 200 : 503, kPlainText, standingText(now), {}};
  }));
  routes.push_back(route("/metrics", [this](const HttpRequest&) {
    return HttpResponse{200, Metrics::kContentType, sources_.metrics.text(sources_.standing()), {}};
  }));
  routes.push_back(route(
      "/graph", [this](const HttpRequest& request) { return graphAnswer(sources_.view, request.query); }));
  routes.push_back(route("/why", [this](const HttpRequest& request) {
    return whyAnswer(sources_.view, request.query, sources_.clock(), sources_.protections);
  }));
  return routes;
}

net::HttpRoute QuestionServer::route(const std::string& path, net::HttpHandler handler) {
  return {"GET", path, {}, [this, handler = std::move(handler)](const HttpRequest& request) {
            auto refused = refusal(request);
            return refused ? std::move(*refused) : handler(request);
          }};
}

// Without tokens a web page must not ask in its reader's name: a browser that was led here by a name of its
// own (DNS rebinding) says that name.
std::optional<HttpResponse> QuestionServer::refusal(const HttpRequest& request) {
  if (httpOptions_.plain) {
    if (isByLoopback(request.host)) return std::nullopt;
    return said(403, "this is answered by the names localhost, 127.0.0.1 and [::1] alone");
  }
  const Authorization::Answer answer = authorization_.mayGet(request.authorization, request.path);
  if (answer.status == 200) return std::nullopt;
  HttpResponse response = said(answer.status, answer.message);
  if (answer.status == 401) response.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (answer.status == 503) response.headers.emplace_back("Retry-After", "1");
  return response;
}

std::string QuestionServer::url() const {
  return toString(
      client::ServerAddress{!httpOptions_.plain, httpOptions_.address, static_cast<uint16_t>(port()), ""});
}

kube::Result<void> QuestionServer::use(const net::TlsIdentity& identity) {
  if (httpOptions_.plain) return {};
  net::TlsIdentity mine = identity;
  mine.clientCa.clear();
  return http_->use(mine);
}

void QuestionServer::stop(std::chrono::milliseconds grace) {
  authorization_.stop();
  if (http_) http_->stop(grace);
}

}  // namespace lastout::server
