// Plans the patches that keep a protecting label, and the label that exempts from strict mode, on an object.
// Pure and stateless: after a restart between two patches it continues from the object's labels.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kube/object.h"
#include "protection/policy.h"

namespace lastout::protection {

// By key; nullopt: the label is removed.
using LabelPatch = std::map<std::string, std::optional<std::string>>;

// Returns what one patch is to change on an object with these labels; empty: nothing. A patch that removes or
// changes the protecting label also sets the exemption, so that strict mode lets it pass; the next patch,
// which strict mode does not look at any more, takes the exemption away again where it is not wanted.
LabelPatch planLabels(const LabelUpkeep& upkeep, const kube::Labels& labels);

// A policy that keeps labels on an object.
struct UpkeepOfObject {
  std::string policy;
  LabelUpkeep upkeep;
};

// What is to change about the labels of one object that several policies may keep.
struct LabelsPlan {
  LabelPatch patch;                     // empty: nothing
  std::vector<std::string> policies;    // that want it
  bool setsProtection = false;          // the patch sets a protecting label
  bool takesProtection = false;         // or takes one away
  std::chrono::seconds repairAfter{0};  // of the policies that want a protecting label
};

// Plans for the policies in their order. Where two keep a label with the same key, the first counts.
LabelsPlan planLabels(const std::vector<UpkeepOfObject>& upkeeps, const kube::Labels& labels);

}  // namespace lastout::protection
