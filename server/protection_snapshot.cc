#include "server/protection_snapshot.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "kube/messages.h"
#include "kube/parse.h"
#include "server/review/implied_protection.h"
#include "server/review/policy_reviewer.h"
#include "server/runtime/loop.h"
#include "server/runtime/object_client.h"
#include "server/watch/policy_view.h"
#include "server/watch/policy_watches.h"

namespace lastout::server {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr const char* kPoliciesUnread =
    "DeletionPolicies cannot be read now, or not by you, so what they protect is not known here";

// All that policies ask for was listed here, or it is known why it cannot be. An ancestor on another cluster
// is read by itself.
bool isAllTold(const PolicyView& view) {
  bool isTold = true;
  view.inspect([&](const protection::FactIndex& facts) {
    isTold = std::ranges::none_of(facts.wanted(), [&](const protection::WantedType& wanted) {
      return wanted.cluster.empty() && facts.isNew(wanted.type);
    });
  });
  return isTold;
}

// Returns why the policies are not known; empty: they are, and what they ask for is as far as it can be.
std::string waitUntilTold(const PolicyView& view, const PolicyClusters& clusters, PolicyWatches& watches,
                          Bell& bell, TimePoint deadline) {
  watches.start();
  while (true) {
    const std::optional<std::string> why = view.whyUnknown();
    const bool isOver = std::chrono::steady_clock::now() >= deadline;
    if (why && (view.isForbidden() || isOver)) return *why;
    if (!why && (isOver || (clusters.wereAsked() && isAllTold(view)))) return {};
    watches.reconsider();  // what policies ask for may have become known
    bell.waitUntil(std::min(deadline, std::chrono::steady_clock::now() + kBetweenLooks));
  }
}

// The whole object as JSON; empty: it is not there. Fails with why it cannot be read.
kube::Result<std::string> readWhole(client::ApiServer& server, const kube::ResourceType& type,
                                    const kube::ObjectKey& key) {
  client::ApiRequest request;
  request.target = client::objectPath(type, key.namespaceName, key.name);
  auto whole = ObjectClient(server).ask(std::move(request));
  if (whole) return std::move(whole->body);
  if (whole.error().code == 404) return std::string();
  return tl::unexpected(kube::Error{std::move(whole.error().why), {}, {}});
}

// Returns the object's metadata; nullopt: it cannot be understood, which PolicyReviewer reports.
std::optional<kube::ObjectMeta> metaIn(const std::string& whole) {
  const auto content = kube::parseJson(whole, "");
  const kube::Value* metadata = content ? content->find("metadata") : nullptr;
  if (metadata == nullptr) return std::nullopt;
  auto meta = kube::parseMeta(*metadata, "");
  return meta ? std::optional(std::move(*meta)) : std::nullopt;
}

ProtectionSnapshot judgedOnce(const std::shared_ptr<client::Access>& access, const LiveView& live,
                              PolicyView& view, const ProtectionSnapshotOptions& question) {
  auto told = currentProtections(access, live, view, question.type, question.object, question.deadline);
  if (told) return {std::move(told->denials), {}};
  return {{},
          toString(question.object) +
              " cannot be read, so what DeletionPolicies say of it is not known here (" +
              kube::printable(told.error().message) + ")"};
}

}  // namespace

kube::Result<CurrentProtections> currentProtections(const std::shared_ptr<client::Access>& access,
                                                    const LiveView& live, PolicyView& view,
                                                    const kube::ResourceType& type,
                                                    const kube::ObjectKey& object, TimePoint deadline) {
  if (!view.mayHaveAny()) return {};
  if (!view.whyUnknown() && view.policies()->about(type.type).empty() && !mayHoldProtected(type.type))
    return {};
  const auto server = access->newServer();
  auto whole = readWhole(*server, type, object);
  if (!whole) return tl::unexpected(std::move(whole.error()));
  if (whole->empty()) return {};
  CurrentProtections now;
  now.object = metaIn(*whole);
  admission::Review review;
  review.operation = admission::Operation::Delete;
  review.object = object;
  review.oldObject = std::move(*whole);
  const PolicyReviewer reviews(access, live, view, protection::PolicyMode::Webhook);
  PolicyVerdict verdict = reviews.judge(review, deadline);
  now.denials = std::move(verdict.denials);
  for (protection::Denial& one : verdict.unseen) now.denials.push_back(std::move(one));
  for (protection::Denial& held : reviews.holds(review, deadline)) now.denials.push_back(std::move(held));
  return now;
}

ProtectionSnapshot takeProtectionSnapshot(const std::shared_ptr<client::Access>& access, const LiveView& live,
                                          ProtectionSnapshotOptions question) {
  PolicyClustersOptions elsewhere;
  elsewhere.random = question.random;
  elsewhere.command = "lastout why";
  PolicyClusters clusters(std::move(question.policyClusters), elsewhere);
  PolicyViewOptions options;
  options.clusters = &clusters;
  PolicyView view(live, std::move(options));
  PolicyWatchesOptions quietly;
  quietly.random = question.random;
  quietly.log = [](Level, const std::string&) {};  // what stays unknown is told in the end
  Bell bell;
  quietly.told = [&bell] { bell.ring(); };
  PolicyWatches watches(access, live, view, std::move(quietly));
  clusters.observe([&watches] { watches.reconsider(); });
  clusters.start();
  const std::string unknown = waitUntilTold(view, clusters, watches, bell, question.deadline);
  ProtectionSnapshot once =
      unknown.empty() ? judgedOnce(access, live, view, question) : ProtectionSnapshot{{}, kPoliciesUnread};
  watches.stop();
  clusters.stop();
  return once;
}

}  // namespace lastout::server
