// Query: the part of a URL after its "?", taken apart.
#pragma once

#include <string_view>

#include "apiserver/request.h"
#include "apiserver/status.h"

namespace lastout::apiserver {

// Pieces between "&", each a key and, after its first "=", a value; "+" is a space and %xx a byte (URL
// Standard, application/x-www-form-urlencoded). Fails with 400 on a "%" that no two hexadecimal digits
// follow.
ApiResult<Query> parseQuery(std::string_view text);

}  // namespace lastout::apiserver
