// Query: the part of a URL after its "?", taken apart (kube/query.h), for answers of the API.
#pragma once

#include <string_view>

#include "apiserver/request.h"
#include "apiserver/status.h"

namespace lastout::apiserver {

// Fails with 400 where kube::parseQuery() fails.
ApiResult<Query> parseQuery(std::string_view text);

}  // namespace lastout::apiserver
