// The tables of a Murphi model: what a scenario's objects are, as functions of their names. Internal to
// prove/.
#pragma once

#include <string>

#include "prove/murphi_text.h"

namespace lastout::prove {

// Returns the tables of the objects, of the calls to webhooks, of controllers and of what lastout guards.
std::string murphiTables(const cluster::Model& model, const MurphiNames& names);

}  // namespace lastout::prove
