// The Status objects, held against recorded ones.
#include "simulator/status.h"

#include <gtest/gtest.h>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

const kube::GroupResource kRecordedType{"my.crd.group", "coolresources"};

TEST(Status, IsTheRecordedOne) {
  EXPECT_EQ(statusOf(notFound(kRecordedType, "nope")), recordedAnswer("060-delete-not-found"));
  EXPECT_EQ(statusOf(notFound({"", "namespaces"}, "nope")),
            recordedAnswer("021-create-in-missing-namespace"));
  EXPECT_EQ(statusOf(alreadyExists(kRecordedType, "plain")), recordedAnswer("015-create-already-exists"));
  EXPECT_EQ(statusOf(modified(kRecordedType, "page-0")), recordedAnswer("053-update-stale-resource-version"));
  EXPECT_EQ(statusOf(futureVersion(999999999, 760)), recordedAnswer("071-list-future-resource-version"));
  EXPECT_EQ(statusOf(unsupportedMediaType("application/json, application/yaml, "
                                          "application/vnd.kubernetes.protobuf")),
            recordedAnswer("047-unsupported-media-type"));
  EXPECT_EQ(
      statusOf(notAcceptable("application/json, application/yaml, application/vnd.kubernetes.protobuf")),
      recordedAnswer("046-not-acceptable"));
  EXPECT_EQ(statusOf(expired("too old resource version: 1 (740)")),
            recordedAnswer("070-watch-too-old")["object"]);
}

TEST(Status, InvalidNamesEachFieldAndSaysTheSameThingOnce) {
  const StatusCause required{"FieldValueRequired", "Required value", "spec.size"};
  EXPECT_EQ(statusOf(invalid("CoolResource", "my.crd.group", "bad", {required})),
            recordedAnswer("017-create-missing-required"));
  const Json twice = recordedAnswer("065-add-finalizer-while-terminating");
  const Json& cause = twice["details"]["causes"][0];
  const StatusCause finalizer{cause["reason"], cause["message"], cause["field"]};
  EXPECT_EQ(statusOf(invalid("CoolResource", "my.crd.group", "some-instance", {finalizer, finalizer})),
            twice);
  EXPECT_EQ(
      invalid("Pod", "", "p", {required, finalizer}).message,
      "Pod \"p\" is invalid: [spec.size: Required value, metadata.finalizers: " + finalizer.message + "]");
}

// As kubectl shows it to somebody who may not list: "pods is forbidden: User ...".
TEST(Status, OfWhatIsForbiddenNamesTheObjectWhereThereIsOne) {
  EXPECT_EQ(forbidden({"", "pods"}, "", "no").message, "pods is forbidden: no");
  EXPECT_EQ(forbidden({"apps", "deployments"}, "web", "no").message,
            "deployments.apps \"web\" is forbidden: no");
}

TEST(Status, OfADeletedObjectHasItsUid) {
  const Json recorded = recordedAnswer("055-delete-plain");
  EXPECT_EQ(statusOfDeleted(kRecordedType, "plain", std::string(recorded["details"]["uid"])), recorded);
}

TEST(Status, OfAFailedWebhookRepeatsWhyInItsCause) {
  const Json recorded = recordedAnswer("110-delete-webhook-down-failurepolicy-fail");
  EXPECT_EQ(statusOf(internalError(std::string(recorded["details"]["causes"][0]["message"]))), recorded);
}

}  // namespace
}  // namespace lastout::simulator
