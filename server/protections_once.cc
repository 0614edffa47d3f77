#include "server/protections_once.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "client/fetch.h"
#include "kube/locks.h"
#include "kube/quoting.h"
#include "server/implied_protection.h"
#include "server/policy_reviews.h"
#include "server/policy_view.h"
#include "server/policy_watches.h"

namespace lastout::server {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{20};
constexpr int kGone = 404;
constexpr int kFound = 200;

// All that policies ask for was listed, or it is known why it cannot be.
bool isAllTold(const PolicyView& view) {
  bool isTold = true;
  view.inspect([&](const protection::FactIndex& facts) {
    isTold = std::ranges::none_of(
        facts.wanted(), [&](const protection::WantedType& wanted) { return facts.isNew(wanted.type); });
  });
  return isTold;
}

// Returns why the policies are not known; empty: they are, and what they ask for is as far as it can be.
std::string waitUntilTold(const PolicyView& view, PolicyWatches& watches, TimePoint deadline) {
  watches.start();
  kube::Mutex mutex;
  kube::ConditionVariable never;
  while (true) {
    const std::optional<std::string> why = view.whyUnknown();
    const bool isOver = std::chrono::steady_clock::now() >= deadline;
    if (why && (view.isForbidden() || isOver)) return *why;
    if (!why && (isOver || isAllTold(view))) return {};
    watches.reconsider();  // what policies ask for may have become known
    kube::MutexLock lock(mutex);
    never.waitUntil(lock, std::min(deadline, std::chrono::steady_clock::now() + kBetweenLooks),
                    [] { return false; });
  }
}

// The whole object as JSON; empty: it is not there. Fails with why it cannot be read.
kube::Result<std::string> readWhole(client::ApiServer& server, const kube::ResourceType& type,
                                    const kube::ObjectKey& key) {
  client::ApiRequest request;
  request.target = client::objectPath(type, key.namespaceName, key.name);
  auto whole = client::fetch(server, request);
  if (!whole) return tl::unexpected(std::move(whole.error()));
  const int status = whole->answer.status;
  if (status == kGone) return std::string();
  if (status != kFound) return tl::unexpected(kube::Error{toString(client::statusOfAnswer(*whole)), {}, {}});
  return std::move(whole->body);
}

}  // namespace

kube::Result<std::vector<protection::Denial>> protectionsNow(const std::shared_ptr<client::Access>& access,
                                                             const LiveView& live, PolicyView& view,
                                                             const kube::ResourceType& type,
                                                             const kube::ObjectKey& object,
                                                             TimePoint deadline) {
  if (!view.mayHaveAny()) return {};
  if (!view.whyUnknown() && view.policies()->about(type.type).empty() && !mayHoldProtected(type.type))
    return {};
  const auto server = access->newServer();
  auto whole = readWhole(*server, type, object);
  if (!whole) return tl::unexpected(std::move(whole.error()));
  if (whole->empty()) return {};
  admission::Review review;
  review.operation = admission::Operation::Delete;
  review.object = object;
  review.oldObject = std::move(*whole);
  const PolicyReviews reviews(access, live, view, protection::PolicyMode::Webhook);
  std::vector<protection::Denial> denials = reviews.judge(review, deadline);
  for (protection::Denial& held : reviews.holds(review, deadline)) denials.push_back(std::move(held));
  return denials;
}

ProtectionsOnce protectionsOnce(const std::shared_ptr<client::Access>& access, const LiveView& live,
                                const kube::ResourceType& type, const kube::ObjectKey& object,
                                const std::function<client::RandomFraction()>& random, TimePoint deadline) {
  PolicyView view(live, {});
  PolicyWatchesOptions quietly;
  quietly.random = random;
  quietly.log = [](Level, const std::string&) {};  // what stays unknown is told in the end
  PolicyWatches watches(access, live, view, std::move(quietly));
  const std::string unknown = waitUntilTold(view, watches, deadline);
  watches.stop();
  if (!unknown.empty())
    return {{}, "DeletionPolicies cannot be read now, or not by you, so what they protect is not known here"};
  auto told = protectionsNow(access, live, view, type, object, deadline);
  if (told) return {std::move(*told), {}};
  return {{},
          toString(object) + " cannot be read, so what DeletionPolicies say of it is not known here (" +
              kube::printable(told.error().message) + ")"};
}

}  // namespace lastout::server
