#include "server/watch/policy_view.h"

#include <algorithm>
#include <set>
#include <utility>

#include "admission/service_changes.h"
#include "kube/messages.h"
#include "protection/implied.h"
#include "protection/policy_status.h"

namespace lastout::server {
namespace {

constexpr size_t kMostToldInVain = 10'000;  // objects that were told of are remembered

tl::expected<const PolicyCluster*, std::string> clusterIn(const PolicyClusters* clusters,
                                                          const std::string& name) {
  return clusters == nullptr ? PolicyClusters({}, {}).find(name) : clusters->find(name);
}

protection::FactIndex::FindKind kindsOf(const LiveView& view, const PolicyClusters* clusters) {
  using Found = tl::expected<protection::ServedKind, std::string>;
  return
      [&view, clusters](const std::string& cluster, std::string_view group, std::string_view kind) -> Found {
        if (!cluster.empty()) {
          const auto other = clusterIn(clusters, cluster);
          return other ? (*other)->findKind(group, kind) : Found(tl::unexpected(other.error()));
        }
        Found served = tl::unexpected("the cluster serves no kind " + kube::printable(kind) + " of group " +
                                      kube::printable(group));
        view.inspect([&](const admission::ClusterView& /*known*/, const kube::ResourceMap& types) {
          if (const kube::ResourceType* type = types.findKind(group, kind))
            served = protection::ServedKind{type->type, type->namespaced};
        });
        return served;
      };
}

}  // namespace

PolicyView::PolicyView(const LiveView& view, PolicyViewOptions options)
    : options_(std::move(options)),
      problems_(options_.log),
      facts_(kindsOf(view, options_.clusters)),
      policies_(std::make_shared<const PolicySet>(std::vector<protection::DeletionPolicy>())) {}

// --- what the cluster tells of DeletionPolicies

void PolicyView::upsertPolicy(const kube::Object& object) {
  auto read = protection::parsePolicy(object);
  auto former = read ? std::nullopt : protection::understoodFormIn(object);
  bool guardsAsBefore = false;
  {
    const kube::WriterLock lock(mutex_);
    Understood& known = known_[object.key.name];
    if (known.uid != object.meta.uid) known = {object.meta.uid, std::nullopt, {}};
    known.unclear.clear();
    if (read)
      known.policy = std::move(*read);
    else if (!known.policy && former)
      known.policy = std::move(former->policy);
    else if (!known.policy)
      protection::addOfDeletionPolicy(object.content, known.unclear);
    guardsAsBefore = known.policy.has_value();
    changed();
  }
  problems_.note(object.key.name,
                 read ? ""
                      : toString(object.key) + " cannot be understood, and " +
                            (guardsAsBefore ? "protects what it protected before: " : "protects nothing: ") +
                            admission::joinedMessages(read.error()));
}

void PolicyView::removePolicy(const std::string& name, std::string_view uid) {
  const kube::WriterLock lock(mutex_);
  const auto found = known_.find(name);
  if (found == known_.end() || found->second.uid != uid) return;
  known_.erase(found);
  problems_.note(name, "");
  changed();
}

void PolicyView::knowPolicies(const client::SyncStatus& knowledge, TimePoint now) {
  const kube::WriterLock lock(mutex_);
  now_ = now;
  knowledge_ = knowledge;
  areNone_ = false;
  settle();
}

void PolicyView::noPolicies() {
  const kube::WriterLock lock(mutex_);
  if (areNone_) return;
  areNone_ = true;
  knowledge_.reset();
  known_.clear();
  usePolicies();
}

// Until the list is whole nothing is judged, and many come.
void PolicyView::changed() {
  hasChanged_ = true;
  if (isKnown_) usePolicies();
}

void PolicyView::usePolicies() {
  hasChanged_ = false;
  std::vector<protection::DeletionPolicy> policies;
  for (const auto& [name, known] : known_)
    if (known.policy) policies.push_back(*known.policy);
  facts_.setPolicies(policies);
  policies_ = std::make_shared<const PolicySet>(std::move(policies));
  settle();
}

// --- and of the types that policies ask for

void PolicyView::upsert(const kube::Object& object, uint64_t generation, const std::string& cluster) {
  InVain inVain;
  {
    const kube::WriterLock lock(mutex_);
    facts_.upsert(object, generation, cluster);
    if (cluster.empty()) inVain = whyInVain(object);
  }
  tellInVain(object, inVain);
}

void PolicyView::tellInVain(const kube::Object& lister, const InVain& why) {
  if (why.clusterScoped.empty() && why.unasked.empty()) return;
  const std::string object = toString(lister.key);
  for (const std::string& one : {why.clusterScoped, why.unasked})
    if (!one.empty()) options_.log(Level::Warning, object + " " + one);
  if (!options_.inVain) return;
  const std::shared_ptr<const PolicySet> current = policies();
  for (const protection::DeletionPolicy& policy : current->all()) {
    if (!policy.listedBy || policy.listedBy->type != lister.key.type) continue;
    const bool isConfined = policy.listedBy->in != protection::ListedIn::AnyNamespace;
    std::string all = isConfined ? why.clusterScoped : "";
    if (!why.unasked.empty()) all += (all.empty() ? "" : ", and ") + why.unasked;
    if (!all.empty()) options_.inVain(policy.meta, object, all);
  }
}

PolicyView::InVain PolicyView::whyInVain(const kube::Object& lister) {
  const std::vector<std::string> kinds = facts_.listedInVain(lister);
  const std::vector<std::string> spaces = facts_.listedIn(lister, options_.unasked);
  if (kinds.empty() && spaces.empty()) return {};
  const auto joined = [](const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + kube::printable(name);
    return text;
  };
  const std::string told = joined(kinds) + " in " + joined(spaces);
  if (toldInVain_.size() >= kMostToldInVain) toldInVain_.clear();
  if (std::exchange(toldInVain_[lister.meta.uid], told) == told) return {};
  InVain why;
  if (!kinds.empty())
    why.clusterScoped =
        "does not protect what it lists of " + joined(kinds) +
        ", which is cluster-scoped: whoever may write in one namespace would hold up objects of all; a "
        "cluster-scoped object that lists it does";
  if (!spaces.empty())
    why.unasked = "does not protect what it lists in namespace " + joined(spaces) +
                  ": API servers do not ask lastout there, so that its outage blocks nothing";
  return why;
}

void PolicyView::remove(const kube::ObjectKey& key, std::string_view uid, uint64_t generation,
                        const std::string& cluster) {
  const kube::WriterLock lock(mutex_);
  facts_.remove(key, uid, generation, cluster);
}

void PolicyView::know(const protection::ClusterType& type, const client::SyncStatus& knowledge,
                      uint64_t generation, TimePoint now) {
  const kube::WriterLock lock(mutex_);
  now_ = now;
  followed_[type] = {knowledge, generation};
  if (knowledge.state != client::SyncStatus::State::NeverSynced)
    facts_.know(type, whyNot(type, knowledge), generation);
}

void PolicyView::cannotKnow(const protection::ClusterType& type, const std::string& why,
                            uint64_t generation) {
  const kube::WriterLock lock(mutex_);
  followed_.erase(type);
  facts_.know(type, why, generation);
}

void PolicyView::absent(const kube::GroupResource& type) {
  const kube::WriterLock lock(mutex_);
  followed_.erase(type);
  facts_.absent(type);
}

void PolicyView::typesChanged() {
  const kube::WriterLock lock(mutex_);
  facts_.typesChanged();
}

void PolicyView::wantAncestors(const protection::ClusterType& type) {
  const kube::WriterLock lock(mutex_);
  facts_.wantAncestors(type);
}

void PolicyView::tick(TimePoint now) {
  const kube::WriterLock lock(mutex_);
  now_ = now;
  settle();
  for (const auto& [type, followed] : followed_)
    if (followed.knowledge.state != client::SyncStatus::State::NeverSynced)
      facts_.know(type, whyNot(type, followed.knowledge), followed.generation);
}

// As of LiveView: what a broken watch told is believed for a while.
std::string PolicyView::whyNot(const protection::ClusterType& type,
                               const client::SyncStatus& knowledge) const {
  using State = client::SyncStatus::State;
  // Nobody knows what an object that cannot be read protects; a policy protects what it protected before.
  const std::string unread = type == protection::deletionPolicyType() ? "" : knowledge.unread;
  switch (knowledge.state) {
    case State::Synced:
      return unread;
    case State::Stale:
      if (knowledge.listed && now_ - knowledge.asOf <= options_.allowedAge) return unread;
      return "what is known of them is too old: " + knowledge.why;
    case State::Forbidden:
      if (!type.cluster.empty())
        return "lastout may not list " + toString(type) +
               ": give the account of its kubeconfig get, list and watch there";
      return "lastout may not list " + toString(type) + ": " + protection::howToGiveReads("them");
    case State::NotServed:
      return "the API server does not serve them now";
    case State::NeverSynced:
      break;
  }
  return knowledge.why.empty() ? "they have not been read yet" : knowledge.why;
}

void PolicyView::settle() {
  if (areNone_)
    whyUnknown_.clear();
  else if (knowledge_)
    whyUnknown_ = whyNot(protection::deletionPolicyType(), *knowledge_);
  if (whyUnknown_.empty() && hasChanged_) return usePolicies();
  isKnown_ = whyUnknown_.empty();
  isForbidden_ = !isKnown_ && knowledge_ && knowledge_->state == client::SyncStatus::State::Forbidden;
  mayHaveAny_ = !isKnown_ || !policies_->all().empty();
}

// --- what follows from it

std::vector<protection::WantedType> PolicyView::wanted() const {
  const kube::ReaderLock lock(mutex_);
  return facts_.wanted();
}

std::optional<std::string> PolicyView::whyUnknown() const {
  const kube::ReaderLock lock(mutex_);
  return whyUnknown_.empty() ? std::nullopt : std::optional(whyUnknown_);
}

bool PolicyView::isReadingListers() const {
  const kube::ReaderLock lock(mutex_);
  return std::ranges::any_of(
      policies_->all(), [this](const protection::DeletionPolicy& policy) LASTOUT_REQUIRES_SHARED(mutex_) {
        return policy.listedBy && facts_.isNew(policy.listedBy->type);
      });
}

bool PolicyView::areNone() const {
  const kube::ReaderLock lock(mutex_);
  return areNone_;
}

std::shared_ptr<const PolicySet> PolicyView::policies() const {
  const kube::ReaderLock lock(mutex_);
  return policies_;
}

protection::HoldFinalizers PolicyView::unclearFinalizers() const {
  const kube::ReaderLock lock(mutex_);
  protection::HoldFinalizers all;
  for (const auto& [name, known] : known_)
    for (const auto& [type, finalizers] : known.unclear)
      all[type].insert(finalizers.begin(), finalizers.end());
  return all;
}

tl::expected<const PolicyCluster*, std::string> PolicyView::clusterNamed(const std::string& name) const {
  return clusterIn(options_.clusters, name);
}

void PolicyView::inspect(const std::function<void(const protection::FactIndex& facts)>& read) const {
  const kube::ReaderLock lock(mutex_);
  read(facts_);
}

}  // namespace lastout::server
