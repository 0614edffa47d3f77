// ConsistentReader: reads from the API server, past all caches, which objects hold some conditions.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "client/access.h"
#include "client/metadata_stream.h"
#include "graph/condition.h"
#include "kube/object.h"
#include "kube/result.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// Returns the one namespace that the condition is about, if there is one; empty: its objects may be in
// several (lists of two namespaces are of two moments), or it is about Namespaces.
std::string onlyNamespaceOf(const graph::Condition& condition);

// Safe for any number of threads.
class ConsistentReader {
 public:
  // Told of one holder of a condition, as soon as it is seen.
  using Found = std::function<void(const graph::Condition& condition, admission::ObservedObject holder)>;
  using Conditions = std::set<graph::Condition>;  // either one on an object, or any on objects of one type

  ConsistentReader(const std::shared_ptr<client::Access>& access, const LiveView& view);

  // Reads until every condition has a holder, or to the end: then the other conditions had none at one moment
  // after the call. Where all are about the same namespace, that is read alone. A type whose CRD is gone has
  // no objects. Of a condition on a pattern (kube/patterns.h) CRDs are read: one of a type that the view does
  // not have is its holder. Fails with why the read did not finish until `deadline`, or which object could
  // not be read, so that nobody knows what it holds.
  kube::Result<void> readAll(const Conditions& conditions, TimePoint deadline, const Found& found) const;

  // The same, of a type that readAll() has gone through a moment ago: reads no more than its first page, and
  // as many times as may be needed to see that the watch knows of as many objects as the API server has.
  kube::Result<void> readAgain(const Conditions& conditions, TimePoint deadline, const Found& found) const;

  // All objects of a type, whole, as they were at one moment after this was called, without those that cannot
  // be read; none where its CRD is not there. Fails as readAll().
  kube::Result<std::vector<kube::Object>> readObjects(const kube::GroupResource& type,
                                                      TimePoint deadline) const;

  // Ends what is under way; from now on everything fails.
  void stop() { server_->stop(); }

 private:
  struct Place;
  struct Page;
  kube::Result<void> readObject(const kube::ResourceType& type, const graph::Condition& condition,
                                TimePoint deadline, const Found& found) const;
  kube::Result<void> readTypes(const graph::Condition& condition, TimePoint deadline,
                               const Found& found) const;
  kube::Result<bool> isDefined(const kube::GroupResource& type, TimePoint deadline) const;
  kube::Result<bool> isAggregated(const std::string& group, TimePoint deadline) const;
  bool isUndefined(const kube::GroupResource& type, int status, TimePoint deadline) const;
  kube::Result<void> checkLeftOut(const Conditions& conditions, TimePoint deadline) const;
  kube::Result<void> readUnserved(const kube::GroupResource& type, TimePoint deadline) const;
  // What to read of the objects of a list.
  struct Reading {
    client::Content content = client::Content::Metadata;
    bool passesOverUnread = false;                            // otherwise one that cannot be read fails
    client::ListStream::Wants wants;                          // false: the object is not read
    std::function<bool(client::StreamedObject object)> take;  // false: it has seen enough
  };
  kube::Result<Page> readPage(const kube::ResourceType& type, const Place& place, TimePoint deadline,
                              const Reading& reading) const;
  kube::Result<void> readPages(const kube::ResourceType& type, TimePoint deadline,
                               const Reading& reading) const;
  kube::Result<Page> seekOnPage(const kube::ResourceType& type, const Place& place, Conditions& sought,
                                TimePoint deadline, const Found& found) const;

  const std::unique_ptr<client::ApiServer> server_;
  const LiveView& view_;
};

}  // namespace lastout::server
