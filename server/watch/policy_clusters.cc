#include "server/watch/policy_clusters.h"

#include <algorithm>
#include <utility>

#include "kube/messages.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kBetweenDiscoveries{1'000};
// A type that is not served is looked for again after this.
constexpr std::chrono::milliseconds kMissingAfter{10'000};

}  // namespace

PolicyCluster::PolicyCluster(NamedCluster cluster, PolicyClustersOptions options,
                             std::function<void()> changed)
    : cluster_(std::move(cluster)),
      options_(std::move(options)),
      changed_(std::move(changed)),
      server_(cluster_.access->newServer()),
      reads_(cluster_.access),
      backoff_(options_.backoff, options_.random()),
      problems_(options_.log, "cluster " + cluster_.name + ", on which policies have ancestors: ",
                "cluster " + cluster_.name + ", on which policies have ancestors, can be read again"),
      loop_([this] { round(); }, kBetweenDiscoveries) {}

void PolicyCluster::start() {
  loop_.start();
  loop_.wake();
}

void PolicyCluster::stop() {
  loop_.stop([this] {
    cluster_.access->stop();
    server_->stop();
    reads_.stop();
  });
}

void PolicyCluster::round() {
  auto discovery = client::discover(*server_);
  if (loop_.isStopping()) return;  // what was cut off is no problem
  const TimePoint now = steady_clock::now();
  problems_.note(discovery ? "" : discovery.error().message);
  {
    const kube::MutexLock lock(mutex_);
    wasAsked_ = true;
    if (discovery) {
      backoff_.reset();
      discovery_ = std::move(*discovery);
      discoveredAt_ = now;
    } else {
      problem_ = kube::printable(discovery.error().message);
    }
  }
  loop_.wakeAt(now + (discovery ? options_.rediscoverAfter : backoff_.next()));
  changed_();
}

bool PolicyCluster::wasAsked() const {
  const kube::MutexLock lock(mutex_);
  return wasAsked_;
}

tl::expected<kube::ResourceType, std::string> PolicyCluster::find(const kube::GroupResource& type) const {
  const kube::MutexLock lock(mutex_);
  const client::DiscoveredType* served = discovery_ ? discovery_->find(type) : nullptr;
  if (served != nullptr) return served->type;
  const std::string why = whyNone(type.group);
  if (!why.empty()) return tl::unexpected(why);
  return tl::unexpected("cluster " + cluster_.name + " does not serve " + toString(type));
}

tl::expected<protection::ServedKind, std::string> PolicyCluster::findKind(std::string_view group,
                                                                          std::string_view kind) const {
  const kube::MutexLock lock(mutex_);
  const kube::ResourceType* type = discovery_ ? discovery_->types.findKind(group, kind) : nullptr;
  if (type != nullptr && discovery_->find(type->type) != nullptr)
    return protection::ServedKind{type->type, type->namespaced};
  if (discovery_ && steady_clock::now() - discoveredAt_ >= kMissingAfter) loop_.wake();
  const std::string why = whyNone(group);
  if (!why.empty()) return tl::unexpected(why);
  return tl::unexpected("cluster " + cluster_.name + " serves no kind " + kube::printable(kind) +
                        " of group " + kube::printable(group));
}

// Why nobody can say what the cluster serves of the group; empty: it serves nothing else.
std::string PolicyCluster::whyNone(std::string_view group) const {
  if (!discovery_) return "cluster " + cluster_.name + " cannot be read: " + problem_;
  const client::DiscoveryGap* gap = discovery_->gapIn(group);
  if (gap == nullptr) return "";
  return "cluster " + cluster_.name + " does not say what it serves of group " + kube::printable(group) +
         ": " + kube::printable(gap->why);
}

kube::Result<std::optional<kube::Object>> PolicyCluster::get(const kube::GroupResource& type,
                                                             const std::string& name,
                                                             TimePoint deadline) const {
  const auto served = find(type);
  if (!served) return tl::unexpected(kube::Error{served.error(), {}, {}});
  return reads_.get(*served, name, deadline);
}

PolicyClusters::PolicyClusters(std::vector<NamedCluster> clusters, const PolicyClustersOptions& options)
    : command_(options.command), changed_(std::make_shared<std::function<void()>>([] {})) {
  for (NamedCluster& one : clusters) {
    const std::string name = one.name;
    clusters_.emplace(name, std::make_unique<PolicyCluster>(std::move(one), options,
                                                            [changed = changed_] { (*changed)(); }));
  }
}

void PolicyClusters::start() {
  for (auto& [name, cluster] : clusters_) cluster->start();
}

void PolicyClusters::stop() {
  for (auto& [name, cluster] : clusters_) cluster->stop();
}

tl::expected<const PolicyCluster*, std::string> PolicyClusters::find(const std::string& name) const {
  const auto found = clusters_.find(name);
  if (found != clusters_.end()) return found->second.get();
  return tl::unexpected("cluster " + name + " is not known to lastout: name its kubeconfig with " + command_ +
                        " --policy-cluster " + name + "=FILE");
}

bool PolicyClusters::wereAsked() const {
  return std::ranges::all_of(clusters_, [](const auto& one) { return one.second->wasAsked(); });
}

}  // namespace lastout::server
