#include "tests/fidelity/replay.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <utility>

#include "simulator/admission_review.h"
#include "simulator/embedded_cluster.h"

namespace lastout::fidelity {
namespace {

using std::chrono::milliseconds;

const std::set<std::string> kWatches = {"080", "081"};
// They were opened before this one, and closed before that one.
constexpr const char* kWatchesBegin = "013";
constexpr const char* kWatchesEnd = "082";

// When a request was made, counted from the first, where the answer depends on it. From the times in the
// answers (seconds) and those of the watch's events.
const std::map<std::string, milliseconds> kMadeAt = {
    {"011", milliseconds(500)},     // the definition is established
    {"013", milliseconds(4'000)},   // the watches began half a second before
    {"069", milliseconds(4'800)},   // half a second after 068
    {"072", milliseconds(8'000)},   //
    {"073", milliseconds(8'500)},   // the pod is there, but not Ready
    {"077", milliseconds(8'520)},   // the controller has seen the new scale
    {"078", milliseconds(11'000)},  // the rollout is over
    {"082", milliseconds(15'000)},  // 6 s after 079: the Deployment is gone
    {"084", milliseconds(16'000)},  // the clean-up has begun
    {"088", milliseconds(24'000)},  // the definition is gone
    {"093", milliseconds(30'000)},  // the namespace's content was deleted once
    {"096", milliseconds(45'000)},  // at most: 097 was made then
};

std::string decoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      result += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

simulator::Query queryOf(std::string_view text) {
  simulator::Query query;
  while (!text.empty()) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const size_t equals = std::min(pair.find('='), pair.size());
    query.emplace(pair.substr(0, equals), decoded(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return query;
}

simulator::ExchangeRequest requestOf(const RestExchange& exchange, const Identities& identities) {
  const std::string target = identities.translated(exchange.path);
  const size_t query = std::min(target.find('?'), target.size());
  simulator::ExchangeRequest request;
  request.method = exchange.method;
  request.path = target.substr(0, query);
  request.query = queryOf(std::string_view(target).substr(std::min(query + 1, target.size())));
  request.host =
      exchange.recording == kKubernetes126 ? "192.0.2.2:16443" : "192.0.2.2:26443";  // where it was recorded
  request.accept = exchange.accept;
  request.contentType = exchange.contentType;
  request.body = identities.translated(exchange.body);
  request.user = simulator::adminUser();
  return request;
}

Json events(simulator::WatchResponse& stream) {
  Json events = Json::array();
  for (auto piece = stream.next(milliseconds(0)); piece && !piece->empty();
       piece = stream.next(milliseconds(0))) {
    std::string_view text = *piece;
    while (!text.empty()) {
      events.push_back(Json::parse(text.substr(0, text.find('\n')), nullptr, false));
      text.remove_prefix(std::min(text.size(), text.find('\n') + 1));
    }
  }
  return events;
}

// In the form of RestExchange::answer.
Json answerOf(const simulator::ExchangeResponse& response) {
  Json headers = {{"content-type", response.contentType}};
  if (response.retryAfter) headers["retry-after"] = std::to_string(*response.retryAfter);
  for (const std::string& warning : response.warnings)
    headers["warning"] = headers.value("warning", "") + simulator::warningHeader(warning);
  Json answer = {{"status", response.status}, {"headers", std::move(headers)}};
  if (response.stream != nullptr)
    answer["events"] = events(*response.stream);
  else if (response.contentType == "application/json")
    answer["body"] = Json::parse(response.body, nullptr, false);
  else
    answer["body"] = response.body;
  return answer;
}

// The answer of the recorded webhook, or, as WebhookClient words it, why there was none.
tl::expected<simulator::WebhookResponse, std::string> webhookAnswer(const Json& recorded,
                                                                    const simulator::Webhook& webhook,
                                                                    const std::string& body) {
  const std::string call = "Post \"" + webhook.address.url + "?timeout=2s\": ";
  if (recorded == "answers after 7 s") return tl::unexpected(call + "context deadline exceeded");
  if (!recorded.is_object()) {
    const std::string& url = webhook.address.url;
    const size_t host = std::string_view("https://").size();
    return tl::unexpected(call + "dial tcp " + url.substr(host, url.find('/', host) - host) +
                          ": connect: connection refused");
  }
  Json review = Json::parse(body);
  Json response = {{"uid", review["request"]["uid"]}, {"allowed", true}};
  for (const auto& [key, value] : recorded.items()) {
    if (key == "apiVersion" || key == "kind")
      review[key] = value;
    else
      response[key] = value;
  }
  review.erase("request");
  review["response"] = std::move(response);
  return simulator::WebhookResponse{200, simulator::toText(review)};
}

class Replay {
 public:
  explicit Replay(const std::string& recording) : cluster_(options(recording)) { cluster_.clock().pause(); }

  std::vector<Replayed> run(const std::vector<RestExchange>& exchanges) {
    for (const RestExchange& exchange : exchanges) {
      if (exchange.number() == kWatchesBegin) openWatches(exchanges);
      if (exchange.number() == kWatchesEnd) closeWatches();
      if (const auto time = kMadeAt.find(exchange.number()); time != kMadeAt.end()) waitUntil(time->second);
      if (!open_.contains(exchange.name)) replay(exchange);
    }
    std::ranges::sort(replayed_, {}, [](const Replayed& one) { return one.exchange.name; });
    return std::move(replayed_);
  }

 private:
  simulator::EmbeddedOptions options(const std::string& recording) {
    simulator::EmbeddedOptions options;
    options.kubernetes =
        recording == kKubernetes126 ? kube::KubernetesVersion::V1_26 : kube::KubernetesVersion::V1_36;
    options.callWebhook = [this](const simulator::Webhook& webhook, const std::string& body) {
      return webhookAnswer(current_.webhookAnswer, webhook, body);
    };
    options.stopwatch = [this] { return stopwatch_; };
    return options;
  }

  simulator::ExchangeResponse send(const RestExchange& exchange) {
    current_ = exchange;
    return cluster_.handle(requestOf(exchange, identities_));
  }

  void replay(const RestExchange& exchange) { add(exchange, answerOf(send(exchange))); }

  void add(const RestExchange& exchange, const Json& own) {
    replayed_.push_back(
        {exchange, differences(comparable(exchange.answer), comparable(identities_.asRecorded(own)))});
    identities_.learn(exchange.answer, own);
  }

  void openWatches(const std::vector<RestExchange>& exchanges) {
    for (const RestExchange& exchange : exchanges) {
      if (!kWatches.contains(exchange.number())) continue;
      open_[exchange.name] = send(exchange);
      begun_[exchange.name] = events(*open_[exchange.name].stream);  // there is no object yet
      watches_.push_back(exchange);
    }
  }

  // Some time later: with the bookmark that idle watches get.
  void closeWatches() {
    stopwatch_ += std::chrono::seconds(10);
    for (const RestExchange& watch : watches_) {
      Json answer = answerOf(open_[watch.name]);
      Json told = begun_[watch.name];
      for (Json& event : answer["events"]) told.push_back(std::move(event));
      answer["events"] = std::move(told);
      add(watch, answer);
    }
  }

  void waitUntil(milliseconds then) {
    cluster_.runUntil(then);
    cluster_.clock().advance(then - cluster_.clock().now());
  }

  RestExchange current_;
  std::chrono::steady_clock::time_point stopwatch_;
  simulator::EmbeddedCluster cluster_;
  Identities identities_;
  std::vector<RestExchange> watches_;
  std::map<std::string, simulator::ExchangeResponse> open_;
  std::map<std::string, Json> begun_;  // what each watch told first
  std::vector<Replayed> replayed_;
};

}  // namespace

std::vector<Replayed> replayAll(const std::string& recording) {
  return Replay(recording).run(recordedExchanges(recording));
}

}  // namespace lastout::fidelity
