// What the workload controllers create and write: a Deployment's ReplicaSet, everybody's Pods, and the status
// of each. New objects come as the controller sends them: without uid, times, defaults and status.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/json.h"

namespace lastout::simulator {

// How many of a workload's Pods there are, and in which state.
struct ReplicaCounts {
  int64_t replicas = 0;
  int64_t ready = 0;
  int64_t available = 0;
  int64_t updated = 0;                      // of the newest template
  std::optional<int64_t> terminating = {};  // nullopt: is not told (kube::countsTerminatingReplicas())
};

// --- Deployments
// The ReplicaSet "<deployment>-<hash>" for the present template. Recorded in admission/04.
Json replicaSetOf(const Json& deployment, std::string_view name, int64_t revision);
// An existing ReplicaSet after its Deployment's replicas or annotations changed (admission/10).
Json followingReplicaSet(const Json& deployment, Json replicaSet);
// The Deployment as the controller writes it, through `status`, once it has created a ReplicaSet: its
// revision as an annotation, and that it progresses (admission/05).
Json withNewReplicaSet(Json deployment, std::string_view replicaSet, int64_t revision, std::string_view now);
// The Deployment with the status for these counts; `replicaSet` is the name of the newest one. The conditions
// Available and Progressing follow from those before (rest/077, 079, story-guarded.jsonl). Where nothing has
// changed it is the same Deployment; that holds for the three below, too.
Json observedDeployment(Json deployment, std::string_view replicaSet, const ReplicaCounts& counts,
                        std::string_view now);

// --- the others, with their status
Json observedReplicaSet(Json replicaSet, const ReplicaCounts& counts);
Json observedStatefulSet(Json statefulSet, std::string_view revision, const ReplicaCounts& counts);
// `nodes`: how many should run a Pod.
Json observedDaemonSet(Json daemonSet, int64_t nodes, const ReplicaCounts& counts);

// --- Pods
Json podOfReplicaSet(const Json& replicaSet);  // admission/06
Json podOfStatefulSet(const Json& statefulSet, int64_t ordinal, std::string_view revision);
Json podOfDaemonSet(const Json& daemonSet, std::string_view node, std::string_view revision);

// --- What happens to a Pod on its node, as the scheduler and the node report it.

// All containers run and are ready; nothing new of one that runs already. Recorded in story-guarded.jsonl;
// the Pod's address and start time, which that recording's pretended node leaves out, are those of a real
// one.
Json readyPod(Json pod, std::string_view now);
// All containers have ended, as they should; nothing new of one that has ended already.
Json stoppedPod(Json pod, std::string_view now);

// An address out of 10.244.0.0/16 that depends on the Pod's uid alone.
std::string podIpOf(std::string_view uid);

}  // namespace lastout::simulator
