// Roles and ClusterRoles: what their rules allow, whether a changed one visibly allows less, and whose rules
// an aggregating one collects.
#pragma once

#include <string>
#include <vector>

#include "kube/object.h"
#include "kube/selector.h"

namespace lastout::criticalservice {

// What one rule allows of objects; URLs are left out.
struct RoleRule {
  std::vector<std::string> groups;
  std::vector<std::string> resources;
  std::vector<std::string> verbs;
  std::vector<std::string> objects;  // names; empty: all of them
  friend bool operator==(const RoleRule&, const RoleRule&) = default;
};

std::vector<RoleRule> rulesOf(const kube::Object& role);

// A Role or ClusterRole as far as rights follow from it.
struct RoleContent {
  kube::Labels labels = {};
  // The selectors of its aggregationRule. The role has the rules of each ClusterRole that one of them
  // selects. A selector that cannot be read is left out; the API server refuses it.
  std::vector<kube::LabelSelector> aggregates = {};
  std::vector<RoleRule> rules = {};
};

RoleContent contentOf(const kube::Object& role);
// True if the ClusterRole's aggregationRule selects one with these labels.
bool collects(const RoleContent& role, const kube::Labels& labels);

// Some rule names the type, or all types.
bool areAbout(const std::vector<RoleRule>& rules, const kube::GroupResource& type);
// Some rule does so for objects of certain names alone.
bool areAboutNames(const std::vector<RoleRule>& rules, const kube::GroupResource& type);

// Some rule allows to update or patch the object: to take its finalizers off.
bool allowUpdating(const std::vector<RoleRule>& rules, const kube::ObjectKey& object);
// Some rule, for objects of all names, names "<type>/finalizers" (or all of the group by
// the group's name), and allows to update or patch it: whoever has it is likely to set and remove finalizers
// of its own on objects of the type.
bool nameFinalizersOf(const std::vector<RoleRule>& rules, const kube::GroupResource& type);
// The same of the type itself.
bool nameUpdatesOf(const std::vector<RoleRule>& rules, const kube::GroupResource& type);
// Some rule allows to update, patch or delete something, whatever it is.
bool allowAnyWriting(const std::vector<RoleRule>& rules);

// The rules allow all that the former ones do. False also for what is too much to be looked through:
// kMostLooks.
bool allowAll(const std::vector<RoleRule>& rules, const std::vector<RoleRule>& former);
inline constexpr size_t kMostLooks = 200'000;  // at one of the rules, for one thing that was allowed

}  // namespace lastout::criticalservice
