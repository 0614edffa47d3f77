// ApiServer: one exchange with a Kubernetes API server (the real one is in http.h, tests have their own); and
// the exchange whose whole answer is wanted, with the paths that requests go to.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/status.h"
#include "kube/resource_map.h"
#include "kube/result.h"

namespace lastout::client {

struct ApiRequest {
  std::string method = "GET";
  std::string target;  // path and query, escaped
  std::string accept = "application/json";
  std::string authorization;                   // the value of that header, of this request alone; empty: none
  std::string body;                            // empty: none
  std::string contentType;                     // of the body
  std::chrono::milliseconds patience{30'000};  // the longest silence while the answer comes
  // Sent twice, it does no harm: as a rule since it names the version of the object that it means. Every GET
  // is.
  bool isRepeatable = false;
};

struct ApiAnswer {
  int status = 0;
  std::optional<std::chrono::seconds> retryAfter;
};

// The longest Retry-After that counts: a server, or what stands before it, may ask for more.
inline constexpr std::chrono::seconds kLongestRetryAfter{120};

// Returns how long the server wants not to be asked for the same again; 0: it may be asked at once. As
// client-go does, it goes by the Retry-After of 429 and 5xx alone.
std::chrono::seconds retryPauseOf(const ApiAnswer& answer);

// The most bytes that are kept of a refusal whose answer would be read piece by piece: a Status says it in
// its first lines.
inline constexpr size_t kMostRefusalBytes = size_t{64} << 10;

class ApiServer {
 public:
  // A piece of the answer's body, as it comes; false: enough, end the exchange. The first piece is empty: it
  // says that the answer has begun, which a quiet watch otherwise shows only with its first event.
  using Take = std::function<bool(int status, std::string_view piece)>;

  virtual ~ApiServer() = default;

  // Returns when the answer is complete, or `take` had enough of it. Fails when there was no answer, or it
  // was cut off before its end; what was taken before that was taken. Several threads may do so at once.
  virtual kube::Result<ApiAnswer> exchange(const ApiRequest& request, const Take& take) = 0;

  // Ends every exchange under way, from any thread; later ones fail at once.
  virtual void stop() = 0;
};

struct WholeAnswer {
  ApiAnswer answer;
  std::string body;
};

// Fails as exchange() does, and on a body of more than `mostBytes`.
kube::Result<WholeAnswer> fetch(ApiServer& server, const ApiRequest& request,
                                size_t mostBytes = size_t{8} << 20);

// Returns the status in an answer that is no success.
ServerStatus statusOfAnswer(const WholeAnswer& whole);

// "/api/v1/pods", "/apis/apps/v1/namespaces/shop/deployments": without a namespace, those of all.
std::string collectionPath(const kube::ResourceType& type, std::string_view namespaceName = {});
// "/apis/apps/v1/namespaces/shop/deployments/web"; `namespaceName` is empty for cluster-scoped types.
std::string objectPath(const kube::ResourceType& type, std::string_view namespaceName, std::string_view name);
// The same of types that lastout knows by itself (kube::ResourceMap::builtIn()): no other may be given.
std::string collectionPath(const kube::GroupResource& builtIn, std::string_view namespaceName = {});
std::string objectPath(const kube::ObjectKey& ofBuiltIn);

// "limit=500&continue=abc": the query for a page of a list; without a token, for its first one.
std::string pageQuery(size_t limit, std::string_view continueToken = {});

}  // namespace lastout::client
