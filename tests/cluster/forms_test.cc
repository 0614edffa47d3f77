// The forms of an object: what patches make of its labels, annotations and content.
#include "cluster/forms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "cluster/build.h"
#include "kube/parse.h"
#include "tests/cluster/world.h"

namespace lastout::cluster {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kPatched = "configmaps/x/settings";

constexpr const char* kPatchedManifests = R"(
apiVersion: v1
kind: Namespace
metadata: {name: x}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: x, labels: {app: a}, annotations: {note: n}}
)";

kube::Value valueOf(const std::string& yaml) { return kube::parseYaml(yaml, "")->front(); }

FormChange merge(const std::string& yaml) {
  static const auto kManifest = std::make_shared<const kube::Value>(valueOf("{spec: {on: true, size: 1}}"));
  return {{}, valueOf(yaml), kManifest};
}

class FormTest : public ::testing::Test {
 protected:
  const ObjectForm& patch(const FormChange& change) {
    world_.send(
        world_.step(ClientStep::Verb::SetForm, kPatched, [&](ClientStep& step) { step.change = change; }));
    return world_.model().slots[slot()].forms[number()];
  }
  Slot slot() { return world_.slot(kPatched); }
  uint8_t number() { return world_.state().object(slot()).form; }

  World world_{kPatchedManifests};
};

TEST_F(FormTest, AMergePatchChangesAndRemovesKeys) {
  const ObjectForm& form = patch(merge("{metadata: {labels: {app: null, tier: t}, annotations: {more: m}}}"));
  EXPECT_EQ(form.labels, (kube::Labels{{"tier", "t"}}));
  EXPECT_EQ(form.annotations, (kube::Labels{{"note", "n"}, {"more", "m"}}));
  EXPECT_EQ(form.content, nullptr) << "as in its manifest";
  EXPECT_THAT(patch(merge("{metadata: {labels: null}}")).labels, IsEmpty());
}

TEST_F(FormTest, AMergePatchOfTheContentLeavesTheRest) {
  const ObjectForm& form = patch(merge("{spec: {on: null}, status: {phase: Failed}}"));
  ASSERT_NE(form.content, nullptr);
  EXPECT_EQ(form.content->at({"spec", "on"}), nullptr);
  EXPECT_EQ(*form.content->at({"spec", "size"})->asInteger(), 1);
  EXPECT_EQ(*form.content->at({"status", "phase"})->asString(), "Failed");
}

TEST_F(FormTest, WhatIsPatchedBackIsAsItWas) {
  patch(merge("{spec: {on: false}}"));
  EXPECT_NE(number(), 0);
  patch(merge("{spec: {on: true}}"));
  EXPECT_EQ(number(), 0);
}

TEST_F(FormTest, AllLabelsAtOnceLeaveTheAnnotations) {
  const ObjectForm& form = patch({kube::Labels{{"k", "v"}}, {}, nullptr});
  EXPECT_EQ(form.labels, (kube::Labels{{"k", "v"}}));
  EXPECT_EQ(form.annotations, (kube::Labels{{"note", "n"}}));
}

TEST_F(FormTest, AnObjectHasAtMostSixteen) {
  ClientStep step;
  step.verb = ClientStep::Verb::SetForm;
  step.object = slot();
  Model model = world_.model();
  for (size_t i = 1; i < kMaxForms; ++i) {
    step.change.labels = kube::Labels{{"k", std::to_string(i)}};
    ASSERT_TRUE(addStep(model, step)) << i;
  }
  step.change.labels = kube::Labels{{"k", "one more"}};
  const auto refused = addStep(model, step);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              HasSubstr("configmaps/x/settings has over its life more than 16 forms"));
}

}  // namespace
}  // namespace lastout::cluster
