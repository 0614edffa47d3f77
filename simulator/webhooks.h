// Webhooks: what the stored webhook configurations ask for, and which of their webhooks a request concerns.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/locks.h"
#include "simulator/admission_review.h"
#include "simulator/json.h"
#include "simulator/match_resources.h"
#include "simulator/status.h"

namespace lastout::simulator {

// Where to call: a URL, or (url empty) a service of the cluster.
struct WebhookEndpoint {
  std::string url;
  std::string serviceNamespace;
  std::string serviceName;
  std::string servicePath;
  int servicePort = 443;
  std::string authorities;   // PEM, the only ones to trust; empty: those of the system
  bool cannotTrust = false;  // these have no certificate: every call fails
};

struct Webhook {
  std::string configuration;  // the name of the object that holds it
  bool mutating = false;
  std::string name;
  kube::MatchResources matches;
  std::vector<MatchCondition> matchConditions;
  bool failureIsIgnored = false;
  std::chrono::milliseconds timeout{10'000};  // for the whole call
  WebhookEndpoint address;
  std::vector<std::string> warnings;  // for whoever writes it: conditions that are not evaluated
};

// The webhooks of a ValidatingWebhookConfiguration or MutatingWebhookConfiguration. Fails with 400 for what
// has the wrong type and with 422 and all causes for what the API server would not accept. matchPolicy
// Equivalent is taken for Exact (objects have one version here), and reinvocationPolicy for Never.
ApiResult<std::vector<Webhook>> checkConfiguration(const Json& configuration);

// Whether the webhook concerns the request: one of its rules and both selectors match. Webhook configurations
// and admission policies are exempt.
bool concerns(const Webhook& webhook, const ReviewRequest& request);
// Whether the webhook is to be asked: it concerns the request, and every matchCondition holds. Fails with 403
// where a condition cannot be evaluated, none is false, and the webhook's failurePolicy is Fail; where that
// is Ignore, the webhook is not asked. https://kubernetes.io/docs/reference/access-authn-authz/
// extensible-admission-controllers/#matching-requests-matchconditions
ApiResult<bool> isToBeAsked(const Webhook& webhook, const ReviewRequest& request);

// The configurations that are in force. Safe for any number of threads.
class Webhooks {
 public:
  struct List {
    explicit List(std::vector<Webhook> webhooks = {});
    // In the order in which the API server calls them: by configuration, then as written; mutating ones
    // first.
    std::vector<Webhook> all;
    MatchIndex index;  // of what they match
  };

  // Adds a configuration or replaces the one of the same kind and name; fails, changing nothing, as
  // checkConfiguration does.
  ApiResult<void> put(const Json& configuration);
  void remove(std::string_view kind, std::string_view name);
  // Does not change any more: what one request goes by.
  std::shared_ptr<const List> snapshot() const;

 private:
  void publish() LASTOUT_REQUIRES(mutex_);

  mutable kube::Mutex mutex_;
  // By whether they validate, and name.
  std::map<std::pair<bool, std::string>, std::vector<Webhook>> configurations_ LASTOUT_GUARDED_BY(mutex_);
  std::shared_ptr<const List> published_ LASTOUT_GUARDED_BY(mutex_) = std::make_shared<const List>();
};

// Those of the list that are to be asked about the request, in its order. Fails as isToBeAsked() does.
ApiResult<std::vector<const Webhook*>> matching(const Webhooks::List& webhooks, bool mutating,
                                                const ReviewRequest& request);

// --- The URLs of webhooks: https://host[:port][/path], nothing else.

struct WebhookUrl {
  std::string host;  // a name or an address, without the brackets of an IPv6 one
  int port = 443;
  std::string path;  // "" or "/..."
};

struct WebhookUrlProblem {
  std::string value;  // the part that is wrong
  std::string message;
  bool isUnreadable = false;  // it is no URL at all
};

// Returns what is wrong with the URL, in the API server's words; empty: it can be called.
std::vector<WebhookUrlProblem> webhookUrlProblems(std::string_view url);
// The parts of a URL without a problem; nothing for another one.
std::optional<WebhookUrl> parseWebhookUrl(std::string_view url);

}  // namespace lastout::simulator
