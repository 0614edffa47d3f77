// Selectors of a request's query.
#include <gtest/gtest.h>

#include "simulator/selection.h"
#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

const kube::GroupResource kInstances{"my.crd.group", "coolresources"};
const kube::GroupResource kPods{"", "pods"};

bool selects(std::string_view text, const kube::GroupResource& type, const Json& object) {
  const auto selector = parseFieldSelector(text, type);
  EXPECT_TRUE(selector) << (selector ? "" : selector.error().message);
  return selector && matches(*selector, object);
}

std::string refusal(std::string_view text, const kube::GroupResource& type) {
  const auto selector = parseFieldSelector(text, type);
  return selector ? "accepted" : std::to_string(selector.error().code) + " " + selector.error().message;
}

TEST(FieldSelector, ComparesNames) {
  const Json plain = {{"metadata", {{"name", "plain"}, {"namespace", "app"}}}};
  EXPECT_TRUE(selects("", kInstances, plain));
  EXPECT_TRUE(selects("metadata.name=plain", kInstances, plain));
  EXPECT_TRUE(selects("metadata.name==plain,metadata.namespace!=other,", kInstances, plain));
  EXPECT_FALSE(selects("metadata.name=plain,metadata.namespace=other", kInstances, plain));
  EXPECT_FALSE(selects("metadata.name!=plain", kInstances, plain));
}

TEST(FieldSelector, KnowsTheFieldsOfPodsEventsAndOthers) {
  const Json pod = {{"spec", {{"nodeName", "n"}}}, {"status", {{"phase", "Running"}}}};
  EXPECT_TRUE(selects("spec.nodeName=n,status.phase!=Failed,status.podIP=", kPods, pod));
  EXPECT_FALSE(selects("spec.nodeName=", kPods, pod));
  const Json event = {{"involvedObject", {{"name", "p"}, {"uid", "1"}}},
                      {"type", "Normal"},
                      {"source", {{"component", "kubelet"}}}};
  EXPECT_TRUE(selects("involvedObject.name=p,involvedObject.uid=1,type=Normal,source=kubelet", {"", "events"},
                      event));
  EXPECT_TRUE(selects("source=x", {"events.k8s.io", "events"}, {{"reportingComponent", "x"}}));
  EXPECT_TRUE(selects("type=Opaque", {"", "secrets"}, {{"type", "Opaque"}}));
  EXPECT_TRUE(selects("status.phase=Active", {"", "namespaces"}, {{"status", {{"phase", "Active"}}}}));
  EXPECT_TRUE(selects("status.replicas=2", {"apps", "replicasets"}, {{"status", {{"replicas", 2}}}}));
  EXPECT_TRUE(selects("status.replicas=0", {"apps", "replicasets"}, Json::object()));
}

TEST(FieldSelector, OfAnotherFieldIsRefusedAsRecorded) {
  EXPECT_EQ(statusOf(parseFieldSelector("spec.size=1", kInstances).error()),
            recordedAnswer("037-list-bad-field-selector"));
  EXPECT_EQ(refusal("spec.size=1", kPods), "400 field label not supported: spec.size");
  EXPECT_EQ(
      refusal("spec.size=1", {"apps", "deployments"}),
      "400 \"spec.size\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
}

TEST(FieldSelector, EscapesWhatSeparates) {
  const auto selector = parseFieldSelector(R"(metadata.name=a\,b\=c\\d,metadata.namespace=x)", kInstances);
  ASSERT_TRUE(selector);
  ASSERT_EQ(selector->requirements.size(), 2);
  EXPECT_EQ(selector->requirements[0].value, R"(a,b=c\d)");
  EXPECT_EQ(toString(*selector), R"(metadata.name=a\,b\=c\\d,metadata.namespace=x)");
}

TEST(FieldSelector, OfBadSyntaxIsRefused) {
  EXPECT_EQ(refusal("metadata.name", kInstances),
            "400 invalid selector: 'metadata.name'; can't understand 'metadata.name'");
  for (const char* text : {"metadata.name=a=b", "metadata.name=\\", "metadata.name=\\x", "=", "!=", "a,b",
                           "\\,=x", "metadata.name===a", "metadata.name=\\,\\"})
    EXPECT_TRUE(refusal(text, kInstances).starts_with("400 ")) << text;
}

TEST(LabelSelector, LooksAtTheLabelsOfAnObject) {
  const Json object = {{"metadata", {{"labels", {{"app", "web"}, {"tier", "a"}, {"odd", 1}}}}}};
  const auto selects = [&object](std::string_view text) {
    return matches(*parseLabelSelector(text), object);
  };
  EXPECT_TRUE(selects(""));
  EXPECT_TRUE(selects("app=web,tier in (a,b),!legacy,other!=x"));
  EXPECT_FALSE(selects("app=web,tier notin (a,b)"));
  EXPECT_FALSE(selects("odd"));  // no string, no label
  EXPECT_TRUE(matches(*parseLabelSelector("!app"), Json::object()));
  EXPECT_FALSE(matches(*parseLabelSelector("app"), Json({{"metadata", 1}})));
}

TEST(LabelSelector, OfBadSyntaxIsRefused) {
  const auto selector = parseLabelSelector("app in");
  ASSERT_FALSE(selector);
  EXPECT_EQ(selector.error().code, 400);
  EXPECT_TRUE(selector.error().message.starts_with("unable to parse requirement: "))
      << selector.error().message;
}

}  // namespace
}  // namespace lastout::simulator
