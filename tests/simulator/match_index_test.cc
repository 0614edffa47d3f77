// MatchIndex: it finds all that match, and few others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <vector>

#include "simulator/match_resources.h"

namespace lastout::simulator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using Operator = kube::SelectorRequirement::Operator;

kube::MatchResources about(const std::string& group, const std::string& resource) {
  kube::MatchResources matches;
  kube::RuleWithOperations rule;
  rule.operations = {"*"};
  rule.groups = {group};
  rule.versions = {"*"};
  rule.resources = {resource};
  matches.rules.push_back(std::move(rule));
  return matches;
}

kube::MatchResources selecting(kube::MatchResources matches,
                               std::vector<kube::SelectorRequirement> requirements) {
  matches.objectSelector.requirements = std::move(requirements);
  return matches;
}

ReviewRequest deletionOf(const Json& object, const std::string& group, const std::string& resource) {
  ReviewRequest request;
  request.operation = "DELETE";
  request.type = {group, resource};
  request.version = "v1";
  request.oldObject = &object;
  return request;
}

MatchIndex indexOf(const std::vector<kube::MatchResources>& all) {
  MatchIndex index;
  for (size_t i = 0; i < all.size(); ++i) index.add(all[i], i);
  return index;
}

TEST(MatchIndex, LeavesOutOtherTypes) {
  const MatchIndex index = indexOf({about("", "pods"),
                                    about("apps", "deployments"),
                                    about("", "pods/status"),
                                    about("*", "pods"),
                                    about("apps", "*"),
                                    about("*", "*/*"),
                                    {}});
  const Json pod = Json::object();
  EXPECT_THAT(index.candidates(deletionOf(pod, "", "pods")), ElementsAre(0, 2, 3, 5, 6));
  EXPECT_THAT(index.candidates(deletionOf(pod, "apps", "deployments")), ElementsAre(1, 4, 5, 6));
}

TEST(MatchIndex, LeavesOutWhatNeedsALabelThatTheObjectDoesNotHave) {
  const kube::MatchResources maps = about("", "configmaps");
  const MatchIndex index = indexOf(
      {selecting(maps, {{"keep", Operator::Exists, {}}}), selecting(maps, {{"keep", Operator::In, {"yes"}}}),
       selecting(maps, {{"keep", Operator::DoesNotExist, {}}}),
       selecting(maps, {{"keep", Operator::NotIn, {"yes"}}}),
       selecting(maps, {{"free", Operator::DoesNotExist, {}}, {"other", Operator::Exists, {}}})});
  const Json unlabelled = Json::parse(R"({"metadata": {"name": "a"}})");
  const Json kept = Json::parse(R"({"metadata": {"name": "a", "labels": {"keep": "yes"}}})");
  EXPECT_THAT(index.candidates(deletionOf(unlabelled, "", "configmaps")), ElementsAre(2, 3));
  EXPECT_THAT(index.candidates(deletionOf(kept, "", "configmaps")), ElementsAre(0, 1, 2, 3));
  ReviewRequest update = deletionOf(kept, "", "configmaps");
  update.operation = "UPDATE";
  update.object = &unlabelled;
  EXPECT_THAT(index.candidates(update), ElementsAre(0, 1, 2, 3)) << "the label is taken away";
  EXPECT_THAT(MatchIndex().candidates(update), IsEmpty());
}

// Random words of a small vocabulary, so that much matches.
class RandomMatches {
 public:
  explicit RandomMatches(unsigned seed) : random_(seed) {}

  kube::MatchResources next() {
    kube::MatchResources matches = about(one(kGroups), one(kResources));
    if (below(2) == 0) matches.rules.push_back(about(one(kGroups), one(kResources)).rules.front());
    for (unsigned i = below(3); i > 0; --i)
      matches.objectSelector.requirements.push_back(
          {one(kKeys), static_cast<Operator>(below(4)), {one(kValues)}});
    for (kube::SelectorRequirement& requirement : matches.objectSelector.requirements)
      if (requirement.op == Operator::Exists || requirement.op == Operator::DoesNotExist)
        requirement.values.clear();
    return matches;
  }
  Json object() {
    Json made = Json::parse(R"({"metadata": {"labels": {}}})");
    for (unsigned i = below(3); i > 0; --i) made["metadata"]["labels"][one(kKeys)] = one(kValues);
    return made;
  }
  ReviewRequest request(const Json& before, const Json& after) {
    ReviewRequest request =
        deletionOf(before, below(2) == 0 ? "" : "apps", below(2) == 0 ? "pods" : "things");
    if (below(2) == 0) request.subresource = "status";
    if (below(2) == 0) request.object = &after;
    return request;
  }

 private:
  using Words = std::array<const char*, 3>;
  static constexpr Words kGroups{"", "apps", "*"};
  static constexpr std::array<const char*, 5> kResources{"pods", "things", "*", "*/*", "pods/status"};
  static constexpr Words kKeys{"a", "b", "c"};
  static constexpr Words kValues{"x", "y", "z"};

  unsigned below(unsigned end) { return std::uniform_int_distribution<unsigned>(0, end - 1)(random_); }
  template <class Choices>
  std::string one(const Choices& choices) {
    return choices.at(below(static_cast<unsigned>(choices.size())));
  }

  std::mt19937 random_;
};

TEST(MatchIndex, FindsAllThatMatch) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomMatches random(seed);
    std::vector<kube::MatchResources> all(20);
    for (kube::MatchResources& one : all) one = random.next();
    const MatchIndex index = indexOf(all);
    for (int i = 0; i < 10; ++i) {
      const Json before = random.object();
      const Json after = random.object();
      const ReviewRequest request = random.request(before, after);
      std::vector<size_t> matching;
      for (size_t position = 0; position < all.size(); ++position)
        if (matches(all[position], request)) matching.push_back(position);
      ASSERT_THAT(index.candidates(request), IsSupersetOf(matching)) << "seed " << seed;
    }
  }
}

}  // namespace
}  // namespace lastout::simulator
