#include "server/policy_reviews.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "kube/parse.h"
#include "kube/quoting.h"
#include "kube/text_at.h"
#include "server/implied_protection.h"

namespace lastout::server {
namespace {

using protection::AncestorState;
using protection::Denial;

constexpr size_t kMostAncestorReads = 8;  // in one review

// What is not confirmed yet is kept for a read; what was read counts.
class ConfirmedFacts : public protection::Facts {
 public:
  // An ancestor, and the cluster that it is on.
  struct Key {
    std::string cluster;
    kube::ObjectKey object;
    auto operator<=>(const Key&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
  };
  using Read = std::map<Key, kube::Result<std::optional<kube::Object>>>;

  ConfirmedFacts(const protection::FactIndex& index, const Read& read) : index_(index), read_(read) {}

  // An ancestor that does not protect, as far as is known, is read once more.
  AncestorState ancestor(const protection::AncestorTest& test,
                         const protection::Request& request) const override {
    const protection::NamedAncestor named = index_.nameAncestor(test, request);
    if (!named.key) return named.state;
    const Key key{test.cluster, *named.key};
    if (const auto found = read_.find(key); found != read_.end()) {
      if (!found->second)
        return {AncestorState::Kind::Unknown,
                inWords(test, *named.key) + ": " + kube::printable(found->second.error().message)};
      const std::optional<kube::Object>& object = *found->second;
      return standingOf(test, *named.key, object ? &*object : nullptr);
    }
    AncestorState state = index_.ancestor(test, request);
    if (state.kind != AncestorState::Kind::Protects) toRead_.insert(key);
    return state;
  }
  protection::Count children(const protection::ChildrenTest& test,
                             const protection::Request& request) const override {
    return index_.children(test, request);
  }
  protection::Count active(protection::Activity activity, const protection::Request& request) const override {
    return index_.active(activity, request);
  }
  protection::Listers listers(const protection::ListedBy& listedBy,
                              const protection::Request& request) const override {
    return index_.listers(listedBy, request);
  }

  const std::set<Key>& toRead() const { return toRead_; }

 private:
  const protection::FactIndex& index_;
  const Read& read_;
  mutable std::set<Key> toRead_;
};

// A label or an annotation that was there is gone or another one.
bool takesAway(const kube::ObjectMeta& before, const kube::ObjectMeta& after) {
  const auto lacks = [](const kube::Labels& old, const kube::Labels& now) {
    return std::ranges::any_of(old, [&](const auto& one) {
      const auto found = now.find(one.first);
      return found == now.end() || found->second != one.second;
    });
  };
  return lacks(before.labels, after.labels) || lacks(before.annotations, after.annotations);
}

bool isJudged(const admission::Review& review) {
  using admission::Operation;
  return review.operation == Operation::Update ||
         (review.operation == Operation::Delete && review.subresource.empty());
}

kube::Result<kube::ObjectMeta> metaOf(const kube::Value& object) {
  const kube::Value* metadata = object.find("metadata");
  if (metadata == nullptr) return tl::unexpected(kube::Error{"the object has no metadata", {}, {}});
  return kube::parseMeta(*metadata, "");
}

}  // namespace

Denial protectionUnknown(const kube::ObjectKey& object, const std::string& why) {
  Denial denial;
  denial.isUncertain = true;
  denial.reason = why;
  denial.message = "whether a DeletionPolicy protects " + toString(object) + " cannot be found out: " + why;
  return denial;
}

// A review as policies look at it.
struct PolicyReviews::Asked {
  kube::Value before;
  kube::ObjectMeta meta;
  std::optional<kube::ObjectMeta> newMeta;
  protection::Request request;  // without what points to the others
};

std::optional<PolicyReviews::Asked> PolicyReviews::understand(const admission::Review& review,
                                                              std::string& problem) const {
  Asked asked;
  const auto fail = [&](const std::string& why) {
    problem = "the request is not understood: " + kube::printable(why);
    return std::nullopt;
  };
  auto before = kube::parseJson(review.oldObject, "");
  if (!before) return fail(before.error().message);
  auto meta = metaOf(*before);
  if (!meta) return fail(meta.error().message);
  if (review.operation == admission::Operation::Update) {
    const auto after = kube::parseJson(review.newObject, "");
    if (!after) return fail(after.error().message);
    auto newMeta = metaOf(*after);
    if (!newMeta) return fail(newMeta.error().message);
    asked.newMeta = std::move(*newMeta);
    asked.request.operation = protection::Operation::Update;
  }
  asked.before = std::move(*before);
  asked.meta = std::move(*meta);
  asked.request.object = review.object;
  asked.request.kind = kube::textAt(asked.before, {"kind"});
  if (asked.request.kind.empty()) {
    const auto type = live_.find(review.object.type);
    asked.request.kind = type ? type->kind : review.object.type.resource;
  }
  asked.request.user = review.user;
  asked.request.groups = review.groups;
  asked.request.orphans = review.deletion.policy == "Orphan";
  return asked;
}

std::vector<Denial> PolicyReviews::judge(const admission::Review& review, TimePoint deadline) const {
  if (!isJudged(review) || !view_.mayHaveAny()) return {};
  const bool isDelete = review.operation == admission::Operation::Delete;
  if (const auto why = view_.whyUnknown()) {
    const std::string known = "DeletionPolicies are not known: " + *why;
    if (isDelete) return {protectionUnknown(review.object, known)};
    std::string problem;
    const std::optional<Asked> asked = understand(review, problem);
    if (asked && !takesAway(asked->meta, *asked->newMeta)) return {};
    return {protectionUnknown(review.object, asked ? known : problem)};
  }
  const std::shared_ptr<const PolicySet> policies = view_.policies();
  const Policies about = policies->about(review.object.type);
  const bool mayHold = isDelete && mayHoldProtected(review.object.type);
  if (about.empty() && !mayHold) return {};
  std::string problem;
  std::optional<Asked> asked = understand(review, problem);
  if (!asked) return {protectionUnknown(review.object, problem)};
  asked->request.meta = &asked->meta;
  asked->request.content = &asked->before;
  if (asked->newMeta) asked->request.newMeta = &*asked->newMeta;
  std::vector<Denial> denials = judgeAll(about, asked->request, deadline);
  if (!mayHold) return denials;
  const ImpliedProtection implied(live_, view_, reads_);
  for (Denial& denial : implied.judge(*policies, asked->request, deadline))
    denials.push_back(std::move(denial));
  return denials;
}

std::vector<Denial> PolicyReviews::holds(const admission::Review& review, TimePoint deadline) const {
  std::vector<Denial> held;
  std::string problem;
  std::optional<Asked> asked = understand(review, problem);
  if (!asked) return held;  // judge() says so
  asked->request.meta = &asked->meta;
  asked->request.content = &asked->before;
  const std::shared_ptr<const PolicySet> policies = view_.policies();
  view_.inspect([&](const protection::FactIndex& index) {
    for (const protection::DeletionPolicy* policy : policies->about(review.object.type))
      if (auto one = protection::holdOf(*policy, asked->request, index)) held.push_back(std::move(*one));
  });
  if (!mayHoldProtected(review.object.type)) return held;
  const ImpliedProtection implied(live_, view_, reads_);
  for (Denial& one : implied.holds(*policies, asked->request, deadline)) held.push_back(std::move(one));
  return held;
}

kube::Result<std::optional<kube::Object>> PolicyReviews::readAncestor(const std::string& cluster,
                                                                      const kube::ObjectKey& key,
                                                                      TimePoint deadline) const {
  const auto fail = [](std::string why) { return tl::unexpected(kube::Error{std::move(why), {}, {}}); };
  if (cluster.empty()) {
    const auto type = live_.find(key.type);
    return type ? reads_.get(*type, key.name, deadline) : fail("the API server does not serve it now");
  }
  const auto other = view_.clusterNamed(cluster);
  return other ? (*other)->get(key.type, key.name, deadline) : fail(other.error());
}

// By what the watches told; then, where an ancestor does not protect by that, once more by what is read of
// it.
std::vector<Denial> PolicyReviews::judgeAll(const Policies& policies, const protection::Request& request,
                                            TimePoint deadline) const {
  ConfirmedFacts::Read read;
  std::vector<Denial> denials;
  std::set<ConfirmedFacts::Key> toRead;
  const auto judgeOnce = [&] {
    denials.clear();
    view_.inspect([&](const protection::FactIndex& index) {
      const ConfirmedFacts facts(index, read);
      for (const protection::DeletionPolicy* policy : policies)
        if (auto denial = protection::judge(*policy, request, facts, webhookPartOf(*policy, mode_)))
          denials.push_back(std::move(*denial));
      toRead = facts.toRead();
    });
  };
  judgeOnce();
  if (toRead.empty()) return denials;
  size_t reads = 0;
  for (const ConfirmedFacts::Key& key : toRead) {
    if (++reads > kMostAncestorReads) break;
    view_.wantAncestors({key.cluster, key.object.type});
    read.emplace(key, readAncestor(key.cluster, key.object, deadline));
  }
  judgeOnce();
  if (toRead.empty() || !denials.empty()) return denials;
  return {protectionUnknown(request.object,
                            "it has more than " + std::to_string(kMostAncestorReads) + " ancestors")};
}

}  // namespace lastout::server
