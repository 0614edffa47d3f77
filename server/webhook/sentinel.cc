#include "server/webhook/sentinel.h"

#include <algorithm>
#include <array>

#include "admission/review.h"
#include "client/value_picker.h"
#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "kube/object_key.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using kube::Json;

constexpr const char* kSentinelName = "lastout-sentinel";
// It is always there, and nobody can delete it: nothing waits for the sentinel to go while lastout is dead.
constexpr const char* kSentinelNamespace = "default";
constexpr const char* kSentinelLabel = "lastout.dev/sentinel";
constexpr std::string_view kProbed = "ProbedConfiguration";  // the cause that holds the fingerprint
constexpr std::string_view kListener = "Listener";           // the cause that says who answered
constexpr size_t kLongestFingerprint = 64;

bool isFingerprint(std::string_view text) {
  return !text.empty() && text.size() <= kLongestFingerprint && std::ranges::all_of(text, [](char digit) {
    return (digit >= '0' && digit <= '9') || (digit >= 'a' && digit <= 'f');
  });
}

// What the cause with that reason says; empty: the Status has none, and so is no refusal of lastout's.
std::string digitsIn(const kube::Value& status, std::string_view reason) {
  const kube::Value* causes = status.at({"details", "causes"});
  if (causes == nullptr || causes->asList() == nullptr) return "";
  for (const kube::Value& cause : *causes->asList()) {
    const std::string& digits = kube::textAt(cause, {"message"});
    if (kube::textAt(cause, {"reason"}) == reason && isFingerprint(digits)) return digits;
  }
  return "";
}

}  // namespace

std::string sentinelPath() { return client::objectPath({kube::kLeases, kSentinelNamespace, kSentinelName}); }

SentinelWebhook sentinelWebhook() {
  return {{{"operations", {"DELETE"}},
           {"apiGroups", {kube::kCoordinationGroup}},
           {"apiVersions", {"*"}},
           {"resources", {kube::kLeases.resource}},
           {"scope", "*"}},
          {{"matchLabels", {{kube::kNamespaceNameLabel, kSentinelNamespace}}}},
          {{"matchLabels", {{kSentinelLabel, "true"}}}}};
}

net::HttpResponse answerProbe(const net::HttpRequest& request, std::string_view listener) {
  const std::string_view fingerprint = std::string_view(request.path).substr(kProbePath.size());
  if (!isFingerprint(fingerprint)) return {404, "text/plain", "there is nothing here\n", {}};
  const auto review = admission::parseReview(request.body);
  if (!review) return {review.error().status, "text/plain", review.error().message + "\n", {}};
  admission::ReviewAnswer answer;
  if (review->dryRun) {
    static constexpr std::string_view kWords =
        "lastout refuses every dry run of this deletion: so it sees that the API server asks it";
    answer.refusal =
        admission::Refusal{403, kWords, {{kProbed, fingerprint, {}}, {kListener, listener, {}}}, {}};
  }
  return {200, "application/json", admission::answerText(review->uid, answer), {}};
}

client::ApiRequest requestToProbe() {
  client::ApiRequest request;
  request.method = "DELETE";
  request.target = sentinelPath() + "?dryRun=All";
  return request;
}

client::ApiRequest requestToCreateSentinel(const std::string& ownerUid) {
  Json metadata = {
      {"name", kSentinelName},
      {"labels", {{"app.kubernetes.io/name", "lastout"}, {kSentinelLabel, "true"}}},
      {"annotations",
       {{"lastout.dev/purpose", "lastout deletes this by dry runs, to see that API servers ask it"}}}};
  const std::string owner = kube::crdKey(criticalservice::criticalServiceType()).name;
  if (!ownerUid.empty())
    metadata["ownerReferences"] = Json::array({{{"apiVersion", kube::kApiExtensionsApiVersion},
                                                {"kind", "CustomResourceDefinition"},
                                                {"name", owner},
                                                {"uid", ownerUid}}});
  return client::creation(
      client::collectionPath(kube::kLeases, kSentinelNamespace),
      {{"apiVersion", kube::kCoordinationApiVersion}, {"kind", "Lease"}, {"metadata", std::move(metadata)}});
}

client::ApiRequest requestToLabelSentinel() {
  return client::mergePatch(sentinelPath(), {{"metadata", {{"labels", {{kSentinelLabel, "true"}}}}}});
}

ProbeAnswer probeAnswer(const client::WholeAnswer& whole) {
  const int status = whole.answer.status;
  if (status >= 200 && status < 300) return {ProbeAnswer::Kind::Allowed, "", ""};
  if (status == 404) return {ProbeAnswer::Kind::Missing, "", ""};
  if (status == 403) {
    const auto object = client::pickValue(whole.body, client::Pick::Object, {});
    std::string fingerprint = object ? digitsIn(*object, kProbed) : "";
    if (!fingerprint.empty())
      return {ProbeAnswer::Kind::Denied, std::move(fingerprint), "", digitsIn(*object, kListener)};
  }
  return {ProbeAnswer::Kind::Failed, "", toString(client::statusOfAnswer(whole)), "", status >= 500};
}

}  // namespace lastout::server
