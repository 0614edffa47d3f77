#include "replay/junit.h"

#include <algorithm>

namespace lastout::replay {
namespace {

// Characters that XML 1.0 does not allow are left out.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      case '\n':
        result += "&#10;";
        break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20 || c == '\t') result += c;
    }
  }
  return result;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + escaped(value) + "\"";
}

std::string counts(size_t tests, size_t failures) {
  return attribute("tests", std::to_string(tests)) + attribute("failures", std::to_string(failures));
}

std::string testCase(const JUnitSuite& suite, const JUnitCase& one) {
  std::string xml = "    <testcase" + attribute("classname", suite.name) + attribute("name", one.name);
  if (!one.failure) return xml + "/>\n";
  return xml + ">\n      <failure" + attribute("message", *one.failure) + "/>\n    </testcase>\n";
}

std::string testSuite(const JUnitSuite& suite) {
  std::string xml = "  <testsuite" + attribute("name", suite.name) + attribute("file", suite.file) +
                    counts(suite.cases.size(), failuresIn(suite)) + ">\n";
  for (const JUnitCase& one : suite.cases) xml += testCase(suite, one);
  if (!suite.output.empty()) xml += "    <system-out>" + escaped(suite.output) + "</system-out>\n";
  return xml + "  </testsuite>\n";
}

}  // namespace

size_t failuresIn(const JUnitSuite& suite) {
  return static_cast<size_t>(
      std::ranges::count_if(suite.cases, [](const JUnitCase& one) { return one.failure.has_value(); }));
}

std::string toJUnit(std::string_view program, std::span<const JUnitSuite> suites) {
  std::string text;
  size_t tests = 0;
  size_t failures = 0;
  for (const JUnitSuite& suite : suites) {
    text += testSuite(suite);
    tests += suite.cases.size();
    failures += failuresIn(suite);
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", program) +
         counts(tests, failures) + ">\n" + text + "</testsuites>\n";
}

}  // namespace lastout::replay
