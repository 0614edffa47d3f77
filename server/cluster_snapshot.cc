#include "server/cluster_snapshot.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "client/api_server.h"
#include "client/discovery.h"
#include "client/metadata_stream.h"
#include "criticalservice/critical_service.h"
#include "graph/names.h"
#include "kube/reference.h"
#include "server/controllers/dependency_standing.h"
#include "server/protection_snapshot.h"
#include "server/question_server.h"
#include "server/runtime/loop.h"
#include "server/runtime/object_client.h"
#include "server/spec_snapshot.h"
#include "server/unwatched_dependents.h"
#include "server/watch/watches.h"

namespace lastout::server {
namespace {

kube::Error notTold(std::string message) { return {std::move(message), {}, {}}; }

// Every type that is followed was listed, or it is known why it cannot be.
bool isListed(const LiveView& view) {
  return std::ranges::none_of(
      view.standings(), [](const TypeStanding& type) { return type.knowledge == graph::Knowledge::Unknown; });
}

std::string inBrackets(const std::string& why) { return why.empty() ? "" : " (" + why + ")"; }

kube::Error whatIsMissing(const LiveView& view, std::chrono::milliseconds patience) {
  std::string types;
  for (const TypeStanding& type : view.standings()) {
    if (type.knowledge != graph::Knowledge::Unknown) continue;
    types += (types.empty() ? "" : ", ") + toString(type.type) + inBrackets(type.why);
  }
  return notTold("the cluster did not tell what is there in " + std::to_string(patience.count() / 1'000) +
                 " s: " + types);
}

// What keeps a type from being known; asked with the rights of whoever asks, not with those of a `lastout
// serve`.
std::string whyUntold(const TypeStanding& type) {
  switch (type.knowledge) {
    case graph::Knowledge::Forbidden:
      return "you may not list " + toString(type.type);
    case graph::Knowledge::Unserved:
      return toString(type.type) + " is not served now";
    default:
      return toString(type.type) + " cannot be read now";
  }
}

// Whoever asks may have few of these rights: one warning is enough.
std::string warningOfDependencies(const std::vector<TypeStanding>& types) {
  std::string text;
  for (const TypeStanding& type : types) text += (text.empty() ? "" : ", ") + toString(type.type);
  return "not all that providers need is known here, as these cannot be read: " + text +
         inBrackets(types.front().why);
}

kube::Result<std::vector<std::string>> warningsOf(const LiveView& view) {
  std::vector<std::string> warnings;
  std::vector<TypeStanding> ofDependencies;
  for (TypeStanding& type : view.standings()) {
    if (graph::believable(type.knowledge)) continue;
    if (isFollowedForDependencies(type.type)) {
      ofDependencies.push_back(std::move(type));
      continue;
    }
    if (type.type == criticalservice::criticalServiceType())
      return tl::unexpected(
          notTold(whyUntold(type) + ", so nothing can be told of what is guarded" + inBrackets(type.why)));
    warnings.push_back(whyUntold(type) + ", so what depends on that type counts as unknown here" +
                       inBrackets(type.why));
  }
  if (!ofDependencies.empty()) warnings.push_back(warningOfDependencies(ofDependencies));
  return warnings;
}

// Where its type is known, whoever looks the object up says what is wrong with the reference.
kube::Result<void> lookUp(client::ApiServer& server, const std::string& reference,
                          admission::KnownCluster& cluster) {
  const auto pattern = kube::parsePattern(reference, cluster.types);
  if (!pattern) return {};
  const auto known = cluster.graph.findType(pattern->key.type);
  const auto knowledge = known ? cluster.graph.knowledge(*known) : graph::Knowledge::Unknown;
  if (graph::believable(knowledge)) return {};
  auto key = kube::parseReference(reference, cluster.types);
  if (!key && knowledge == graph::Knowledge::Forbidden && pattern->anyNamespace)
    return tl::unexpected(notTold("you may not list " + toString(pattern->key.type) +
                                  " in all namespaces, so " + key.error().message));
  // Somebody names it, and says where it is.
  const auto named = graph::findObject(cluster.graph, reference, cluster.types);
  if (!key && named && named->key) key = *named->key;
  if (!key) return {};
  const auto read = ObjectClient(server).askForMetadata(
      client::objectPath(*cluster.types.find(key->type), key->namespaceName, key->name));
  if (!read)
    return tl::unexpected(notTold((read.error().code == 0 ? "" : toString(*key) + ": ") + read.error().why));
  cluster.graph.upsert(cluster.graph.internType(key->type), *read);
  return {};
}

// Reads what keeps the object, or its deletion, beyond what is followed: what it waits for while it is being
// deleted, and what the contents of other objects say. Returns what could not be read, in a sentence.
std::string lookAround(client::ApiServer& server, const std::string& reference,
                       admission::KnownCluster& cluster) {
  const auto found = graph::findObject(cluster.graph, reference, cluster.types);
  const auto object = found && found->key ? cluster.graph.find(*found->key) : std::nullopt;
  if (!object) return {};
  UnwatchedReader reader(server);
  if (cluster.graph.isTerminating(*object)) addUnwatchedDependents(reader, *found->key, cluster);
  addSpecBlockers(reader, *found->key, cluster);
  const std::string unread = reader.unread();
  return unread.empty() ? unread
                        : "not all that could keep " + toString(*found->key) +
                              " is known here, as these cannot be read: " + unread;
}

// What policies say of the object. Returns what could not be read, in a sentence.
std::string addProtections(const std::shared_ptr<client::Access>& access, const LiveView& view,
                           const ClusterSnapshotOptions& options, admission::KnownCluster& cluster) {
  const auto found = graph::findObject(cluster.graph, options.reference, cluster.types);
  if (!found || !found->key) return {};
  const kube::ResourceType* type = cluster.types.find(found->key->type);
  const auto object = cluster.graph.find(*found->key);
  if (type == nullptr || !object || !cluster.graph.isPresent(*object)) return {};
  ProtectionSnapshot told =
      takeProtectionSnapshot(access, view,
                             {*type, *found->key, options.policyClusters, options.random,
                              std::chrono::steady_clock::now() + options.patience});
  if (!told.denials.empty()) cluster.protections.emplace(*found->key, std::move(told.denials));
  return std::move(told.warning);
}

// Whether all of it was listed in time.
bool listAll(const std::shared_ptr<client::Access>& access, LiveView& view,
             const ClusterSnapshotOptions& options) {
  WatchesOptions quietly;
  quietly.random = options.random;
  quietly.log = [](Level, const std::string&) {};  // what stays unknown is told in the end
  Bell bell;
  Watches watches(access, view, std::move(quietly));
  watches.observe([&bell] { bell.ring(); });
  watches.start();
  const TimePoint deadline = std::chrono::steady_clock::now() + options.patience;
  while (!isListed(view) && std::chrono::steady_clock::now() < deadline) bell.waitUntil(deadline);
  watches.stop();
  return isListed(view);
}

}  // namespace

kube::Result<ClusterSnapshot> takeClusterSnapshot(const std::shared_ptr<client::Access>& access,
                                                  const ClusterSnapshotOptions& options) {
  const auto server = access->newServer();
  // Whether anybody is there is known at once, and in words.
  if (auto served = client::discover(*server); !served) return tl::unexpected(std::move(served.error()));
  LiveView view({});
  if (!listAll(access, view, options)) return tl::unexpected(whatIsMissing(view, options.patience));
  auto warnings = warningsOf(view);
  if (!warnings) return tl::unexpected(std::move(warnings.error()));
  ClusterSnapshot asked{copyOf(view), std::move(*warnings)};
  asked.cluster.reader = admission::ExplanationReader::WhoAsked;
  if (options.reference.empty()) return asked;
  if (auto found = lookUp(*server, options.reference, asked.cluster); !found)
    return tl::unexpected(std::move(found.error()));
  if (std::string unread = lookAround(*server, options.reference, asked.cluster); !unread.empty())
    asked.warnings.push_back(std::move(unread));
  if (std::string unread = addProtections(access, view, options, asked.cluster); !unread.empty())
    asked.warnings.push_back(std::move(unread));
  return asked;
}

}  // namespace lastout::server
