// Objects that are right, or wrong in one place, were sent to a real API server: the embedded one takes and
// refuses the same ones, for the same fields.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "tests/fidelity/page.h"
#include "tests/fidelity/rest_exchanges.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::fidelity {
namespace {

constexpr const char* kFolder = "tests/recordings/kubernetes-1.36/validation";
// What lastout itself writes at run time: each answer has to be the recorded one.
constexpr const char* kWrittenAtRunTime[] = {"policy", "binding", "webhook"};

constexpr const char* kNoConversion =
    "The conversion between a CRD's versions is not looked at: versions differ by apiVersion alone.";

struct Validated {
  std::string name;  // "002-policy-variable-namespace"
  std::string recorded;
  std::string own;

  std::string kind() const { return name.substr(4, name.find('-', 4) - 4); }
  bool isSame() const { return recorded == own; }
};

// Objects of which another answer is known, and why; by their names without the numbers.
const std::map<std::string, std::string>& knownDifferences() {
  static const std::map<std::string, std::string> kKnown = {
      {"crd-conversion-none-with-webhook", kNoConversion},
      {"crd-conversion-webhook-without", kNoConversion},
      {"deployment-limit-below-request",
       "`up` does not compare limits with requests, since it runs no containers."},
      {"deployment-unknown-field",
       "Unknown fields of built-in types are kept, but for what lastout writes at run time."},
  };
  return kKnown;
}

// "422 Invalid: FieldValueRequired spec.policyName": what a client's code goes by.
std::string inShort(int status, const Json& body) {
  std::string text = std::to_string(status);
  if (!body.is_object() || body.value("kind", "") != "Status") return text;
  text += " " + body.value("reason", "");
  const Json causes = body.value("details", Json::object()).value("causes", Json::array());
  for (const Json& cause : causes)
    text += (&cause == &causes.front() ? ": " : ", ") + cause.value("reason", "") + " " +
            cause.value("field", "");
  return text;
}

class Validation : public testing::ClusterTest {
 protected:
  static simulator::EmbeddedOptions ofRecording() {
    simulator::EmbeddedOptions options;
    options.kubernetes = kube::KubernetesVersion::V1_36;
    return options;
  }
  Validation() : ClusterTest(ofRecording()) {
    for (const auto& entry : std::filesystem::directory_iterator(kFolder))
      validated_.push_back(validate(entry));
    std::ranges::sort(validated_, {}, &Validated::name);
  }

  Validated validate(const std::filesystem::directory_entry& entry) {
    std::ifstream file(entry.path());
    const Json recorded = Json::parse(file);
    const Json& request = recorded["request"];
    const std::string path = request["path"];
    simulator::ExchangeRequest own;
    own.method = request["method"];
    own.path = path.substr(0, path.find('?'));
    own.query = {{"dryRun", "All"}, {"fieldValidation", "Strict"}};
    EXPECT_EQ(path.substr(own.path.size()), "?dryRun=All&fieldValidation=Strict") << entry.path();
    own.contentType = "application/json";
    own.body = simulator::toText(request["body"]);
    own.user = simulator::adminUser();
    const simulator::ExchangeResponse answer = cluster.handle(own);
    return {entry.path().stem().string(),
            inShort(recorded["response"]["status"], recorded["response"]["body"]),
            inShort(answer.status, Json::parse(answer.body, nullptr, false))};
  }

  static const std::string* knownReason(const Validated& one) {
    const auto found = knownDifferences().find(one.name.substr(4));
    return found == knownDifferences().end() ? nullptr : &found->second;
  }

  std::vector<Validated> validated_;
};

std::string validationSection(const std::vector<Validated>& all) {
  const auto same = std::ranges::count_if(all, &Validated::isSame);
  std::string text =
      "Of " + std::to_string(all.size()) + " objects, " + std::to_string(same) +
      " get the same answer: status, `reason`, and of each cause `reason` and `field`, in their order.\n";
  if (same == static_cast<long>(all.size())) return text;
  text += "\n| recorded | recorded answer | answer | why |\n|---|---|---|---|\n";
  for (const Validated& one : all) {
    const auto found = knownDifferences().find(one.name.substr(4));
    if (one.isSame() || found == knownDifferences().end()) continue;
    text += "| [" + one.name + "](../" + kFolder + "/" + one.name + ".json) | " + one.recorded + " | " +
            one.own + " | " + found->second + " |\n";
  }
  return text;
}

TEST_F(Validation, AnswersAsRecordedButForGivenReasons) {
  ASSERT_GE(validated_.size(), 160u);
  for (const Validated& one : validated_) {
    if (knownReason(one) != nullptr) continue;
    EXPECT_EQ(one.own, one.recorded) << one.name;
  }
}

TEST_F(Validation, GivesReasonsOnlyForWhatDiffers) {
  std::map<std::string, std::string> unused = knownDifferences();
  for (const Validated& one : validated_) {
    if (knownReason(one) == nullptr) continue;
    unused.erase(one.name.substr(4));
    EXPECT_FALSE(one.isSame()) << one.name << " does not differ any more: take its reason away";
    EXPECT_EQ(std::ranges::find(kWrittenAtRunTime, one.kind()), std::end(kWrittenAtRunTime)) << one.name;
  }
  for (const auto& [name, reason] : unused) ADD_FAILURE() << name << " is not recorded";
}

TEST_F(Validation, IsWhatThePageSays) {
  const std::string section = validationSection(validated_);
  PageParts page = readPage();
  if (std::getenv("LASTOUT_UPDATE_DOCS") != nullptr) {
    page.validation = section;
    writePage(page);
    return;
  }
  EXPECT_EQ(page.validation, section) << "scripts/update-docs writes docs/fidelity.md";
}

}  // namespace
}  // namespace lastout::fidelity
