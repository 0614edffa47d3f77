// forms: what is written on an object over its life, as a vocabulary. Internal to cluster/.
#pragma once

#include "cluster/model.h"

namespace lastout::cluster {

// True if the two look alike to everybody.
bool isSame(const ObjectForm& one, const ObjectForm& other);

// Returns the form after the change.
ObjectForm changed(const ObjectForm& form, const FormChange& change);

// Returns the number of the form among the slot's, and adds it if it is new. Fails where there are too many.
kube::Result<uint8_t> formNumber(Model& model, Slot slot, ObjectForm form);

// Says of each form of the slot where each step that changes it leads, and adds the forms that follow.
kube::Result<void> growForms(Model& model, Slot slot);

}  // namespace lastout::cluster
