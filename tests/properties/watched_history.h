// WatchedHistory: what happens to the types of a cluster, to its objects, to CriticalServices and to lastout
// itself, as plain data that a generator makes, a test shrinks, and a person can read. Some of what is meant
// by criteria is misspelt, comes late, goes, comes again, or may not be read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "criticalservice/critical_service.h"
#include "kube/object_key.h"

namespace lastout::testing {

struct WatchedHappening {
  enum class Kind : uint8_t {
    WriteService,   // CREATE, or UPDATE where one of its name stands
    RemoveService,  // somebody takes its last finalizer, or lastout did not ask
    CrdComes,
    CrdGoes,   // with all its instances
    ApiComes,  // the type is served without a CRD
    ApiGoes,
    Discovery,  // lastout finds out what is served
    RightsGo,   // lastout may not read the type any more
    RightsCome,
    WatchBreaks,
    WatchMends,
    TimePasses,   // more than a broken watch is believed for
    ObjectComes,  // or changes
    ObjectGoes,
    TemplateChanges,  // a Deployment's Pods are to mount another ConfigMap
    OldPodsEnd,       // the ReplicaSets of its earlier templates have no Pods any more
    Restart,          // of lastout
  };
  Kind kind = Kind::Restart;
  kube::GroupResource type = {};
  kube::ObjectKey object = {};  // TemplateChanges, OldPodsEnd: the Deployment
  std::vector<std::string> finalizers = {};
  std::optional<criticalservice::CriticalService> service = {};
  bool writesKinds = false;  // WriteService: `resource: CustomResourceDefinition`, as the document has it
  // Discovery, Restart: it still names types whose CRDs are gone. CrdComes, CrdGoes: the type's own watch
  // tells of that before the CRDs' does.
  bool isLate = false;
  std::string name = {};  // Discovery: the group that cannot be asked; TemplateChanges: the ConfigMap
};

using WatchedHistory = std::vector<WatchedHappening>;

namespace watched {
extern const kube::GroupResource kProbes, kChecks;  // of one group: namespaced, and cluster-scoped
extern const kube::GroupResource kValves;           // cluster-scoped; alone in its group
extern const kube::GroupResource kQuotes;           // namespaced; never has a CRD
const std::vector<kube::GroupResource>& definable();
// What somebody wrote who meant one of those: never there.
bool isSlip(const kube::GroupResource& type);
bool isNamespaced(const kube::GroupResource& type);
extern const kube::ObjectKey kAlpha, kBeta;  // the providers
// What somebody wrote for a provider or a dependency who took the scope of its type for the other one: a
// valve in a namespace, and a probe in none.
extern const kube::ObjectKey kMisplacedValve, kMisplacedProbe;
inline constexpr uint32_t kServices = 5;  // their names end in 0 to 4; the last two have such a provider
}  // namespace watched

WatchedHistory watchedHistory(uint64_t seed);
// A line each.
std::string describe(const WatchedHistory& history);

}  // namespace lastout::testing
