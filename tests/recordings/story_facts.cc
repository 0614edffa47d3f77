#include "tests/recordings/story_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace lastout::testing {
namespace {

using cluster::EventKind;
using ::testing::Contains;
using ::testing::Not;

// Where an event of an object stands; past the end when it does not happen.
size_t placeOf(const std::vector<Happened>& happened, const std::string& name, EventKind kind) {
  const auto found = std::find_if(happened.begin(), happened.end(), [&](const Happened& event) {
    return event.kind == kind && kube::toString(event.key) == name;
  });
  return static_cast<size_t>(found - happened.begin());
}

}  // namespace

std::set<std::string> namesOf(const std::vector<Happened>& happened, EventKind kind) {
  std::set<std::string> names;
  for (const Happened& event : happened) {
    if (event.kind == kind) names.insert(kube::toString(event.key));
  }
  return names;
}

void expectGoneTooEarly(const std::vector<Happened>& happened) {
  const size_t work =
      placeOf(happened, "manifestworks.work.open-cluster-management.io/cluster1/finalizer", EventKind::Gone);
  ASSERT_LT(work, happened.size());
  for (const char* name :
       {"deployments.apps/finalizer-namespace/finalizer-deployment", "namespaces/finalizer-namespace",
        "criticalservices.lastout.dev/for-finalizer-deployment"}) {
    EXPECT_LT(placeOf(happened, name, EventKind::Denied), work) << name;
    EXPECT_LT(work, placeOf(happened, name, EventKind::Accepted)) << name;
  }
}

void expectProviderForgotten(const std::vector<Happened>& happened) {
  const std::string provider = "deployments.apps/finalizer-namespace/finalizer-deployment";
  EXPECT_THAT(namesOf(happened, EventKind::Denied), Contains(provider));
  EXPECT_THAT(namesOf(happened, EventKind::Accepted), Not(Contains(provider)));
  EXPECT_THAT(namesOf(happened, EventKind::Accepted),
              Contains("persistentvolumeclaims/finalizer-namespace/data"));
  EXPECT_THAT(namesOf(happened, EventKind::Gone),
              Contains("customresourcedefinitions.apiextensions.k8s.io/coolresources.my.crd.group"));
}

}  // namespace lastout::testing
