#include "replay/spec.h"

#include <array>

#include "kube/messages.h"
#include "kube/well_known.h"
#include "protection/profiles.h"

namespace lastout::replay {

namespace {

// What the readers below share: where references find their types, and where errors go.
struct SpecReader {
  Scenario& scenario;
  kube::Errors& errors;

  std::optional<ScenarioReference> reference(kube::Fields& fields, std::string_view key) const {
    const kube::Value* value = fields.any(key);
    if (value == nullptr) return std::nullopt;
    return readReference(*value, fields.pathOf(key), scenario, errors);
  }

  std::optional<ScenarioReference> requiredReference(kube::Fields& fields, std::string_view key) const {
    if (!fields.has(key)) fields.fail(key, fields.pathOf(key) + " is missing: it names the object");
    return reference(fields, key);
  }

  // One reference or a list of them.
  std::vector<ScenarioReference> references(kube::Fields& fields, std::string_view key) const {
    std::vector<ScenarioReference> result;
    const kube::Value* value = fields.any(key);
    if (value == nullptr) return result;
    if (const kube::Value::List* list = value->asList()) {
      for (size_t i = 0; i < list->size(); ++i) {
        const std::string path = fields.pathOf(key) + "[" + std::to_string(i) + "]";
        if (auto one = readReference((*list)[i], path, scenario, errors)) result.push_back(std::move(*one));
      }
    } else if (auto one = readReference(*value, fields.pathOf(key), scenario, errors)) {
      result.push_back(std::move(*one));
    }
    return result;
  }

  // A list of events, or a single one.
  std::vector<EventReference> events(const kube::Value& value, const std::string& path) const {
    std::vector<EventReference> result;
    const kube::Value::List* list = value.asList();
    if (list == nullptr) {
      if (auto event = readEvent(value, path, scenario, errors)) result.push_back(std::move(*event));
      return result;
    }
    for (size_t i = 0; i < list->size(); ++i) {
      auto event = readEvent((*list)[i], path + "[" + std::to_string(i) + "]", scenario, errors);
      if (event) result.push_back(std::move(*event));
    }
    return result;
  }
};

// --- steps

std::optional<cluster::PropagationPolicy> readPolicy(kube::Fields& fields) {
  const auto word = fields.oneOf("propagationPolicy", {"Background", "Foreground", "Orphan"});
  return word ? cluster::propagationPolicyOf(*word) : std::nullopt;
}

cluster::Precondition readPrecondition(kube::Fields& fields) {
  const auto word = fields.oneOf("precondition", {"uid", "resourceVersion"});
  if (!word) return cluster::Precondition::None;
  return *word == "uid" ? cluster::Precondition::Uid : cluster::Precondition::ResourceVersion;
}

void readDelete(const SpecReader& reader, kube::Fields& fields, ScenarioStep& step) {
  step.kind = ScenarioStep::Kind::Delete;
  step.objects = reader.references(fields, "delete");
  step.policy = readPolicy(fields);
  step.precondition = readPrecondition(fields);
  step.retry = fields.boolean("retry").value_or(true);
  step.dryRun = fields.boolean("dryRun").value_or(false);
}

// References to manifests of the file, manifests themselves, or a list of both.
void readApply(const SpecReader& reader, kube::Fields& fields, ScenarioStep& step) {
  step.kind = ScenarioStep::Kind::Apply;
  step.serverSide = fields.boolean("serverSide").value_or(false);
  const auto readOne = [&](const kube::Value& value, const std::string& path) {
    if (value.asMap() == nullptr) {
      if (auto one = readReference(value, path, reader.scenario, reader.errors))
        step.objects.push_back(std::move(*one));
      return;
    }
    auto object = kube::parseObject(value, reader.scenario.file, reader.scenario.types);
    if (object)
      step.manifests.push_back(std::move(*object));
    else
      reader.errors.push_back(object.error());
  };
  const kube::Value* value = fields.any("apply");
  if (value == nullptr) return;
  if (const kube::Value::List* list = value->asList()) {
    for (size_t i = 0; i < list->size(); ++i)
      readOne((*list)[i], fields.pathOf("apply") + "[" + std::to_string(i) + "]");
  } else {
    readOne(*value, fields.pathOf("apply"));
  }
}

std::optional<criticalservice::DeletionIntent> readIntent(kube::Fields& fields) {
  const auto word = fields.oneOf("deletionIntent", {"Ordered", "BestEffortDeletion", "OrphanResources"});
  if (!word) return std::nullopt;
  if (*word == "Ordered") return criticalservice::DeletionIntent::Ordered;
  return *word == "OrphanResources" ? criticalservice::DeletionIntent::OrphanResources
                                    : criticalservice::DeletionIntent::BestEffortDeletion;
}

void readMerge(const SpecReader& reader, kube::Fields& patch, ScenarioStep& step) {
  const kube::Value* merge = patch.any("merge");
  if (merge == nullptr) return;
  if (auto wrong = wrongMerge(*merge, patch.pathOf("merge")))
    reader.errors.push_back({std::move(*wrong), reader.scenario.file, merge->position});
  else
    step.merge = *merge;
}

void readPatch(const SpecReader& reader, kube::Fields& fields, ScenarioStep& step) {
  step.kind = ScenarioStep::Kind::Patch;
  auto patch = fields.requiredFields("patch");
  if (!patch) return;
  if (auto object = reader.requiredReference(*patch, "object")) step.objects.push_back(std::move(*object));
  int changes = 0;
  if (patch->has("finalizers")) ++changes, step.finalizers = patch->strings("finalizers");
  if (patch->has("labels")) {
    ++changes;
    step.labels.emplace();
    for (auto& [key, label] : patch->stringMap("labels")) step.labels->emplace(key, label);
  }
  if (patch->has("merge")) ++changes, readMerge(reader, *patch, step);
  if (patch->has("deletionIntent")) ++changes, step.intent = readIntent(*patch);
  patch->allow({"finalizers", "labels", "merge", "deletionIntent"});
  patch->finish();
  if (changes != 1)
    reader.errors.push_back(
        {patch->path() + ": a patch has one of finalizers, labels, merge and deletionIntent; this one has " +
             (changes == 0 ? "none" : "several: write one step for each"),
         reader.scenario.file, patch->value().position});
}

void readScale(const SpecReader& reader, kube::Fields& fields, ScenarioStep& step) {
  step.kind = ScenarioStep::Kind::Scale;
  auto scale = fields.requiredFields("scale");
  if (!scale) return;
  if (auto object = reader.requiredReference(*scale, "object")) step.objects.push_back(std::move(*object));
  const auto replicas = scale->integer("replicas", 0, cluster::kMaxReplicas);
  if (!replicas && !scale->has("replicas"))
    scale->fail("replicas", scale->pathOf("replicas") + " is missing: how many there shall be");
  step.replicas = static_cast<uint32_t>(replicas.value_or(0));
  scale->finish();
}

ScenarioStep readStep(const SpecReader& reader, kube::Fields& fields, std::chrono::milliseconds previous) {
  ScenarioStep step;
  step.where = fields.value().position;
  step.at = previous;
  if (fields.value().asMap() == nullptr) return step;
  static constexpr std::array<std::string_view, 4> kVerbs = {"delete", "apply", "patch", "scale"};
  size_t verbs = 0;
  for (const std::string_view verb : kVerbs) verbs += fields.has(verb) ? 1 : 0;
  if (fields.has("delete"))
    readDelete(reader, fields, step);
  else if (fields.has("apply"))
    readApply(reader, fields, step);
  else if (fields.has("patch"))
    readPatch(reader, fields, step);
  else if (fields.has("scale"))
    readScale(reader, fields, step);
  if (verbs > 1)
    fields.failAt(
        fields.value(),
        fields.path() + ": a step has one of delete, apply, patch and scale; write one step for each");
  step.as = fields.string("as").value_or(step.as);
  if (const auto at = fields.duration("at")) {
    step.at = *at;
    if (*at < previous)
      fields.fail("at", fields.pathOf("at") +
                            ": steps stand in the order of their times, and the one above is later");
  }
  if (const kube::Value* after = fields.any("after"))
    step.after = readEvent(*after, fields.pathOf("after"), reader.scenario, reader.errors);
  if (verbs == 0) fields.allow({"propagationPolicy", "precondition", "retry", "dryRun", "serverSide"});
  fields.allow({"delete", "apply", "patch", "scale"});
  fields.finish();
  if (verbs == 0)
    fields.failAt(fields.value(), fields.path() + ": a step needs one of delete, apply, patch and scale");
  return step;
}

void readSteps(const SpecReader& reader, kube::Fields& spec) {
  std::chrono::milliseconds at{0};
  for (kube::Fields& fields : spec.items("steps")) {
    reader.scenario.steps.push_back(readStep(reader, fields, at));
    at = std::max(at, reader.scenario.steps.back().at);
  }
}

// --- expectations

void readBefore(const SpecReader& reader, kube::Fields& fields, Expectations& expect) {
  const kube::Value* list = fields.list("before");
  if (list == nullptr) return;
  for (size_t i = 0; i < list->asList()->size(); ++i) {
    const kube::Value& chain = (*list->asList())[i];
    const std::string path = fields.pathOf("before") + "[" + std::to_string(i) + "]";
    const size_t errorsBefore = reader.errors.size();
    std::vector<EventReference> events;
    if (chain.asList() != nullptr) events = reader.events(chain, path);
    if (events.size() < 2 && reader.errors.size() == errorsBefore)
      fields.failAt(
          chain,
          path + ": write a list of events, each of which happens before the next, as in [a gone, b gone]");
    expect.before.push_back(std::move(events));
  }
}

void readExpectations(const SpecReader& reader, kube::Fields& spec) {
  auto fields = spec.fields("expect");
  if (!fields) return;
  Expectations& expect = reader.scenario.expect;
  if (const auto ends = fields->oneOf("ends", {"empty", "stuck"}))
    expect.ends = *ends == "stuck" ? Ending::Stuck : Ending::Empty;
  expect.stuck = reader.references(*fields, "stuck");
  if (!expect.stuck.empty() && expect.ends != Ending::Stuck)
    fields->fail("stuck",
                 fields->pathOf("stuck") + ": something can only be stuck in a scenario with `ends: stuck`");
  readBefore(reader, *fields, expect);
  expect.denied = reader.references(*fields, "denied");
  if (const kube::Value* never = fields->any("never"))
    expect.never = reader.events(*never, fields->pathOf("never"));
  expect.exists = reader.references(*fields, "exists");
  expect.within = fields->duration("within");
  if (expect.within && expect.ends == Ending::Stuck)
    fields->fail("within",
                 fields->pathOf("within") + ": what ends stuck is never done, so it cannot be done in time");
  fields->finish();
}

void readStory(const SpecReader& reader, kube::Fields& spec) {
  for (kube::Fields& fields : spec.items("story")) {
    Milestone milestone;
    milestone.title = fields.requiredString("title");
    const kube::Value* value = fields.any("event");
    if (value == nullptr) {
      fields.fail("event", fields.pathOf("event") + " is missing: it says when the moment has come");
    } else if (auto event = readEvent(*value, fields.pathOf("event"), reader.scenario, reader.errors)) {
      milestone.event = std::move(*event);
      reader.scenario.story.push_back(std::move(milestone));
    }
    fields.finish();
  }
}

// Their policies are there all the time.
void readProfiles(const SpecReader& reader, kube::Fields& spec) {
  const kube::Value* list = spec.list("profiles");
  if (list == nullptr) return;
  for (size_t i = 0; i < list->asList()->size(); ++i) {
    const kube::Value& name = (*list->asList())[i];
    const std::string path = spec.pathOf("profiles") + "[" + std::to_string(i) + "]";
    if (name.asString() == nullptr) {
      spec.failAt(name, path + " must be the name of a profile");
      continue;
    }
    auto policies = protection::parseProfile(*name.asString());
    if (!policies) {
      spec.failAt(name, path + ": " + policies.error().front().message);
      continue;
    }
    for (protection::DeletionPolicy& policy : *policies)
      reader.scenario.policies.push_back({std::move(policy), false});
  }
}

// In quotes, since 1.30 as a number is 1.3.
void readKubernetes(const SpecReader& reader, kube::Fields& spec) {
  const kube::Value* value = spec.any("kubernetes");
  if (value == nullptr) return;
  std::string known;
  for (const std::string_view version : kube::kKubernetesVersions)
    known += (known.empty() ? "" : " or ") + kube::inQuotes(version);
  const std::string* text = value->asString();
  if (text == nullptr)
    return spec.fail("kubernetes", spec.pathOf("kubernetes") + " is " + std::string(kube::kindName(*value)) +
                                       "; write a version, in quotes: " + known);
  if (const auto version = kube::parseKubernetesVersion(*text))
    reader.scenario.kubernetes = *version;
  else
    spec.fail("kubernetes", spec.pathOf("kubernetes") + " must be " + known +
                                ", the versions whose rules are " + "known here, not " +
                                kube::inQuotes(*text));
}

void readSpec(const SpecReader& reader, kube::Fields& spec) {
  Scenario& scenario = reader.scenario;
  scenario.description = spec.string("description").value_or("");
  readKubernetes(reader, spec);
  scenario.guard = spec.boolean("guard").value_or(true);
  scenario.runsDeferredDeletions = spec.boolean("carryOut").value_or(true);
  readProfiles(reader, spec);
  if (const auto word = spec.oneOf("externalStep", {"Succeed", "Fail", "Unreachable"}))
    scenario.externalStep = *word == "Succeed" ? cluster::ExternalOutcome::Done
                            : *word == "Fail"  ? cluster::ExternalOutcome::Failed
                                               : cluster::ExternalOutcome::NotReported;
  scenario.lastoutNamespace = spec.string("lastoutNamespace").value_or("");
  readControllers(spec, scenario, reader.errors);
  readSteps(reader, spec);
  readStory(reader, spec);
  readExpectations(reader, spec);
  spec.allow({"files"});
  spec.finish();
}

}  // namespace

void readScenario(const kube::Value& document, Scenario& scenario, kube::Errors& errors) {
  const SpecReader reader{scenario, errors};
  kube::Fields fields(document, scenario.file, "", errors);
  const std::string apiVersion = fields.requiredString("apiVersion");
  if (!apiVersion.empty() && apiVersion != kube::kLastoutApiVersion)
    fields.fail("apiVersion", "apiVersion: a Scenario has " + std::string(kube::kLastoutApiVersion) +
                                  ", not \"" + apiVersion + "\"");
  fields.allow({"kind"});
  if (fields.any("kubernetes") != nullptr)
    fields.fail("kubernetes", "kubernetes: write it into spec, as spec.kubernetes");
  if (auto metadata = fields.fields("metadata")) {
    const std::string name = metadata->string("name").value_or("");
    if (!name.empty()) scenario.name = name;
    metadata->finish();
  }
  if (auto spec = fields.requiredFields("spec")) readSpec(reader, *spec);
  fields.finish();
}

std::vector<FileName> readFiles(const kube::Value& document, std::string_view file, kube::Errors& errors) {
  std::vector<FileName> result;
  const kube::Value* files = document.at({"spec", "files"});
  if (files == nullptr || files->isNull()) return result;
  const kube::Value::List* list = files->asList();
  if (list == nullptr) {
    errors.push_back(
        {"spec.files: this is " + std::string(kube::kindName(*files)) + "; write a list of file names",
         std::string(file), files->position});
    return result;
  }
  for (size_t i = 0; i < list->size(); ++i) {
    const kube::Value& value = (*list)[i];
    if (const std::string* path = value.asString(); path != nullptr && !path->empty())
      result.push_back({*path, value.position});
    else
      errors.push_back({"spec.files[" + std::to_string(i) + "]: write the name of a file beside this one",
                        std::string(file), value.position});
  }
  return result;
}

std::vector<kube::Value> manifestsInSteps(const kube::Value& document) {
  std::vector<kube::Value> result;
  const kube::Value* steps = document.at({"spec", "steps"});
  if (steps == nullptr || steps->asList() == nullptr) return result;
  for (const kube::Value& step : *steps->asList()) {
    const kube::Value* apply = step.find("apply");
    if (apply == nullptr) continue;
    if (apply->asMap() != nullptr) result.push_back(*apply);
    if (const kube::Value::List* list = apply->asList()) {
      for (const kube::Value& one : *list) {
        if (one.asMap() != nullptr) result.push_back(one);
      }
    }
  }
  return result;
}

}  // namespace lastout::replay
