// toYaml: what it looks like, and that the same values are read from it.
#include "kube/yaml_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "kube/parse.h"

namespace lastout::kube {
namespace {

using Ordered = nlohmann::ordered_json;

Ordered readBack(const std::string& yaml) {
  const auto documents = parseYaml(yaml, "");
  EXPECT_TRUE(documents) << toString(documents.error()) << "\n" << yaml;
  if (!documents || documents->empty()) return nullptr;
  return toJson(documents->front());
}

TEST(ToYaml, ReadsAsAManifest) {
  const Ordered object =
      Ordered::parse(R"({"kind": "Pod", "metadata": {"name": "a", "labels": {"a.b/c": "true"}},
    "spec": {"rules": [{"group": "", "names": ["x", "*"]}, {"group": "apps"}], "empty": {}, "none": [],
    "replicas": 2, "paused": false, "text": "one:\ntwo\n\n- three", "nested": [["a"], ["b", "c"]]}})");
  EXPECT_EQ(toYaml(object), R"(kind: Pod
metadata:
  name: a
  labels:
    a.b/c: "true"
spec:
  rules:
  - group: ""
    names:
    - x
    - "*"
  - group: apps
  empty: {}
  none: []
  replicas: 2
  paused: false
  text: |-
    one:
    two

    - three
  nested:
  - - a
  - - b
    - c
)");
  EXPECT_EQ(readBack(toYaml(object)), object);
}

Ordered randomValue(std::mt19937_64& random, int depth) {
  static const std::vector<std::string> kTexts{
      "",       "a",    "true", "No", "null", "~",   "1",    "1e3",    "0x1f", "-",   ": ", "a: b",
      "# a",    "a #b", " a",   "a ", "a\nb", "\na", "a\n",  "a\n\nb", "'",    "\"",  "\\", "{a}",
      "[a]",    "&a",   "*",    "!a", "|",    ">",   "%",    "@",      "`",    "\t",  "é",  "a\n  b",
      "a\r\nb", "\x01", "\x7f", "y",  "N",    "off", ".inf", ".nan",   "---",  "a,b", "?",  "2001-01-01"};
  const uint64_t what = random() % (depth > 3 ? 5 : 8);
  if (what == 0) return random() % 2 == 0;
  if (what == 1) return static_cast<int64_t>(random() % 2001) - 1000;
  if (what == 2) return nullptr;
  if (what < 5) return kTexts[random() % kTexts.size()];
  Ordered made = what == 5 ? Ordered::array() : Ordered::object();
  for (uint64_t i = random() % 4; i > 0; --i) {
    if (what == 5)
      made.push_back(randomValue(random, depth + 1));
    else
      made[kTexts[random() % kTexts.size()]] = randomValue(random, depth + 1);
  }
  return made;
}

TEST(ToYaml, TheSameValuesAreReadFromIt) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 3'000; ++i) {
    const Ordered value = {{"a", randomValue(random, 0)}};
    const std::string yaml = toYaml(value);
    ASSERT_EQ(readBack(yaml), value) << yaml;
  }
}

}  // namespace
}  // namespace lastout::kube
