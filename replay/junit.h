// JUnit: results in the XML that CI systems read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lastout::replay {

struct JUnitCase {
  std::string name;
  std::optional<std::string> failure;  // why; nullopt: it passed
};

// Of one scenario.
struct JUnitSuite {
  std::string name;
  std::string file;
  std::vector<JUnitCase> cases;
  std::string output;  // what people read of it; empty: nothing
};

size_t failuresIn(const JUnitSuite& suite);

// Returns the document; `program` is its name. Characters that XML 1.0 does not allow are left out.
std::string toJUnit(std::string_view program, std::span<const JUnitSuite> suites);

}  // namespace lastout::replay
