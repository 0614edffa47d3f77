// GuardIndex: from an object's name to its guard entries, kept up to date as CriticalServices come, change
// and go.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "admission/decide.h"
#include "admission/deletion_effect.h"
#include "admission/guards.h"
#include "criticalservice/critical_service.h"
#include "graph/graph.h"
#include "graph/hash_index.h"
#include "kube/resource_map.h"

namespace lastout::admission {

// An ObjectKey that borrows its parts, to look up what a review names without building strings.
struct KeyView {
  std::string_view group;
  std::string_view resource;
  std::string_view namespaceName;
  std::string_view name;

  bool isOf(const kube::GroupResource& type) const {
    return resource == type.resource && group == type.group;
  }
};
KeyView viewOf(const kube::ObjectKey& key);

// Lists of conditions in one vector; freed space is used again, by size.
class CriteriaPool {
 public:
  uint32_t allocate(std::vector<uint32_t>& storage, uint32_t count);  // where the list begins
  void release(uint32_t first, uint32_t count);

 private:
  std::vector<std::vector<uint32_t>> free_;  // by the binary logarithm of the size
};

// The guard entries of one object. Nearly always there are one or two, which need no memory of their own.
class GuardEntries {
 public:
  void push(const GuardEntry& guardEntry);
  void pop();  // the last one
  GuardEntry& operator[](size_t index) { return many_.empty() ? few_[index] : many_[index]; }
  size_t size() const { return many_.empty() ? count_ : many_.size(); }
  std::span<const GuardEntry> all() const {
    return many_.empty() ? std::span(few_.data(), count_) : std::span(many_);
  }

 private:
  std::array<GuardEntry, 2> few_;
  uint32_t count_ = 0;            // of few_
  std::vector<GuardEntry> many_;  // when not empty, all of them
};

// Numbers CriticalServices, compiles them into ServiceRules over a graph's conditions, and adds the order of
// deletions to that graph, so that graph queries show it: the provider, its namespace and its CRD after the
// criteria, and the CriticalService after the provider.
//
// Threading: as graph::Graph's: one writer, and readers only while it does not write. A copy, with the
// graph's snapshot taken at the same time, can be read by others.
class GuardIndex {
 public:
  // `ownNamespace`: the one lastout runs in, empty when it runs outside the cluster. The index is of this
  // graph only: every call below that takes a graph takes the same one.
  explicit GuardIndex(graph::Graph& graph, std::string ownNamespace = {});

  // Adds the service, or replaces the one of the same name, which keeps its number. The cost grows with the
  // size of the service, and is near zero if only its metadata or its status changed. `types` says which CRDs
  // to guard, `dependencies` what its provider needs.
  uint32_t put(graph::Graph& graph, const criticalservice::CriticalService& service,
               const kube::ResourceMap& types, Dependencies dependencies = {});
  // False when there is no such service. Its number and its conditions are used again.
  bool remove(graph::Graph& graph, std::string_view name);

  // Returns the guard entries of the object, in no particular order; empty: the object is not guarded. Valid
  // until the next change. Does not allocate.
  std::span<const GuardEntry> guardEntries(const KeyView& key) const;
  std::span<const GuardEntry> guardEntries(const kube::ObjectKey& key) const;

  const ServiceRules& rules() const { return rules_; }
  bool exists(uint32_t service) const { return decided_[service].exists; }
  const criticalservice::CriticalService& service(uint32_t number) const { return slots_[number].service; }
  criticalservice::DeletionIntent intent(uint32_t service) const { return decided_[service].intent; }
  criticalservice::EnforcementMode enforcement(uint32_t service) const {
    return decided_[service].enforcement;
  }
  // What the service's provider needs, by object.
  const Dependencies& dependencies(uint32_t service) const { return slots_[service].dependencies; }
  // The service's number, or graph::kNone.
  uint32_t find(std::string_view name) const;
  size_t size() const { return numbers_.size(); }  // how many services exist
  // Held by every CriticalService: its knowledge says whether they are all known.
  graph::ConditionId allServices() const { return allServices_; }

 private:
  struct Place {  // of one guard entry
    uint32_t list = 0;
    uint32_t position = 0;
  };
  struct Slot {
    criticalservice::CriticalService service;
    Dependencies dependencies;
    std::vector<Place> places;
  };
  // The fields of a service that decide() reads, kept apart from the others because every review reads them.
  struct DecidedFields {
    bool exists = false;
    criticalservice::DeletionIntent intent = criticalservice::DeletionIntent::Ordered;
    criticalservice::EnforcementMode enforcement = criticalservice::EnforcementMode::Deny;
  };
  // The guard entries of one object. Its key is one text, to compare in one place of memory.
  struct GuardEntryList {
    std::string key;
    uint32_t hash = 0;
    GuardEntries guardEntries;
  };
  struct NameHash {
    using is_transparent = void;
    size_t operator()(std::string_view name) const { return std::hash<std::string_view>{}(name); }
  };

  uint32_t takeNumber();
  void compile(graph::Graph& graph, uint32_t number);
  void discard(graph::Graph& graph, uint32_t number);
  void order(graph::Graph& graph, uint32_t number, const std::vector<Guard>& guards);
  uint32_t findList(const KeyView& key, uint32_t hash) const;
  void addGuardEntry(const Guard& guard, uint32_t number);
  void removeGuardEntries(uint32_t number);

  std::string ownNamespace_;
  graph::ConditionId allServices_;
  ServiceRules rules_;
  CriteriaPool criteriaPool_;
  std::vector<Slot> slots_;  // by number, as decided_ and rules_.services
  std::vector<DecidedFields> decided_;
  std::vector<uint32_t> freeNumbers_;
  std::unordered_map<std::string, uint32_t, NameHash, std::equal_to<>> numbers_;
  std::vector<GuardEntryList> lists_;
  std::vector<uint32_t> freeLists_;
  graph::HashIndex listOf_;  // by the hash of its key
};

// The live graph's facts, for decide().
class GraphFacts {
 public:
  GraphFacts(const graph::Graph& graph, const GuardIndex& index) : graph_(graph), index_(index) {}

  bool servicesKnown() const { return believable(graph_.knowledge(index_.allServices())); }
  bool exists(uint32_t service) const { return index_.exists(service); }
  criticalservice::DeletionIntent intent(uint32_t service) const { return index_.intent(service); }
  criticalservice::EnforcementMode enforcement(uint32_t service) const { return index_.enforcement(service); }
  uint32_t holders(uint32_t condition) const { return graph_.holders(graph::ConditionId{condition}); }
  bool awaitsOwned(uint32_t condition) const;
  graph::Knowledge knowledge(uint32_t condition) const {
    return graph_.knowledge(graph::ConditionId{condition});
  }

 private:
  const graph::Graph& graph_;
  const GuardIndex& index_;
};

static_assert(Facts<GraphFacts>);

// Returns the effect of a DELETE of the object that names no propagationPolicy, as kubectl's default DELETE.
DeletionEffect deletionEffectOf(const graph::Graph& graph, graph::ObjectId object,
                                RequestedPropagation asked = RequestedPropagation::Nothing);

}  // namespace lastout::admission
