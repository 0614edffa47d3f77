#include "scenarios/manifests.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "scenarios/scenario.h"

namespace lastout::scenarios {
namespace {

bool isKind(const kube::Value& document, std::string_view kind) {
  const kube::Value* value = document.find("kind");
  return value != nullptr && value->asString() != nullptr && *value->asString() == kind;
}

// What kubectl prints with -o json has no file name to tell by.
bool isJson(const InputFile& file) {
  if (file.name.ends_with(".json")) return true;
  const size_t begin = file.text.find_first_not_of(" \t\r\n");
  return file.name == kStandardInputName && begin != std::string::npos && file.text[begin] == '{';
}

class Reader {
 public:
  explicit Reader(const kube::ParseLimits& limits) : limits_(limits) {}

  tl::expected<Manifests, kube::Errors> read(const std::vector<InputFile>& files) {
    for (const InputFile& file : files) readFile(file);
    // A CRD may stand in any file, before or after its instances.
    for (const Source& source : sources_) addTypes(source.documents, source.file);
    for (Source& source : sources_) readObjects(source);
    for (const kube::Object& object : workObjects_) readWork(object);
    if (errors_.empty()) return std::move(result_);
    sortErrors(files);
    return tl::unexpected(std::move(errors_));
  }

 private:
  struct Source {
    std::string file;
    std::vector<kube::Value> documents;
  };

  // In the order of the files, each from top to bottom; what a scenario reads beside its own file comes last.
  void sortErrors(const std::vector<InputFile>& files) {
    std::unordered_map<std::string_view, size_t> order;
    for (size_t i = 0; i < files.size(); ++i) order.try_emplace(files[i].name, i);
    const auto place = [&](const kube::Error& error) {
      const auto found = order.find(error.file);
      const size_t file = found == order.end() ? files.size() : found->second;
      return std::tuple(file, error.position.line, error.position.column);
    };
    std::stable_sort(errors_.begin(), errors_.end(),
                     [&](const kube::Error& a, const kube::Error& b) { return place(a) < place(b); });
  }

  void fail(kube::Error error) { errors_.push_back(std::move(error)); }
  void fail(kube::Errors errors) { std::move(errors.begin(), errors.end(), std::back_inserter(errors_)); }

  void readFile(const InputFile& file) {
    kube::Result<std::vector<kube::Value>> documents = parse(file);
    if (!documents) return fail(documents.error());
    const auto isScenario = [](const kube::Value& document) { return isKind(document, "Scenario"); };
    if (std::any_of(documents->begin(), documents->end(), isScenario)) return readScenario(file);
    for (kube::Value& document : *documents) document = manifestwork::completeShorthand(std::move(document));
    sources_.push_back({file.name, std::move(*documents)});
  }

  kube::Result<std::vector<kube::Value>> parse(const InputFile& file) const {
    if (!isJson(file)) return kube::parseYaml(file.text, file.name, limits_);
    kube::Result<kube::Value> document = kube::parseJson(file.text, file.name, limits_);
    if (!document) return tl::unexpected(std::move(document.error()));
    std::vector<kube::Value> documents;
    documents.push_back(std::move(*document));
    return documents;
  }

  void readScenario(const InputFile& file) {
    tl::expected<Scenario, kube::Errors> scenario = scenarios::parse(file.text, file.name, limits_);
    if (!scenario) return fail(std::move(scenario.error()));
    for (const kube::ResourceType& type : scenario->types.types()) {
      if (!type.builtIn) result_.types.add(type);
    }
    for (kube::Object& object : scenario->objects) keep(std::move(object));
    for (cluster::WorkSpec& work : scenario->works) {
      if (noteIsFirst(work.manifestWork)) {
        result_.works.push_back({std::move(work.manifestWork), std::move(work.manifests)});
      }
    }
  }

  void addTypes(std::span<const kube::Value> documents, std::string_view file) {
    if (auto added = manifestwork::addEmbeddedTypes(documents, file, result_.types); !added)
      fail(added.error());
    for (const kube::Value& document : documents) {
      if (isKind(document, "CustomResourceDefinition")) {
        if (auto added = result_.types.addCrd(document, file); !added) fail(added.error());
      } else if (isKind(document, "List")) {
        const kube::Value* items = document.find("items");
        if (items != nullptr && items->asList() != nullptr) addTypes(*items->asList(), file);
      }
    }
  }

  void readObjects(Source& source) {
    for (kube::Value& document : source.documents) {
      std::vector<kube::Value> one;
      one.push_back(std::move(document));
      kube::Result<std::vector<kube::Object>> objects =
          kube::parseObjects(std::move(one), source.file, result_.types);
      if (!objects) {
        failOnce(std::move(objects.error()));
        continue;
      }
      for (kube::Object& object : *objects) keep(std::move(object));
    }
  }

  // A CRD that cannot be read was reported when its type was to be added.
  void failOnce(kube::Error error) {
    const auto same = [&](const kube::Error& other) {
      return other.position == error.position && other.file == error.file && other.message == error.message;
    };
    if (std::none_of(errors_.begin(), errors_.end(), same)) fail(std::move(error));
  }

  void keep(kube::Object object) {
    if (!noteIsFirst(object)) return;
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

  bool noteIsFirst(const kube::Object& object) {
    const kube::Position position = object.content.position;
    const std::string place =
        object.file + ":" + std::to_string(position.line) + ":" + std::to_string(position.column);
    const auto [first, isNew] = places_.try_emplace(object.key, place);
    if (!isNew) {
      fail(kube::Error{
          kube::toString(object.key) + " stands here a second time; the first is at " + first->second,
          object.file, position});
    }
    return isNew;
  }

  void readWork(const kube::Object& object) {
    auto work = manifestwork::parseWork(object, result_.objects, result_.types);
    if (!work) return fail(std::move(work.error()));
    result_.works.push_back(std::move(*work));
  }

  kube::ParseLimits limits_;
  Manifests result_;
  kube::Errors errors_;
  std::vector<Source> sources_;
  std::vector<kube::Object> workObjects_;                    // read last: their words may name any object
  std::unordered_map<kube::ObjectKey, std::string> places_;  // where each object stands
};

}  // namespace

tl::expected<Manifests, kube::Errors> readManifests(const std::vector<InputFile>& files,
                                                    const kube::ParseLimits& limits) {
  return Reader(limits).read(files);
}

}  // namespace lastout::scenarios
