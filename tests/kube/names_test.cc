#include "kube/names.h"

#include <gtest/gtest.h>

#include "kube/well_known.h"

namespace lastout::kube {
namespace {

std::string label(size_t length) { return std::string(length, 'a'); }

TEST(Names, DnsLabelsAndSubdomains) {
  for (const std::string& good : {std::string("a"), std::string("0"), std::string("a-1"), label(63)}) {
    EXPECT_TRUE(isDnsLabel(good)) << good;
    EXPECT_TRUE(isDnsSubdomain(good)) << good;
  }
  for (const std::string_view bad : {"", "-a", "a-", "A", "a_b", "a b", "\xC3\xA4"}) {
    EXPECT_FALSE(isDnsLabel(bad)) << bad;
    EXPECT_FALSE(isDnsSubdomain(bad)) << bad;
  }
  EXPECT_FALSE(isDnsLabel(label(64)));
  EXPECT_FALSE(isDnsLabel("a.b"));
  EXPECT_TRUE(isDnsSubdomain("coolresources.my.crd.group"));
  EXPECT_TRUE(isDnsSubdomain(label(253)));
  for (const std::string& bad :
       {label(254), std::string("a..b"), std::string(".a"), std::string("a."), std::string("a.-b")}) {
    EXPECT_FALSE(isDnsSubdomain(bad)) << bad;
  }
}

TEST(Names, QualifiedNamesAndLabelValues) {
  for (const std::string_view good :
       {"kubernetes", "foregroundDeletion", "my.crd.group/super-important", "a.b/C_d.e-1"}) {
    EXPECT_TRUE(isQualifiedName(good)) << good;
  }
  for (const std::string_view bad : {"", "/a", "a/", "a/b/c", "-a", "a-", "A.b/c", "a b", "a/b*"}) {
    EXPECT_FALSE(isQualifiedName(bad)) << bad;
  }
  EXPECT_TRUE(isQualifiedName(label(253) + "/" + label(63)));
  EXPECT_FALSE(isQualifiedName(label(254) + "/" + label(63)));
  EXPECT_FALSE(isQualifiedName(label(253) + "/" + label(64)));
  EXPECT_TRUE(isLabelValue(""));
  EXPECT_TRUE(isLabelValue("1.0_beta-2"));
  EXPECT_FALSE(isLabelValue("-1"));
  EXPECT_FALSE(isLabelValue(label(64)));
}

TEST(Names, EachTypeHasItsOwnRule) {
  const GroupResource deployments{"apps", "deployments"};
  const GroupResource namespaces{"", "namespaces"};
  const GroupResource services{"", "services"};
  const GroupResource roles{"rbac.authorization.k8s.io", "clusterroles"};
  EXPECT_EQ(nameProblem(deployments, "web.1"), std::nullopt);
  EXPECT_EQ(nameProblem(deployments, "Bad_Name"),
            "is no object's name: that is lower case letters, digits, \"-\" and \".\", a letter or digit "
            "first and last");
  EXPECT_EQ(nameProblem(deployments, ""), "is empty");
  EXPECT_EQ(nameProblem(deployments, label(254)), "is longer than 253 bytes");
  EXPECT_EQ(nameProblem(namespaces, "kube-system"), std::nullopt);
  EXPECT_EQ(nameProblem(namespaces, "a.b").value_or("").substr(0, 24), "is no namespace's name: ");
  EXPECT_EQ(nameProblem(services, "1a"), std::nullopt);
  EXPECT_EQ(nameProblem(services, "a.b").value_or("").substr(0, 22), "is no service's name: ");
  for (const std::string_view bad : {".", "..", "a/b", "a%b", ""}) {
    EXPECT_NE(nameProblem(roles, bad), std::nullopt) << bad;
  }
}

// Kubernetes' path.ValidatePathSegmentName, and no other rule.
TEST(Names, SomeTypesTakeAnyPathSegment) {
  for (const GroupResource& type :
       {kRoles, kRoleBindings, kClusterRoles, kClusterRoleBindings, kEvents, kEventsOfLater, kApiServices,
        GroupResource{"certificates.k8s.io", "certificatesigningrequests"},
        GroupResource{"networking.k8s.io", "ipaddresses"}}) {
    for (const std::string& good :
         {std::string("x\n1"), std::string("{{x}} y"), std::string(300, 'a'), std::string(100'000, 'a'),
          std::string("2001:db8::1"), std::string("\0", 1), std::string("\xc2\x85'\"\\<script>"),
          std::string("...")})
      EXPECT_EQ(nameProblem(type, good), std::nullopt) << toString(ObjectKey{type, "", good});
  }
}

}  // namespace
}  // namespace lastout::kube
