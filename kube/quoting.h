// printable and inQuotes: somebody's words inside a message.
#pragma once

#include <string>
#include <string_view>

namespace lastout::kube {

// The text, made safe to print and to put into JSON: control characters and bytes that are not UTF-8 become
// \x1b, and what is longer than 300 bytes ends in "...".
std::string printable(std::string_view text);

// The same in quotes.
std::string inQuotes(std::string_view text);

}  // namespace lastout::kube
