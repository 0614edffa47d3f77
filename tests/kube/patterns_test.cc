#include "kube/patterns.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace lastout::kube {
namespace {

// All texts of up to so many letters of these.
std::vector<std::string> textsOf(std::string_view letters, size_t longest) {
  std::vector<std::string> texts{""};
  for (size_t i = 0; i < texts.size(); ++i) {
    if (texts[i].size() == longest) continue;
    for (const char letter : letters) texts.push_back(texts[i] + letter);
  }
  return texts;
}

TEST(FinalizerPattern, MeansAllThatBeginSo) {
  EXPECT_TRUE(meansFinalizer("example.com/clean-*", "example.com/clean-one"));
  EXPECT_TRUE(meansFinalizer("example.com/clean-*", "example.com/clean-"));
  EXPECT_FALSE(meansFinalizer("example.com/clean-*", "example.com/clean"));
  EXPECT_TRUE(meansFinalizer("example.com/clean", "example.com/clean"));
  EXPECT_FALSE(meansFinalizer("example.com/clean", "example.com/clean-one"));
}

TEST(FinalizerPattern, IsOfOneDomain) {
  EXPECT_TRUE(isValidFinalizerPattern("example.com/*"));
  EXPECT_TRUE(isValidFinalizerPattern("example.com/clean-*"));
  for (const char* wrong : {"*", "example.com*", "example.com/clean", "example.com/*-*", "/*", "Example/*"})
    EXPECT_FALSE(isValidFinalizerPattern(wrong)) << wrong;
}

// Against the finalizers themselves: all that are a letter longer than any pattern are enough to tell two
// apart.
TEST(FinalizerPattern, CoversWhatItMeansAllOf) {
  const std::vector<std::string> finalizers = textsOf("ab", 4);
  std::vector<std::string> named = textsOf("ab", 3);
  for (const std::string& prefix : textsOf("ab", 3)) named.push_back(prefix + "*");
  for (const std::string& wide : named) {
    for (const std::string& narrow : named) {
      const bool covers = std::ranges::all_of(finalizers, [&](const std::string& finalizer) {
        return !meansFinalizer(narrow, finalizer) || meansFinalizer(wide, finalizer);
      });
      EXPECT_EQ(coversFinalizers(wide, narrow), covers) << wide << " and " << narrow;
    }
  }
}

TEST(TypePattern, MeansTheTypesOfItsGroups) {
  EXPECT_TRUE(meansType({"example.com", "*"}, {"example.com", "widgets"}));
  EXPECT_FALSE(meansType({"example.com", "*"}, {"sub.example.com", "widgets"}));
  EXPECT_TRUE(meansType({"*.example.com", "*"}, {"sub.example.com", "widgets"}));
  EXPECT_TRUE(meansType({"*.example.com", "*"}, {"a.sub.example.com", "widgets"}));
  EXPECT_FALSE(meansType({"*.example.com", "*"}, {"example.com", "widgets"}));
  EXPECT_FALSE(meansType({"*.example.com", "*"}, {"badexample.com", "widgets"}));
  EXPECT_FALSE(meansType({"example.com", "widgets"}, {"example.com", "gadgets"}));
}

TEST(TypePattern, CoversWhatItMeansAllOf) {
  const std::vector<std::string> groups{"c", "b.c", "a.b.c", "x.a.b.c", "bb.c"};
  std::vector<GroupResource> types;
  std::vector<GroupResource> named;
  for (const std::string& group : groups) {
    for (const char* resource : {"r", "s"}) types.push_back({group, resource});
    for (const char* resource : {"r", "*"}) named.push_back({group, resource});
    if (group != "x.a.b.c") named.push_back({"*." + group, "*"});
  }
  types.push_back({"y.a.b.c", "r"});
  types.push_back({"x.bb.c", "r"});
  types.push_back({"y.bb.c", "r"});
  for (const GroupResource& wide : named) {
    for (const GroupResource& narrow : named) {
      const bool covers = std::ranges::all_of(types, [&](const GroupResource& type) {
        return !meansType(narrow, type) || meansType(wide, type);
      });
      EXPECT_EQ(coversTypes(wide, narrow), covers) << toString(wide) << " and " << toString(narrow);
    }
  }
}

}  // namespace
}  // namespace lastout::kube
