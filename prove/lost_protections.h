// lost_protections: what DeletionPolicies protected in one model and no longer protect in another of the same
// cluster; a part of what lost_guards.h compares. And which objects of a model count in such a comparison.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "cluster/model.h"
#include "kube/object_key.h"
#include "prove/lost_guards.h"

namespace lastout::prove {

inline constexpr size_t kMostGuarded = 5;  // names in a sentence

// True if the object is there from the beginning, or a step may create it.
bool mayBeThere(const cluster::Model& model, cluster::Slot slot);
// nullopt: it is never there.
std::optional<cluster::Slot> slotOf(const cluster::Model& model, const kube::ObjectKey& key);

// True if a policy may deny the deletion of an object that may be there, or hold it.
bool protectsAny(const cluster::Model& model);
// Each object once, or each group of objects that the same policies protected.
std::vector<LostGuard> lostProtections(const cluster::Model& before, const cluster::Model& now);

}  // namespace lastout::prove
