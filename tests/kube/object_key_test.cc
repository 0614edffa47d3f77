#include "kube/object_key.h"

#include <gtest/gtest.h>

#include <unordered_set>

namespace lastout::kube {
namespace {

const GroupResource kDeployments{"apps", "deployments"};
const GroupResource kNamespaces{"", "namespaces"};

TEST(ObjectKey, IsWrittenAsAReference) {
  EXPECT_EQ(toString(kDeployments), "deployments.apps");
  EXPECT_EQ(toString(kNamespaces), "namespaces");
  EXPECT_EQ(toString(ObjectKey{kDeployments, "finalizer-namespace", "finalizer-deployment"}),
            "deployments.apps/finalizer-namespace/finalizer-deployment");
  EXPECT_EQ(toString(ObjectKey{kNamespaces, "", "finalizer-namespace"}), "namespaces/finalizer-namespace");
}

TEST(ObjectKey, IsOnOneLineWhateverItsName) {
  const GroupResource roles{"rbac.authorization.k8s.io", "roles"};
  EXPECT_EQ(toString(ObjectKey{roles, "a", "x\n1"}), "roles.rbac.authorization.k8s.io/a/x\\x0a1");
  EXPECT_LT(toString(ObjectKey{roles, "a", std::string(100'000, 'x')}).size(), 400U);
}

TEST(ObjectKey, NamesTheCrdOfItsType) {
  EXPECT_EQ(crdName({"my.crd.group", "coolresources"}), "coolresources.my.crd.group");
}

TEST(ObjectKey, IsOrderedByTypeNamespaceAndName) {
  EXPECT_LT((ObjectKey{{"", "pods"}, "z", "z"}), (ObjectKey{kDeployments, "a", "a"}));
  EXPECT_LT((ObjectKey{kDeployments, "a", "z"}), (ObjectKey{kDeployments, "b", "a"}));
  EXPECT_LT((ObjectKey{kDeployments, "a", "a"}), (ObjectKey{kDeployments, "a", "b"}));
}

TEST(ObjectKey, HashDoesNotRunItsPartsTogether) {
  const std::hash<ObjectKey> hash;
  std::unordered_set<size_t> hashes;
  const std::string text = "abcdef";
  // The same six letters, cut into four parts in every way.
  size_t keys = 0;
  for (size_t i = 0; i <= 6; ++i) {
    for (size_t j = i; j <= 6; ++j) {
      for (size_t k = j; k <= 6; ++k, ++keys) {
        hashes.insert(
            hash({{text.substr(0, i), text.substr(i, j - i)}, text.substr(j, k - j), text.substr(k)}));
      }
    }
  }
  EXPECT_EQ(hashes.size(), keys);
  EXPECT_EQ(hash({kDeployments, "a", "b"}), hash({kDeployments, "a", "b"}));
  EXPECT_NE(hash({kDeployments, "a", "b"}), hash({kDeployments, "b", "a"}));
}

TEST(ObjectKey, HashesOfNumberedNamesAreSpread) {
  std::unordered_set<size_t> low;
  for (int i = 0; i < 4096; ++i) {
    low.insert(std::hash<ObjectKey>{}({kDeployments, "ns", "instance-" + std::to_string(i)}) & 0xFFFF);
  }
  // 4,096 random draws of 65,536 leave about 3,970 different ones.
  EXPECT_GT(low.size(), 3800);
}

}  // namespace
}  // namespace lastout::kube
