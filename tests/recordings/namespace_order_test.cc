// How a Namespace ended where it was recorded, review by review: the machine deletes its content in that
// order, and in no order in which something else goes before the Pods.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "cluster/build.h"
#include "cluster/machine.h"
#include "kube/well_known.h"
#include "tests/support/stop.h"

namespace lastout::testing {
namespace {

using cluster::Action;
using cluster::Slot;
using Kind = cluster::Action::Kind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kReviews = "tests/recordings/kubernetes-1.36/admission";
constexpr const char* kHeldMap = "configmaps/demo/cm";  // by a finalizer, which somebody takes off

// What was reviewed from the DELETE of the Namespace on.
struct RecordedEnd {
  kube::Object space;
  std::vector<kube::Object> content;   // as the namespace controller deleted it, each object once
  std::set<std::string> deletedAgain;  // while they terminated
};

kube::Object objectOf(const kube::Json& json) {
  auto object = kube::parseObject(kube::fromJson(json), "admission", kube::ResourceMap::builtIn());
  if (!object) stop(kube::toString(object.error()));
  return std::move(*object);
}

RecordedEnd recordedEnd() {
  std::set<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(kReviews)) files.insert(entry.path());
  RecordedEnd end;
  std::set<std::string> seen;
  for (const std::filesystem::path& file : files) {
    const std::string name = file.filename().string();
    if (name < "76" || name >= "96") continue;
    std::ifstream input(file);
    const kube::Json request = kube::Json::parse(input)["body"]["request"];
    if (request["operation"] != "DELETE") continue;
    kube::Object object = objectOf(request["oldObject"]);
    if (object.key.type == kube::kNamespaces) {
      end.space = std::move(object);
    } else if (const std::string key = kube::toString(object.key); !seen.insert(key).second) {
      EXPECT_TRUE(object.meta.deletionTimestamp) << name;
      end.deletedAgain.insert(key);
    } else {
      end.content.push_back(std::move(object));
    }
  }
  return end;
}

// The recorded Namespace in the machine.
class Demo {
 public:
  Demo(const RecordedEnd& end, kube::KubernetesVersion kubernetes)
      : model_(modelOf(end, kubernetes)), machine_(model_), words_(machine_.initial()) {
    apply({Kind::Send, cluster::Actor::Client, 0, 0});
  }

  // Deletes the content in this order, and lets the node stop each Pod at once. Returns the first that the
  // namespace controller would not delete then; empty: it deletes all.
  std::string play(const std::vector<kube::Object>& content) {
    for (const kube::Object& object : content) {
      if (!perform(Kind::NamespaceDelete, kube::toString(object.key))) return kube::toString(object.key);
      if (object.key.type == kube::kPods) perform(Kind::PodStop, kube::toString(object.key));
    }
    return {};
  }

  bool perform(Kind kind, const std::string& name) {
    for (const Action& action : enabled()) {
      if (action.kind != kind || model_.name(action.a) != name) continue;
      apply(action);
      return true;
    }
    return false;
  }

  void releaseMap() { apply({Kind::Send, cluster::Actor::Client, 1, 0}); }

  std::vector<std::string> left() {
    std::vector<std::string> names;
    for (Slot slot = 0; slot < model_.slots.size(); ++slot) {
      if (state().object(slot).present()) names.push_back(model_.name(slot));
    }
    return names;
  }

 private:
  static cluster::Model modelOf(const RecordedEnd& end, kube::KubernetesVersion kubernetes) {
    cluster::BuildInput input;
    input.types = kube::ResourceMap::builtIn();
    input.kubernetes = kubernetes;
    input.guarded = false;
    input.objects = end.content;
    input.objects.push_back(end.space);
    auto model = cluster::build(input);
    if (!model) stop(kube::toString(model.error().front()));
    cluster::ClientStep deletes;
    deletes.object = *model->find(end.space.key);
    cluster::ClientStep releases;
    releases.verb = cluster::ClientStep::Verb::SetFinalizers;
    releases.object = *model->find({kube::kConfigMaps, "demo", "cm"});
    if (!cluster::addStep(*model, deletes) || !cluster::addStep(*model, releases)) stop("a step");
    return std::move(*model);
  }

  cluster::StateRef state() { return {words_.data(), machine_.layout()}; }
  std::vector<Action> enabled() {
    std::vector<Action> actions;
    machine_.enabled(state(), actions);
    return actions;
  }
  void apply(const Action& action) { machine_.apply(state(), action, nullptr); }

  cluster::Model model_;
  cluster::Machine machine_;
  std::vector<uint64_t> words_;
};

TEST(RecordedNamespace, HasWhatItsDescriptionSays) {
  const RecordedEnd end = recordedEnd();
  ASSERT_EQ(end.content.size(), 8U);
  EXPECT_EQ(end.content.front().key.type, kube::kPods);
  EXPECT_EQ(end.content.back().key.type, kube::kDeployments);
  EXPECT_THAT(end.deletedAgain, ElementsAre(kHeldMap, HasSubstr("pods/demo/held-")));
}

TEST(RecordedNamespace, EndsInTheRecordedOrder) {
  const RecordedEnd end = recordedEnd();
  Demo demo(end, kube::KubernetesVersion::V1_36);
  EXPECT_EQ(demo.play(end.content), "");
  EXPECT_THAT(demo.left(), ::testing::UnorderedElementsAre(kHeldMap, "namespaces/demo"));
  EXPECT_FALSE(demo.perform(Kind::NamespaceFinish, "namespaces/demo"));
  demo.releaseMap();
  EXPECT_TRUE(demo.perform(Kind::NamespaceFinish, "namespaces/demo"));
  EXPECT_THAT(demo.left(), ::testing::IsEmpty());
}

// Each object in turn before the Pod.
TEST(RecordedNamespace, EndsInNoOrderInWhichThePodIsNotTheFirst) {
  const RecordedEnd end = recordedEnd();
  for (size_t first = 1; first < end.content.size(); ++first) {
    std::vector<kube::Object> content = end.content;
    std::swap(content[0], content[first]);
    const std::string name = kube::toString(content[0].key);
    EXPECT_EQ(Demo(end, kube::KubernetesVersion::V1_36).play(content), name);
    EXPECT_EQ(Demo(end, kube::KubernetesVersion::V1_26).play(content), "") << name;
  }
}

}  // namespace
}  // namespace lastout::testing
