#include <gtest/gtest.h>

#include "kube/messages.h"

namespace lastout::kube {
namespace {

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string_view> fields = {"provider", "criteria", "deletionIntent", "finalizer"};
  EXPECT_EQ(nearest("provder", fields), "provider");
  EXPECT_EQ(nearest("proivder", fields), "provider");  // two neighbours swapped
  EXPECT_EQ(nearest("finalizers", fields), "finalizer");
  EXPECT_EQ(nearest("DeletionIntent", fields), "deletionIntent");
  EXPECT_EQ(nearest("criterion", fields), "criteria");
  EXPECT_EQ(nearest("provider", fields), "provider");
}

TEST(Nearest, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(nearest("status", {"provider", "criteria"}), "");
  EXPECT_EQ(nearest("x", {"y"}), "");
  EXPECT_EQ(nearest("", {"a"}), "");
  EXPECT_EQ(nearest("a", {""}), "");
  EXPECT_EQ(nearest("provider", {}), "");
}

TEST(Nearest, TakesNoMoreEditsThanAreWanted) {
  EXPECT_EQ(nearest("operator.example.com/clean-up", {"operator.example.com/back-up"}, 3), "");
  EXPECT_EQ(nearest("operator.example.com/clean-up", {"operator.example.com/cleanup"}, 3),
            "operator.example.com/cleanup");
  EXPECT_EQ(didYouMean("nmae", {"name"}, 0), "");
}

TEST(Nearest, TakesTheFirstOfThoseEquallyNear) { EXPECT_EQ(nearest("cet", {"cat", "cut", "cot"}), "cat"); }

TEST(Nearest, IsBoundedForLongWords) {
  const std::string longWord(100, 'a');
  EXPECT_EQ(nearest(longWord, {std::string_view(longWord).substr(1)}), longWord.substr(1));
  EXPECT_EQ(nearest(longWord + "a", {longWord}), "");
}

TEST(Nearest, AsksAtTheEndOfAMessage) {
  EXPECT_EQ(didYouMean("nmae", {"name", "namespace"}), "; did you mean \"name\"?");
  EXPECT_EQ(didYouMean("spec", {"name", "namespace"}), "");
}

}  // namespace
}  // namespace lastout::kube
