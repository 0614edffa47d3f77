// Built-in types whose contents would break a client that reads them with Kubernetes' own types.
#include "simulator/builtin_checks.h"

#include <gtest/gtest.h>

namespace lastout::simulator {
namespace {

std::string said(const char* group, const char* resource, const Json& object) {
  const ServedTypePointer type = TypeRegistry().find(group, "v1", resource);
  const auto checked = checkBuiltIn(*type, "x", object);
  return checked ? "fine" : std::to_string(checked.error().code) + " " + checked.error().message;
}

TEST(BuiltInChecks, DataHoldsTexts) {
  EXPECT_EQ(said("", "configmaps", {{"data", {{"a", "b"}, {"c", nullptr}}}}), "fine");
  EXPECT_EQ(said("", "configmaps", {{"data", nullptr}}), "fine");
  EXPECT_EQ(
      said("", "configmaps", {{"data", {{"a", 1}}}}),
      "400 ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number into "
      "Go struct field ConfigMap.data of type string");
  EXPECT_EQ(
      said("", "configmaps", {{"data", "text"}}),
      "400 ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal string into "
      "Go struct field ConfigMap.data of type map[string]string");
  EXPECT_EQ(said("", "secrets", {{"data", {{"a", "aGk="}}}, {"stringData", {{"b", "hi"}}}}), "fine");
  EXPECT_EQ(said("", "secrets", {{"data", {{"a", "hi!"}}}}),
            "400 Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data");
  EXPECT_EQ(said("", "secrets", {{"stringData", {{"a", true}}}}).substr(0, 3), "400");
}

TEST(BuiltInChecks, ReplicasAreACount) {
  const auto of = [](const char* resource, const Json& replicas) {
    return said("apps", resource, {{"spec", {{"replicas", replicas}}}});
  };
  EXPECT_EQ(of("deployments", 0), "fine");
  EXPECT_EQ(of("deployments", nullptr), "fine");
  EXPECT_EQ(
      of("deployments", -1),
      "422 Deployment.apps \"x\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal "
      "to 0");
  EXPECT_EQ(
      of("statefulsets", "two"),
      "400 StatefulSet in version \"v1\" cannot be handled as a StatefulSet: json: cannot unmarshal string "
      "into Go struct field StatefulSetSpec.spec.replicas of type int32");
  EXPECT_EQ(of("replicasets", 1.5).substr(0, 3), "400");
  EXPECT_EQ(of("replicasets", 5'000'000'000).substr(0, 3), "400");
}

}  // namespace
}  // namespace lastout::simulator
