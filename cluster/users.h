// users: under which names the actors of a model send their requests.
#pragma once

#include <string>
#include <vector>

#include "cluster/machine.h"

namespace lastout::cluster {

// Returns the user that sends a request for the object; `by` as of Event.
std::string userOf(const Model& model, Actor actor, uint32_t by, Slot object);

// Returns the groups that the API server gives a user of that name; a person's own are not known.
std::vector<std::string> groupsOf(const std::string& user);

}  // namespace lastout::cluster
