// load and parse: a scenario file and those beside it into a Scenario; and manifests, with what is to be
// deleted.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

#include "criticalservice/remover_finder.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"
#include "replay/scenario.h"
#include "replay/sources.h"
#include "replay/spec.h"

namespace lastout::replay {

namespace {

constexpr size_t kMaxFiles = 100;

kube::Result<std::vector<kube::Value>> parseFile(std::string_view text, const std::string& file,
                                                 const kube::ParseLimits& limits) {
  return parseDocuments(text, file, file.ends_with(".json"), limits);
}

bool isScenario(const kube::Value& document) { return isKind(document, "Scenario"); }

// Where spec.files may point: beside the scenario and below. What a scenario reads is then all in one folder.
std::optional<std::string> forbidden(const std::string& name) {
  const std::filesystem::path path(name);
  if (path.is_absolute()) return "is an absolute path";
  const std::string normal = path.lexically_normal().generic_string();
  if (normal == ".." || normal.starts_with("../")) return "is outside of the scenario's folder";
  return std::nullopt;
}

class Loader {
 public:
  Loader(std::string file, const kube::ParseLimits& limits) : limits_(limits) {
    scenario_.file = std::move(file);
    scenario_.name = std::filesystem::path(scenario_.file).stem().string();
    scenario_.types = kube::ResourceMap::builtIn();
  }

  // nullopt: sound, but no scenario.
  tl::expected<std::optional<Scenario>, kube::Errors> run(std::string_view text) {
    const bool found = readSources(text);
    if (!found && errors_.empty()) return std::optional<Scenario>();
    // What a file that cannot be read would have held is missed everywhere: that is said once, of the file.
    if (found && !isUnreadable_) {
      readObjects();
      readScenario(document_, scenario_, errors_);
      collectLater();
      readPolicies();
      addOutsideRemovers();
    }
    if (errors_.empty()) return std::optional<Scenario>(std::move(scenario_));
    return failed();
  }

  // Manifests alone, and what is deleted.
  tl::expected<Scenario, kube::Errors> run(const std::vector<InputFile>& files,
                                           const std::vector<std::string>& references) {
    for (const InputFile& file : files) {
      readManifests(file);
      if (&file != &files.front()) scenario_.moreFiles.push_back(file.name);
    }
    if (isUnreadable_) return failed();
    readObjects();
    scenario_.name = "delete " + kube::listed(references, 2);
    scenario_.isOfDeletions = true;
    for (const std::string& reference : references) addDeletion(reference);
    readPolicies();
    if (!errors_.empty()) return failed();
    const criticalservice::RemoverFinder finder(allObjects(), scenario_.types);
    addRemovers(finder);
    addOutsideRemovers();
    addUnremoved(finder);
    return std::move(scenario_);
  }

 private:
  tl::unexpected<kube::Errors> failed() {
    // The scenario's own file first, each file from top to bottom.
    std::stable_sort(errors_.begin(), errors_.end(), [&](const kube::Error& a, const kube::Error& b) {
      if ((a.file == scenario_.file) != (b.file == scenario_.file)) return a.file == scenario_.file;
      if (a.file != b.file) return a.file < b.file;
      return std::pair(a.position.line, a.position.column) < std::pair(b.position.line, b.position.column);
    });
    return tl::unexpected(std::move(errors_));
  }

  void readManifests(const InputFile& file) {
    auto documents = parseDocuments(file.text, file.name, isJson(file), limits_);
    if (!documents) {
      isUnreadable_ = true;
      errors_.push_back(documents.error());
      return;
    }
    for (const kube::Value& document : *documents) {
      if (isScenario(document))
        errors_.push_back(
            {"this is a Scenario, which says itself what is deleted: leave out --delete, or "
             "give the manifests alone",
             file.name, document.position});
      else
        refuseMisspelt(document, file.name);
    }
    std::erase_if(*documents, isScenario);
    sources_.push_back({file.name, std::move(*documents)});
  }

  void addDeletion(const std::string& reference) {
    const auto pattern = kube::parsePattern(reference, scenario_.types);
    // Its type's CRD has an error, which was told.
    if (!pattern && lackingWords_.contains(kube::lowerCase(reference.substr(0, reference.find('/'))))) return;
    if (!pattern) {
      errors_.push_back({"--delete " + kube::inQuotes(reference) + ": " + pattern.error().message, {}, {}});
      return;
    }
    ScenarioStep step;
    step.objects.push_back({*pattern, reference, {}});
    step.policy = cluster::PropagationPolicy::Background;  // as kubectl asks for it
    scenario_.steps.push_back(std::move(step));
  }

  std::vector<const kube::Object*> allObjects() const {
    std::vector<const kube::Object*> objects;
    for (const kube::Object& object : scenario_.objects) objects.push_back(&object);
    for (const cluster::WorkSpec& work : scenario_.works) {
      for (const kube::Object& object : work.manifests) objects.push_back(&object);
    }
    for (const kube::Object& object : scenario_.later) objects.push_back(&object);
    return objects;
  }

  void addRemovers(const criticalservice::RemoverFinder& finder) {
    for (criticalservice::FinalizerRemover& remover : finder.all()) {
      ScenarioController controller;
      controller.name = remover.workload.name;
      const std::string text = kube::toString(remover.workload);
      controller.runsIn = ScenarioReference{{.key = std::move(remover.workload)}, text, {}};
      controller.finalizer = std::move(remover.finalizer);
      controller.from = std::move(remover.from);
      controller.scope = std::move(remover.scope);
      controller.evidence = std::move(remover.evidence);
      controller.isCandidate = !remover.isDeclared;
      controller.setOn = std::move(remover.setOn);
      if (remover.isWeak) controller.evidence += ", which may be true of others, too";
      scenario_.controllers.push_back(std::move(controller));
    }
  }

  // After all controllers were found. A controller of some namespaces does not explain the objects elsewhere.
  void addUnremoved(const criticalservice::RemoverFinder& finder) {
    scenario_.unremoved = finder.unremoved("in the files");
    std::erase_if(scenario_.unremoved, [this](const criticalservice::UnremovedFinalizer& one) {
      return std::ranges::any_of(scenario_.controllers, [&](const ScenarioController& other) {
        return other.from == one.from && other.finalizer == one.finalizer &&
               other.scope.kind == kube::NamespaceScope::Kind::All;
      });
    });
  }

  void addOutsideRemovers() {
    for (criticalservice::OutsideRemover& remover :
         criticalservice::findOutsideRemovers(allObjects(), scenario_.types)) {
      const bool isKnown = std::ranges::any_of(scenario_.controllers, [&](const ScenarioController& other) {
        return other.from == remover.from && other.finalizer == remover.finalizer;
      });
      if (isKnown) continue;
      ScenarioController controller;
      controller.name = std::move(remover.name);
      controller.finalizer = std::move(remover.finalizer);
      controller.from = std::move(remover.from);
      controller.evidence = "it sets that finalizer";
      scenario_.controllers.push_back(std::move(controller));
    }
  }

  // False when there is no Scenario to go on with; with errors, because the file cannot be read.
  bool readSources(std::string_view text) {
    auto documents = parseFile(text, scenario_.file, limits_);
    if (!documents) {
      errors_.push_back(documents.error());
      return false;
    }
    const auto first = std::find_if(documents->begin(), documents->end(), isScenario);
    if (first == documents->end()) {
      for (const kube::Value& document : *documents) refuseMisspelt(document, scenario_.file);
      return false;
    }
    document_ = std::move(*first);
    documents->erase(first);
    for (const kube::Value& other : *documents) {
      if (isScenario(other))
        errors_.push_back({"this is a second Scenario; a file has one, the first is in line " +
                               std::to_string(document_.position.line),
                           scenario_.file, other.position});
    }
    std::erase_if(*documents, isScenario);
    sources_.push_back({scenario_.file, std::move(*documents)});
    readMoreFiles();
    return true;
  }

  // A folder's other files are passed over; one that was meant to be a scenario is not.
  void refuseMisspelt(const kube::Value& document, const std::string& file) {
    const kube::Value* apiVersion = document.find("apiVersion");
    const kube::Value* kind = document.find("kind");
    if (apiVersion == nullptr || kind == nullptr) return;
    if (apiVersion->asString() == nullptr || kind->asString() == nullptr) return;
    if (kube::groupOf(*apiVersion->asString()) != kube::kLastoutGroup ||
        isKind(document, "CriticalService") || isKind(document, protection::kPolicyKind))
      return;
    errors_.push_back(
        {"no kind " + kube::inQuotes(*kind->asString()) + " is known in " +
             kube::inQuotes(*apiVersion->asString()) +
             kube::didYouMean(*kind->asString(), {"Scenario", "CriticalService", protection::kPolicyKind}),
         file, kind->position});
  }

  void readMoreFiles() {
    std::vector<FileName> names = readFiles(document_, scenario_.file, errors_);
    if (names.size() > kMaxFiles) {
      errors_.push_back({"spec.files: " + std::to_string(names.size()) + " files are more than the " +
                             std::to_string(kMaxFiles) + " that a scenario may have",
                         scenario_.file, names[kMaxFiles].where});
      return;
    }
    const std::filesystem::path folder = std::filesystem::path(scenario_.file).parent_path();
    for (const FileName& name : names) {
      if (const auto reason = forbidden(name.path)) {
        errors_.push_back({"spec.files: \"" + name.path + "\" " + *reason + "; name files beside it or below",
                           scenario_.file, name.where});
        continue;
      }
      const std::string path = (folder / name.path).lexically_normal().string();
      scenario_.moreFiles.push_back(path);
      kube::Result<std::string> text = kube::readFile(path, limits_);
      if (!text) {
        isUnreadable_ = true;
        errors_.push_back({"spec.files: " + kube::toString(text.error()), scenario_.file, name.where});
        continue;
      }
      auto documents = parseFile(*text, path, limits_);
      isUnreadable_ = isUnreadable_ || !documents;
      if (!documents)
        errors_.push_back(documents.error());
      else
        sources_.push_back({path, std::move(*documents)});
    }
  }

  void readObjects() {
    ObjectReader reader(scenario_.types, errors_);
    for (const Source& source : sources_) reader.addTypes(source.documents, source.file);
    reader.addTypes(manifestsInSteps(document_), scenario_.file);
    std::vector<kube::Object> works;
    for (Source& source : sources_) {
      for (kube::Object& object : reader.read(source)) {
        const bool isWork = object.key.type == manifestwork::manifestWorkType();
        (isWork ? works : scenario_.objects).push_back(std::move(object));
      }
    }
    for (const kube::Object& object : works) readWork(object);
    for (const kube::Object& object : scenario_.objects) addWorkOf(object);
    lackingWords_ = reader.lackingWords();
  }

  void readWork(const kube::Object& object) {
    auto work = manifestwork::parseWork(object, scenario_.objects, scenario_.types);
    if (!work) {
      errors_.insert(errors_.end(), work.error().begin(), work.error().end());
      return;
    }
    std::string applied = manifestwork::appliedName(work->object.key);
    scenario_.works.push_back({std::move(work->object), std::move(applied), std::move(work->manifests),
                               std::move(work->deleteOption)});
  }

  // Adds the work of an AppliedManifestWork without one, as in a managed cluster, whose hub is another.
  void addWorkOf(const kube::Object& object) {
    if (object.key.type != manifestwork::appliedManifestWorkType()) return;
    const auto applied = manifestwork::parseApplied(object);
    if (!applied || isOfGivenWork(*applied)) return;
    auto work = workNamedBy(*applied);
    if (!work) return;
    cluster::WorkSpec spec{.manifestWork = std::move(*work),
                           .appliedName = object.key.name,
                           .manifests = {},
                           .deleteOption = {},
                           .isGone = true};
    spec.deleteOption.policy = manifestwork::DeleteOption::PropagationPolicy::SelectivelyOrphan;
    for (const manifestwork::AppliedResource& resource : applied->resources) {
      const auto found = std::ranges::find(scenario_.objects, resource.key, &kube::Object::key);
      if (found == scenario_.objects.end()) continue;
      spec.manifests.push_back(*found);
      // The agent keeps its owner reference off what the work leaves behind.
      const auto isApplied = [&](const kube::OwnerReference& owner) {
        return owner.kind == manifestwork::kAppliedKind && owner.name == object.key.name;
      };
      if (std::ranges::none_of(found->meta.ownerReferences, isApplied))
        spec.deleteOption.orphaningRules.push_back(resource.key);
    }
    scenario_.works.push_back(std::move(spec));
  }

  // Returns true for the note of a work in the files: of a cluster that is a hub, and manages itself.
  bool isOfGivenWork(const manifestwork::AppliedManifestWork& applied) const {
    return std::ranges::any_of(scenario_.works, [&](const cluster::WorkSpec& work) {
      return !work.isGone && (work.appliedName == applied.object.key.name ||
                              manifestwork::isAppliedFrom(applied, {work.manifestWork, work.manifests}));
    });
  }

  // In the namespace that the name of the AppliedManifestWork begins with, which may be the hash of a hub.
  std::optional<kube::Object> workNamedBy(const manifestwork::AppliedManifestWork& applied) const {
    const std::string& name = applied.object.key.name;
    const std::string suffix = "-" + applied.manifestWorkName;
    if (!name.ends_with(suffix)) return std::nullopt;
    const std::string space = name.substr(0, name.size() - suffix.size());
    const kube::Json work{{"apiVersion", applied.object.apiVersion},
                          {"kind", "ManifestWork"},
                          {"metadata", {{"name", applied.manifestWorkName}, {"namespace", space}}}};
    auto object = kube::parseObject(kube::fromJson(work), applied.object.file, scenario_.types);
    return object ? std::optional(std::move(*object)) : std::nullopt;
  }

  // What steps create is part of the cluster's possible objects, except what is there from the start.
  void collectLater() {
    for (ScenarioStep& step : scenario_.steps) {
      for (const kube::Object& object : step.manifests) {
        if (object.key.type == manifestwork::manifestWorkType())
          errors_.push_back(
              {"a step cannot apply a ManifestWork: let the scenario begin with it, or apply its manifests",
               scenario_.file, object.content.position});
        else
          scenario_.later.push_back(object);
      }
    }
  }

  void refuseNameOfProfile(const protection::DeletionPolicy& policy) {
    const bool isTaken = std::ranges::any_of(scenario_.policies, [&](const cluster::GivenPolicy& other) {
      return !other.isObject && other.policy.meta.name == policy.meta.name;
    });
    if (isTaken)
      errors_.push_back({"DeletionPolicy " + policy.meta.name +
                             " stands in the file and in a profile of spec.profiles; leave one of them out",
                         scenario_.file, document_.position});
  }

  // Of all objects that are there or may come.
  void readPolicies() {
    const auto read = [&](const std::vector<kube::Object>& objects) {
      for (protection::DeletionPolicy& policy : policiesOf(objects, errors_)) {
        refuseNameOfProfile(policy);
        scenario_.policies.push_back({std::move(policy), true});
      }
    };
    read(scenario_.objects);
    for (const cluster::WorkSpec& work : scenario_.works) read(work.manifests);
    read(scenario_.later);
  }

  kube::ParseLimits limits_;
  Scenario scenario_;
  kube::Errors errors_;
  bool isUnreadable_ = false;           // one of several files cannot be read
  std::set<std::string> lackingWords_;  // as of ObjectReader
  kube::Value document_;                // the Scenario
  std::vector<Source> sources_;
};

}  // namespace

tl::expected<Scenario, kube::Errors> parse(std::string_view text, const std::string& file,
                                           const kube::ParseLimits& limits) {
  auto scenario = Loader(file, limits).run(text);
  if (!scenario) return tl::unexpected(std::move(scenario.error()));
  if (!*scenario)
    return tl::unexpected(
        kube::Errors{{"there is no document of kind Scenario in this file; of plain manifests, `lastout "
                      "prove --delete TYPE/NAME` "
                      "says whether a deletion can get stuck",
                      file,
                      {}}});
  return std::move(**scenario);
}

tl::expected<Scenario, kube::Errors> load(const std::string& path, const kube::ParseLimits& limits) {
  kube::Result<std::string> text = kube::readFile(path, limits);
  if (!text) return tl::unexpected(kube::Errors{text.error()});
  return parse(*text, path, limits);
}

tl::expected<std::optional<Scenario>, kube::Errors> loadIfScenario(const std::string& path,
                                                                   const kube::ParseLimits& limits) {
  kube::Result<std::string> text = kube::readFile(path, limits);
  if (!text) return tl::unexpected(kube::Errors{text.error()});
  return Loader(path, limits).run(*text);
}

tl::expected<Scenario, kube::Errors> scenarioOfDeletions(const std::vector<InputFile>& files,
                                                         const std::vector<std::string>& references,
                                                         const kube::ParseLimits& limits) {
  return Loader(files.empty() ? std::string() : files.front().name, limits).run(files, references);
}

}  // namespace lastout::replay
