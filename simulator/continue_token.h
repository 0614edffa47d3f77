// The token with which the next page of a list is asked for; in the API server's own form (recorded:
// rest/033, rest/034).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "simulator/status.h"

namespace lastout::simulator {

struct ContinueToken {
  uint64_t resourceVersion = 0;  // of the whole list, as its first page saw it; not 0
  std::string lastName;  // "<namespace>/<name>" or "<name>" of the last object of the page before; not empty
};

std::string toString(const ContinueToken& token);

// Fails with 400 (recorded: rest/039).
ApiResult<ContinueToken> parseContinueToken(std::string_view text);

}  // namespace lastout::simulator
