// Query: the part of a URL after its "?", taken apart (kube/query.h), for answers of the API.
#pragma once

#include <string_view>

#include "simulator/request.h"
#include "simulator/status.h"

namespace lastout::simulator {

// Fails with 400 where kube::parseQuery() fails.
ApiResult<Query> parseQuery(std::string_view text);

}  // namespace lastout::simulator
