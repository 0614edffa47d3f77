#include "replay/manifests.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "replay/sources.h"

namespace lastout::replay {
namespace {

class ManifestReader {
 public:
  explicit ManifestReader(const kube::ParseLimits& limits)
      : limits_(limits), reader_(result_.types, errors_) {}

  tl::expected<Manifests, kube::Errors> read(const std::vector<InputFile>& files) {
    for (const InputFile& file : files) readFile(file);
    // What a file that cannot be read would have held is missed everywhere: that is said once, of the file.
    if (isUnreadable_) return failure(files);
    // A CRD may stand in any file, before or after its instances.
    for (const Source& source : sources_) reader_.addTypes(source.documents, source.file);
    for (Source& source : sources_) {
      for (kube::Object& object : reader_.read(source)) keep(std::move(object));
    }
    for (const kube::Object& object : workObjects_) readWork(object);
    if (errors_.empty()) return std::move(result_);
    return failure(files);
  }

 private:
  // In the order of the files, each from top to bottom; what a scenario reads beside its own file comes last.
  tl::unexpected<kube::Errors> failure(const std::vector<InputFile>& files) {
    std::unordered_map<std::string_view, size_t> order;
    for (size_t i = 0; i < files.size(); ++i) order.try_emplace(files[i].name, i);
    const auto place = [&](const kube::Error& error) {
      const auto found = order.find(error.file);
      const size_t file = found == order.end() ? files.size() : found->second;
      return std::tuple(file, error.position.line, error.position.column);
    };
    std::stable_sort(errors_.begin(), errors_.end(),
                     [&](const kube::Error& a, const kube::Error& b) { return place(a) < place(b); });
    return tl::unexpected(std::move(errors_));
  }

  void fail(kube::Error error) { errors_.push_back(std::move(error)); }
  void fail(kube::Errors errors) { std::move(errors.begin(), errors.end(), std::back_inserter(errors_)); }

  void readFile(const InputFile& file) {
    kube::Result<std::vector<kube::Value>> documents =
        parseDocuments(file.text, file.name, isJson(file), limits_);
    if (!documents) {
      isUnreadable_ = true;
      return fail(documents.error());
    }
    const auto isScenario = [](const kube::Value& document) { return isKind(document, "Scenario"); };
    if (std::any_of(documents->begin(), documents->end(), isScenario)) return readScenario(file);
    sources_.push_back({file.name, std::move(*documents)});
  }

  void readScenario(const InputFile& file) {
    tl::expected<Scenario, kube::Errors> scenario = replay::parse(file.text, file.name, limits_);
    if (!scenario) return fail(std::move(scenario.error()));
    for (const kube::ResourceType& type : scenario->types.types()) {
      if (!type.builtIn) result_.types.add(type);
    }
    for (kube::Object& object : scenario->objects) {
      if (reader_.isFirst(object)) keep(std::move(object));
    }
    for (cluster::GivenPolicy& given : scenario->policies) {
      const bool isKnown = std::ranges::any_of(
          result_.profiles,
          [&](const protection::DeletionPolicy& other) { return other.meta.name == given.policy.meta.name; });
      if (!given.isObject && !isKnown) result_.profiles.push_back(std::move(given.policy));
    }
    std::ranges::move(scenario->controllers, std::back_inserter(result_.controllers));
    for (cluster::WorkSpec& work : scenario->works) {
      if (!work.isGone && reader_.isFirst(work.manifestWork)) {
        result_.works.push_back(
            {std::move(work.manifestWork), std::move(work.manifests), std::move(work.deleteOption)});
      }
    }
  }

  void keep(kube::Object object) {
    if (object.key.type == manifestwork::manifestWorkType()) {
      workObjects_.push_back(std::move(object));
    } else if (object.key.type == manifestwork::appliedManifestWorkType()) {
      auto applied = manifestwork::parseApplied(object);
      if (!applied) return fail(std::move(applied.error()));
      result_.applied.push_back(std::move(*applied));
    } else {
      result_.objects.push_back(std::move(object));
    }
  }

  void readWork(const kube::Object& object) {
    auto work = manifestwork::parseWork(object, result_.objects, result_.types);
    if (!work) return fail(std::move(work.error()));
    result_.works.push_back(std::move(*work));
  }

  kube::ParseLimits limits_;
  Manifests result_;
  kube::Errors errors_;
  bool isUnreadable_ = false;  // a file is neither YAML nor JSON
  ObjectReader reader_;
  std::vector<Source> sources_;
  std::vector<kube::Object> workObjects_;  // read last: their words may name any object
};

}  // namespace

tl::expected<Manifests, kube::Errors> readManifests(const std::vector<InputFile>& files,
                                                    const kube::ParseLimits& limits) {
  return ManifestReader(limits).read(files);
}

}  // namespace lastout::replay
