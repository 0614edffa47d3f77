#include "replay/dead_calls.h"

#include <algorithm>

#include "kube/messages.h"

namespace lastout::replay {

namespace {

using cluster::Interception;
using cluster::Slot;

constexpr size_t kMostCalls = 5;  // in one sentence

// What a person can do about the calls of these configurations.
std::string wayOut(const Names& names, const std::vector<Slot>& webhooks, const std::vector<Slot>& crds) {
  std::string text;
  if (!webhooks.empty()) {
    text = "; " + names.list(webhooks) + (webhooks.size() == 1 ? " has" : " have") +
           " to be deleted, or its webhook to answer again";
  }
  if (!crds.empty())
    text += "; spec.conversion.strategy of " + names.list(crds) +
            " has to be None, or its webhook to answer again";
  return text;
}

void addOnce(std::vector<Slot>& list, Slot slot) {
  if (std::ranges::find(list, slot) == list.end()) list.push_back(slot);
}

}  // namespace

std::string whyNoAnswer(const cluster::Transition& cluster, const Names& names, const Interception& called) {
  const std::string service = called.serviceKey.namespaceName + "/" + called.serviceKey.name;
  if (called.service == cluster::kNone) return "its Service " + service + " is not in the files";
  if (!cluster.isPresent(called.service)) return "its Service " + service + " is gone";
  if (!called.unreachable.empty()) return names.of(called.service) + " " + called.unreachable;
  return "nothing Ready is behind " + names.of(called.service);
}

DeadCalls deadCalls(const cluster::Transition& cluster, const Names& names, Slot object,
                    bool Interception::*request) {
  DeadCalls result;
  std::vector<std::string> clauses;
  std::vector<Slot> webhooks;
  std::vector<Slot> crds;
  for (const Interception& called : cluster.info(object).interceptions) {
    if (!(called.*request) || !cluster.fails(called)) continue;
    addOnce(result.configurations, called.configuration);
    const bool isConversion = called.webhook.empty() && called.configuration == cluster.info(object).crd;
    addOnce(isConversion ? crds : webhooks, called.configuration);
    const std::string which =
        isConversion ? "the conversion webhook of " : "the webhook " + called.webhook + " of ";
    clauses.push_back(which + names.of(called.configuration) +
                      " does not answer: " + whyNoAnswer(cluster, names, called));
  }
  if (!clauses.empty())
    result.sentence = kube::joinedClauses(clauses, kMostCalls) + wayOut(names, webhooks, crds);
  return result;
}

}  // namespace lastout::replay
