// What no update may change, in the API server's words.
#pragma once

#include <string_view>
#include <vector>

#include "simulator/json.h"
#include "simulator/metadata.h"
#include "simulator/status.h"

namespace lastout::simulator {

// Why `object`, prepared, may not be written over `old`; none when it may. What the metadata's two checks
// find is there twice, as recorded in rest/065.
std::vector<Cause> forbiddenChanges(const TypeRules& rules, const Json& old, const Json& object,
                                    std::string_view subresource);

}  // namespace lastout::simulator
