#include "kube/namespace_scope.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "kube/well_known.h"

namespace lastout::kube {
namespace {

using Kind = NamespaceScope::Kind;

const GroupResource kThings{"example.com", "things"};
const std::vector<std::string> kSpaces = {"a", "b", "c", "another"};

// All scopes over three namespaces.
std::vector<NamespaceScope> allScopes() {
  std::vector<NamespaceScope> scopes = {NamespaceScope()};
  for (unsigned bits = 1; bits < 8; ++bits) {
    std::set<std::string> names;
    for (unsigned i = 0; i < 3; ++i)
      if ((bits >> i & 1U) != 0) names.insert(kSpaces[i]);
    scopes.push_back({Kind::Within, names});
    scopes.push_back({Kind::Outside, names});
  }
  return scopes;
}

// There is always one more namespace than a scope names, so that this is no more than sets.
TEST(NamespaceScope, CoversWhatIsASubset) {
  const auto includes = [](const NamespaceScope& scope, const std::string& space) {
    return scope.includes(kThings, space, "x");
  };
  for (const NamespaceScope& wide : allScopes()) {
    for (const NamespaceScope& narrow : allScopes()) {
      const bool isSubset = std::ranges::all_of(kSpaces, [&](const std::string& space) {
        return includes(wide, space) || !includes(narrow, space);
      });
      EXPECT_EQ(covers(wide, narrow), isSubset) << inWords(wide, 9) << " /" << inWords(narrow, 9);
      const NamespaceScope rest = minus(narrow, wide);
      for (const std::string& space : kSpaces)
        EXPECT_EQ(includes(rest, space), includes(narrow, space) && !includes(wide, space)) << space;
    }
  }
}

TEST(NamespaceScope, ANamespaceIsInItselfAndWhatIsInNoneIsInEveryScope) {
  const NamespaceScope within = NamespaceScope::within({"a"});
  const NamespaceScope outside = NamespaceScope::outside("a");
  EXPECT_TRUE(within.includes(kNamespaces, "", "a"));
  EXPECT_FALSE(within.includes(kNamespaces, "", "b"));
  EXPECT_FALSE(outside.includes(kNamespaces, "", "a"));
  EXPECT_TRUE(outside.includes(kNamespaces, "", "b"));
  EXPECT_TRUE(within.includes(kNodes, "", "b"));
  EXPECT_TRUE(outside.includes(kNodes, "", "a"));
  EXPECT_FALSE(within.includes(kThings, "b", "a"));
}

TEST(NamespaceScope, IsSaidInWords) {
  EXPECT_EQ(inWords({}, 3), "");
  EXPECT_EQ(inWords(NamespaceScope::within({"a"}), 3), " in namespace a");
  EXPECT_EQ(inWords(NamespaceScope::outside("a"), 3), " outside namespace a");
  EXPECT_EQ(inWords(NamespaceScope::within({"a", "b", "c", "d", "e"}), 3),
            " in namespaces a, b, c and 2 more");
  EXPECT_EQ(inWords(NamespaceScope::selectedBy("tenant in (a)"), 3), " in namespaces with tenant in (a)");
}

TEST(NamespaceScope, ASelectorLeavesOutWhatIsKnownNotToMatch) {
  NamespaceScope scope = NamespaceScope::selectedBy("tenant in (a)");
  EXPECT_TRUE(scope.includes(kThings, "b", "x"));
  scope.names = {"b"};
  EXPECT_FALSE(scope.includes(kThings, "b", "x"));
  EXPECT_FALSE(scope.includes(kNamespaces, "", "b"));
  EXPECT_TRUE(scope.includes(kThings, "a", "x"));
  EXPECT_TRUE(isSelected("tenant in (a,b),!old", "n", {{"tenant", "b"}}));
  EXPECT_FALSE(isSelected("tenant in (a,b),!old", "n", {{"tenant", "b"}, {"old", ""}}));
  EXPECT_FALSE(isSelected("tenant in (a)", "n", {}));
  EXPECT_TRUE(isSelected("tenant in (,a)", "n", {{"tenant", ""}}));
  EXPECT_FALSE(isSelected("tenant notin (,a)", "n", {{"tenant", ""}}));
  EXPECT_TRUE(isSelected("kubernetes.io/metadata.name in (n)", "n", {}));
  EXPECT_FALSE(isSelected("kubernetes.io/metadata.name in (n)", "m", {{kNamespaceNameLabel, "n"}}));
}

// Nothing is known of what two selectors have in common.
TEST(NamespaceScope, OneSelectorIsCoveredByItselfAndByAll) {
  const NamespaceScope selector = NamespaceScope::selectedBy("tenant in (a)");
  const NamespaceScope other = NamespaceScope::selectedBy("tenant in (a,b)");
  NamespaceScope resolved = selector;
  resolved.names = {"b"};
  for (const NamespaceScope& scope : allScopes()) {
    EXPECT_EQ(covers(scope, selector), scope.kind == Kind::All);
    EXPECT_FALSE(covers(selector, scope));
    EXPECT_EQ(minus(scope, selector), scope);
  }
  EXPECT_TRUE(covers(selector, resolved));
  EXPECT_TRUE(covers(resolved, selector));
  EXPECT_FALSE(covers(selector, other));
  EXPECT_FALSE(covers(other, selector));
  EXPECT_EQ(minus(other, selector), other);
}

}  // namespace
}  // namespace lastout::kube
