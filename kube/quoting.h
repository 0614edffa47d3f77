// printable, atMost and inQuotes: somebody's words inside a message.
#pragma once

#include <string>
#include <string_view>

namespace lastout::kube {

// The text, made safe to print and to put into JSON: control characters and bytes that are not UTF-8 become
// \x1b, and what is longer than 300 bytes ends in "...".
std::string printable(std::string_view text);

// The same, however long it is: for a text that is bounded elsewhere.
std::string printableWhole(std::string_view text);

// At most so many bytes of it, and no half character. UTF-8.
std::string atMost(std::string text, size_t bytes);

// The text as printable() makes it, in quotes.
std::string inQuotes(std::string_view text);

}  // namespace lastout::kube
