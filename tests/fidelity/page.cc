#include "tests/fidelity/page.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/fidelity/expected_differences.h"

namespace lastout::fidelity {
namespace {

constexpr const char* kPage = "docs/fidelity.md";
constexpr const char* kReviews136 = R"(
## Reviews

What a webhook is asked, when a client does what caused the recorded AdmissionReviews: the same fields, the same absent fields, the
same values. The comparison also ignores generated names. A hub is named by its namespace here, where the
recorded agent takes a hash of its address. That uids agree with each other is compared.

### Kubernetes 1.36

)";
constexpr const char* kReviews126 = "\n### Kubernetes 1.26\n\n";
constexpr const char* kValidation = R"(
## Validation

Objects of the types that lastout writes or is installed with, each right or wrong in one place, were sent to Kubernetes 1.36 as dry runs.
)";

constexpr const char* kHead = R"(# Fidelity

How the embedded cluster answers what was asked of real control planes, Kubernetes 1.36 and, with `--kubernetes 1.26`, 1.26.
The recorded requests are made in their order, with as much time between them as then, and every answer is compared with the recorded one: status, body, and the headers
`Content-Type`, `Warning` and `Retry-After`; of a watch the events, in their order. The comparison ignores values that are generated
in each run (uids, times, resource versions, continue tokens), `managedFields`, audit ids, and the objects that
the recorded control plane's distributor adds.

The test `fidelity_test` makes this page and keeps it true: an answer that differs without a reason fails it, and so does a
reason for what does not differ any more.

## Kubernetes 1.36

)";

// As code within a table, cut where it is long.
std::string code(const std::string& text) {
  constexpr size_t kMost = 160;
  std::string result = "`" + (text.size() > kMost ? text.substr(0, kMost) + "…" : text) + "`";
  for (size_t found = result.find('|'); found != std::string::npos; found = result.find('|', found + 2))
    result.insert(found, "\\");
  return result;
}

struct Reason {
  std::string text;
  std::string differences;
  std::string missing;
};

void append(std::string& list, const char* separator, const std::string& text) {
  list += (list.empty() ? "" : separator) + text;
}

void describe(const Difference& difference, bool varies, Reason& reason) {
  const std::string path = code(difference.path);
  if (varies) return append(reason.differences, "; ", path);
  if (difference.own.empty()) return append(reason.missing, ", ", path);
  if (difference.recorded.empty()) return append(reason.differences, "; ", path + " is only here");
  append(reason.differences, "; ",
         path + " was " + code(difference.recorded) + ", is " + code(difference.own));
}

// Differences of one reason stand together.
std::string answerCell(const Replayed& one) {
  if (one.differences.empty()) return "same";
  std::vector<Reason> reasons;
  for (const Difference& difference : one.differences) {
    const ExpectedDifference* expected = expectationOf(one.exchange, difference);
    const std::string text = expected == nullptr ? "**No reason is given.**" : expected->reason;
    auto reason = std::ranges::find(reasons, text, &Reason::text);
    if (reason == reasons.end()) reason = reasons.insert(reason, {text, "", ""});
    describe(difference, expected != nullptr && expected->varies, *reason);
  }
  std::string cell;
  for (const Reason& reason : reasons) {
    append(cell, "<br>", reason.text);
    if (!reason.differences.empty()) cell += " " + reason.differences;
    if (!reason.missing.empty()) cell += " Not here: " + reason.missing;
  }
  return cell;
}

std::string row(const Replayed& one) {
  const RestExchange& exchange = one.exchange;
  return "| [" + exchange.name + "](../tests/recordings/" + exchange.recording + "/rest/" + exchange.name +
         ".json) | " + code(exchange.method + " " + exchange.path) + " | " +
         exchange.answer["status"].dump() + " | " + answerCell(one) + " |\n";
}

std::string section(const std::vector<Replayed>& all, const char* recording) {
  std::vector<Replayed> exchanges;
  std::ranges::copy_if(all, std::back_inserter(exchanges),
                       [&](const Replayed& one) { return one.exchange.recording == recording; });
  const auto isSame = [](const Replayed& one) { return one.differences.empty(); };
  const auto same = std::ranges::count_if(exchanges, isSame);
  std::string text =
      "Of " + std::to_string(exchanges.size()) + " answers, " + std::to_string(same) + " are the same.\n\n";
  text += "| recorded | request | status | answer |\n|---|---|---|---|\n";
  for (const Replayed& one : exchanges) text += row(one);
  for (const LeftOut& left : leftOut()) {
    if (left.recording == recording) text += "\n" + left.exchange + " is left out. " + left.reason + "\n";
  }
  return text;
}

}  // namespace

std::string pageOf(const std::vector<Replayed>& exchanges) {
  return kHead + section(exchanges, kKubernetes136) + "\n## Kubernetes 1.26\n\n" +
         section(exchanges, kKubernetes126);
}

PageParts readPage() {
  std::ifstream file(kPage, std::ios::binary);
  std::stringstream written;
  written << file.rdbuf();
  const std::string text = written.str();
  const size_t first = text.find(kReviews136);
  const size_t second = text.find(kReviews126, first);
  const size_t third = text.find(kValidation, second);
  if (first == std::string::npos || second == std::string::npos || third == std::string::npos)
    return {text, "", "", ""};
  const auto part = [&text](size_t begin, std::string_view heading, size_t end) {
    return text.substr(begin + heading.size(), end - begin - heading.size());
  };
  return {text.substr(0, first), part(first, kReviews136, second), part(second, kReviews126, third),
          part(third, kValidation, text.size())};
}

void writePage(const PageParts& parts) {
  std::ofstream file(kPage, std::ios::binary);
  file << parts.answers << kReviews136 << parts.reviews136 << kReviews126 << parts.reviews126 << kValidation
       << parts.validation;
}

}  // namespace lastout::fidelity
