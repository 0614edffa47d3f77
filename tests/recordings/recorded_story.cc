#include "tests/recordings/recorded_story.h"

#include <algorithm>
#include <map>

#include "cluster/build.h"
#include "criticalservice/critical_service.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "replay/recording.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::testing {

namespace {

using cluster::EventKind;
using replay::RecordedEvent;

// Adds events up to the marker to the beginning, and those after it to the story.
class Reader {
 public:
  Reader(const std::string& name, kube::KubernetesVersion kubernetes) {
    story_.name = name;
    story_.kubernetes = kubernetes;
    const std::string path =
        "tests/recordings/kubernetes-" + std::string(toString(kubernetes)) + "/story-" + name + ".jsonl";
    auto reader = replay::RecordingReader::open(path);
    if (!reader) stop(kube::toString(reader.error()));
    for (;;) {
      auto event = reader->next();
      if (!event) stop(lines(event.error()));
      if (!*event) break;
      read(**event);
    }
    for (const auto& [key, object] : present_) story_.left.insert(kube::toString(key));
  }

  RecordedStory take() { return std::move(story_); }

 private:
  void read(const RecordedEvent& event) {
    switch (event.kind) {
      case RecordedEvent::Kind::Marker:
        if (event.text == "bulk delete starts") begin(event.at);
        break;
      case RecordedEvent::Kind::Client:
        if (event.text != "DELETE manifestwork") stop("tests/recordings: a client did " + event.text);
        story_.deletes.push_back({.key = workCalled(event.key.name), .at = event.at - beginning_});
        break;
      case RecordedEvent::Kind::Admission:
        story_.guarded = true;
        if (!event.allowed) happen(event.key, EventKind::Denied);
        break;
      case RecordedEvent::Kind::Watch:
        watch(event);
        break;
      case RecordedEvent::Kind::FinalizerController:
        break;
    }
  }

  void begin(std::chrono::milliseconds at) {
    beginning_ = at;
    for (const auto& [key, object] : present_) story_.objects.push_back(object);
  }

  kube::ObjectKey workCalled(const std::string& name) const {
    for (const kube::Object& object : story_.objects) {
      if (object.key.type == manifestwork::manifestWorkType() && object.key.name == name) return object.key;
    }
    stop("tests/recordings: there is no ManifestWork " + name);
  }

  void watch(const RecordedEvent& event) {
    if (event.key.type == kube::kCustomResourceDefinitions && !event.deleted) {
      const auto added = story_.types.addCrd(event.object.content, event.object.file);
      if (!added) stop(kube::toString(added.error()));
    }
    if (event.deleted || event.object.meta.deletionTimestamp) happen(event.key, EventKind::Accepted);
    if (event.deleted) {
      happen(event.key, EventKind::Gone);
      present_.erase(event.key);
    } else {
      present_.insert_or_assign(event.key, event.object);
    }
  }

  void happen(const kube::ObjectKey& key, EventKind kind) {
    if (seen_.insert({key, kind}).second || kind == EventKind::Gone)
      story_.happened.push_back({.key = key, .kind = kind});
  }

  RecordedStory story_;
  std::chrono::milliseconds beginning_{0};
  std::map<kube::ObjectKey, kube::Object> present_;
  std::set<std::pair<kube::ObjectKey, EventKind>> seen_;
};

// The AppliedManifestWork that the agent wrote for this work.
std::string appliedNameOf(const manifestwork::ManifestWork& work, const RecordedStory& story) {
  for (const kube::Object& object : story.objects) {
    if (object.key.type != manifestwork::appliedManifestWorkType()) continue;
    const auto applied = manifestwork::parseApplied(object);
    if (!applied) stop("tests/recordings: " + lines(applied.error()));
    if (manifestwork::isAppliedFrom(*applied, work)) return object.key.name;
  }
  stop("tests/recordings: nobody wrote down what " + work.object.key.name + " applied");
}

cluster::BuildInput toInput(const RecordedStory& story) {
  cluster::BuildInput input;
  input.types = story.types;
  input.kubernetes = story.kubernetes;
  input.guarded = story.guarded;
  for (const kube::Object& object : story.objects) {
    if (object.key.type != manifestwork::manifestWorkType()) {
      input.objects.push_back(replay::asGuardedThen(object));
      continue;
    }
    auto work = manifestwork::parseWork(object, {}, story.types);
    if (!work) stop("tests/recordings: " + lines(work.error()));
    for (kube::Object& manifest : work->manifests) manifest = replay::asGuardedThen(std::move(manifest));
    input.works.push_back(
        {.manifestWork = object, .appliedName = appliedNameOf(*work, story), .manifests = work->manifests});
  }
  return input;
}

void addControllers(cluster::Model& model) {
  for (const criticalservice::CriticalService& service : model.serviceSpecs) {
    for (const criticalservice::Criterion& criterion : service.criteria) {
      const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion);
      if (finalizer == nullptr) continue;
      const auto added = cluster::addController(model, {.name = "finalizer-controller",
                                                        .runsIn = *model.find(service.provider),
                                                        .finalizer = finalizer->finalizerName,
                                                        .from = finalizer->type});
      if (!added) stop("tests/recordings: " + added.error().message);
    }
  }
}

}  // namespace

RecordedStory readStory(const std::string& name, kube::KubernetesVersion kubernetes) {
  return Reader(name, kubernetes).take();
}

std::string StoryName::test() const {
  std::string text = name + "_" + std::string(toString(kubernetes));
  std::ranges::replace(text, '.', '_');
  return text;
}

std::vector<StoryName> storyNames() {
  std::vector<StoryName> stories;
  for (const kube::KubernetesVersion version :
       {kube::KubernetesVersion::V1_26, kube::KubernetesVersion::V1_36}) {
    for (const char* name : {"guarded", "unguarded", "deadlock"}) stories.push_back({name, version});
  }
  return stories;
}

replay::Compiled toModel(const RecordedStory& story) {
  auto model = cluster::build(toInput(story));
  if (!model) stop("tests/recordings: " + lines(model.error()));
  addControllers(*model);
  for (const ClientDelete& request : story.deletes) {
    cluster::ClientStep step;
    step.object = *model->find(request.key);
    step.at = request.at;
    step.document = static_cast<uint32_t>(model->steps.size());  // one after the other
    if (const auto added = cluster::addStep(*model, step); !added)
      stop("tests/recordings: " + added.error().message);
  }
  replay::Compiled compiled;
  compiled.model = std::move(*model);
  compiled.sendAfter.resize(compiled.model.steps.size());
  for (cluster::Slot slot = 0; slot < compiled.model.slots.size(); ++slot) compiled.goal.push_back(slot);
  return compiled;
}

}  // namespace lastout::testing
