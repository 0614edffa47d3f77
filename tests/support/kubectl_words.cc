#include "tests/support/kubectl_words.h"

#include <regex>

namespace lastout::testing {

std::string withoutNamespacesOfDeletions(const std::string& text) {
  static const std::regex kNamed(
      R"re(("[^"\n]+" (?:force )?deleted(?: \([a-z ]+\))?) from [a-z0-9-]+ namespace\b)re");
  return std::regex_replace(text, kNamed, "$1");
}

}  // namespace lastout::testing
