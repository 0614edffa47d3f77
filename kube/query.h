// Query: the part of a URL after its "?", taken apart.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "kube/result.h"

namespace lastout::kube {

// The parameters; of one given twice the first counts, as for API servers.
using Query = std::map<std::string, std::string, std::less<>>;

// Pieces between "&", each a key and, after its first "=", a value; "+" is a space and %xx a byte (URL
// Standard, application/x-www-form-urlencoded). Fails on a "%" that no two hexadecimal digits follow.
Result<Query> parseQuery(std::string_view text);

}  // namespace lastout::kube
