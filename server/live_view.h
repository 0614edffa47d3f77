// LiveView: what lastout knows of a real cluster, as its watches tell it: written by their threads, read by
// those that answer reviews.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "client/discovery.h"
#include "client/reflector.h"
#include "kube/object.h"

namespace lastout::server {

using TimePoint = client::TimePoint;

struct LiveViewOptions {
  std::string ownNamespace;  // empty: lastout runs outside the cluster
  // How long "nothing is there" is believed of a type whose watch is broken.
  std::chrono::milliseconds allowedAge{30'000};
};

// A verdict on a DELETE, before the confirming read.
struct Judged {
  admission::Decision decision;
  admission::Explanation explanation;       // of a denial
  std::vector<graph::Condition> toConfirm;  // of an ALLOW of what is guarded
};

// How a type stands, for people and metrics.
struct TypeStanding {
  kube::GroupResource type;
  graph::Knowledge knowledge = graph::Knowledge::Unknown;
  uint32_t objects = 0;
  std::string why;  // what went wrong last
};

// Safe for any number of threads.
class LiveView {
 public:
  explicit LiveView(LiveViewOptions options);
  LiveView(const LiveView&) = delete;
  LiveView& operator=(const LiveView&) = delete;

  // --- what the cluster tells
  void upsert(const kube::ResourceType& type, client::StreamedObject object);
  void remove(const kube::GroupResource& type, const client::Removed& object);
  void know(const kube::GroupResource& type, const client::Knowledge& knowledge, TimePoint now);
  // Which types there are. Of those that are not served, and whose CRD is known to be gone, nothing is there.
  void discovered(client::Discovery discovery, TimePoint now);
  // Nobody watches the type any more.
  void forget(const kube::GroupResource& type);
  // Time has passed: what a broken watch told may be too old by now.
  void tick(TimePoint now);

  // --- what follows from it
  // The types that must be watched: CriticalServices, CustomResourceDefinitions and Namespaces, and all that
  // the CriticalServices name.
  std::vector<kube::GroupResource> wanted() const;
  // CriticalServices, CustomResourceDefinitions and Namespaces are known.
  bool isReady() const;
  std::optional<kube::ResourceType> find(const kube::GroupResource& type) const;  // among all that are served
  graph::Knowledge knowledge(const kube::GroupResource& type) const;
  std::vector<TypeStanding> standings() const;

  Judged judge(const kube::ObjectKey& key) const;
  // The denial with these words for why it could not be confirmed.
  admission::Explanation unconfirmed(const kube::ObjectKey& key, std::string_view why) const;
  // As ClusterView::explainWith.
  admission::Explanation explainWith(const admission::Seen& seen, const kube::ObjectKey& key) const;

  // Reads more at once; `read` must not keep anything of it.
  void inspect(const std::function<void(const admission::ClusterView& view, const kube::ResourceMap& types)>&
                   read) const;

 private:
  graph::Knowledge standingOf(const kube::GroupResource& type, const client::Knowledge& knowledge,
                              TimePoint now) const;
  graph::Knowledge standingOfUnserved(const kube::GroupResource& type) const;
  void settle(const kube::GroupResource& type, TimePoint now);
  void settleAll(TimePoint now);
  std::vector<kube::GroupResource> wantedNow() const;

  const LiveViewOptions options_;
  mutable std::shared_mutex mutex_;  // over all below
  client::Discovery discovery_;
  bool isDiscovered_ = false;
  kube::ResourceMap types_ = kube::ResourceMap::builtIn();
  admission::ClusterView view_;
  std::map<kube::GroupResource, client::Knowledge> watched_;
};

}  // namespace lastout::server
