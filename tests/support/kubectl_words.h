// What kubectl prints, in the words of its older releases, which the tests and the docs expect.
#pragma once

#include <string>

namespace lastout::testing {

// Returns the text without the namespaces that newer releases of kubectl name behind what they deleted:
// `pod "web" deleted` of `pod "web" deleted from shop namespace`.
std::string withoutNamespacesOfDeletions(const std::string& text);

}  // namespace lastout::testing
