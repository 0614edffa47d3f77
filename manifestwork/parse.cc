// Reading ManifestWorks and AppliedManifestWorks.
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/reference.h"
#include "kube/value.h"
#include "manifestwork/manifest_work.h"

namespace lastout::manifestwork {
namespace {

constexpr size_t kListedCandidates = 5;

bool isText(const kube::Value* value, std::string_view text) {
  return value != nullptr && value->asString() != nullptr && *value->asString() == text;
}

// {group, resource, namespace, name}
kube::ObjectKey identifiedBy(const kube::Value& value) {
  return {{kube::textAt(value, {"group"}), kube::textAt(value, {"resource"})},
          kube::textAt(value, {"namespace"}),
          kube::textAt(value, {"name"})};
}

std::vector<kube::ObjectKey> readOnlyObjects(const kube::Value& spec) {
  std::vector<kube::ObjectKey> objects;
  for (const kube::Value& config : kube::listAt(spec, {"manifestConfigs"})) {
    const kube::Value* object = config.find("resourceIdentifier");
    if (object != nullptr && kube::textAt(config, {"updateStrategy", "type"}) == "ReadOnly")
      objects.push_back(identifiedBy(*object));
  }
  return objects;
}

DeleteOption::PropagationPolicy policyNamed(std::string_view word) {
  using Policy = DeleteOption::PropagationPolicy;
  if (word == "Orphan") return Policy::Orphan;
  return word == "SelectivelyOrphan" ? Policy::SelectivelyOrphan : Policy::Foreground;
}

// One word of the shorthand, and where it stands: its own place in a list, the text's place in folded text.
struct Word {
  std::string text;
  kube::Position position;
};

std::vector<Word> splitWords(const std::string& text, kube::Position position) {
  constexpr std::string_view kSpace = " \t\r\n";
  std::vector<Word> words;
  for (size_t begin = text.find_first_not_of(kSpace); begin != std::string::npos;) {
    const size_t end = text.find_first_of(kSpace, begin);
    words.push_back({text.substr(begin, end - begin), position});
    begin = end == std::string::npos ? end : text.find_first_not_of(kSpace, end);
  }
  return words;
}

// What is read of one work, and what is wrong with it.
class WorkReader {
 public:
  WorkReader(const kube::Object& work, std::span<const kube::Object> objects, const kube::ResourceMap& types)
      : work_(work), objects_(objects), types_(types) {}

  tl::expected<ManifestWork, kube::Errors> read() {
    const kube::Value* spec = work_.content.find("spec");
    if (spec == nullptr || spec->isNull()) {
      fail(work_.content.position,
           "spec is missing: give it workload.manifests, or a list of words such as deployment.apps/name");
    } else if (const std::string* text = spec->asString()) {
      for (const Word& word : splitWords(*text, spec->position)) addWord(word);
    } else if (const kube::Value::List* list = spec->asList()) {
      readWords(*list);
    } else {
      readWorkload(*spec);
    }
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return ManifestWork{work_, std::move(manifests_), std::move(deleteOption_)};
  }

 private:
  void fail(kube::Position position, std::string message) {
    errors_.push_back({"ManifestWork " + work_.key.name + ": " + std::move(message), work_.file, position});
  }

  void add(const kube::Object& object, kube::Position position) {
    if (!keys_.insert(object.key).second) {
      fail(position, kube::toString(object.key) + " stands in it twice");
    } else if (object.key == work_.key) {
      fail(position, "a work cannot apply itself");
    } else {
      manifests_.push_back(object);
    }
  }

  // --- shorthand ---
  void readWords(const kube::Value::List& list) {
    for (const kube::Value& item : list) {
      if (const std::string* text = item.asString()) {
        addWord({*text, item.position});
      } else {
        fail(item.position, "spec: a list of words such as deployment.apps/name is expected, but this is " +
                                std::string(kube::kindName(item)));
      }
    }
  }

  void addWord(const Word& word) {
    const kube::Result<kube::ObjectPattern> pattern = kube::parsePattern(word.text, types_);
    if (!pattern) return fail(word.position, pattern.error().message);
    if (pattern->hasGlob()) {
      return fail(word.position,
                  kube::inQuotes(word.text) + ": a word names one object; * and ? are not allowed");
    }
    std::vector<const kube::Object*> found;
    for (const kube::Object& object : objects_) {
      if (pattern->matches(object.key)) found.push_back(&object);
    }
    if (found.size() == 1) return add(*found.front(), word.position);
    fail(word.position, found.empty() ? namesNothing(word, *pattern) : namesSeveral(word, found));
  }

  std::string namesNothing(const Word& word, const kube::ObjectPattern& pattern) const {
    std::vector<std::string_view> names;
    for (const kube::Object& object : objects_) {
      if (object.key.type == pattern.key.type) names.push_back(object.key.name);
    }
    std::string message = kube::inQuotes(word.text) + " names no object in the input";
    if (names.empty()) return message + ", which has no " + kube::toString(pattern.key.type);
    const std::string_view near = kube::nearest(pattern.key.name, names);
    if (!near.empty() && near != pattern.key.name)
      return message + "; did you mean " + std::string(near) + "?";
    return message + "; of this type it has " + kube::listed({names.begin(), names.end()}, kListedCandidates);
  }

  static std::string namesSeveral(const Word& word, const std::vector<const kube::Object*>& found) {
    std::vector<std::string> names;
    names.reserve(found.size());
    for (const kube::Object* object : found) names.push_back(kube::toString(object->key));
    return kube::inQuotes(word.text) + " names " + std::to_string(found.size()) +
           " objects in the input: " + kube::listed(names, kListedCandidates) + "; write the namespace too";
  }

  // --- the real form ---
  void readWorkload(const kube::Value& specValue) {
    kube::Fields spec(specValue, work_.file, "spec", errors_);
    spec.allow({"manifestConfigs", "executor"});  // of these, only ReadOnly changes what is deleted
    readDeleteOption(spec);
    deleteOption_.readOnly = readOnlyObjects(specValue);
    if (std::optional<kube::Fields> workload = spec.fields("workload")) {
      if (const kube::Value* manifests = workload->list("manifests")) {
        for (const kube::Value& manifest : *manifests->asList()) readManifest(manifest);
      }
      workload->finish();
    }
    spec.finish();
  }

  void readDeleteOption(kube::Fields& spec) {
    std::optional<kube::Fields> option = spec.fields("deleteOption");
    if (!option) return;
    option->allow({"ttlSecondsAfterFinished"});  // timeToLiveOf() reads it
    const auto policy = option->oneOf("propagationPolicy", {"Foreground", "Orphan", "SelectivelyOrphan"});
    if (policy) deleteOption_.policy = policyNamed(*policy);
    if (std::optional<kube::Fields> orphans = option->fields("selectivelyOrphans")) {
      for (kube::Fields& rule : orphans->items("orphaningRules")) {
        deleteOption_.orphaningRules.push_back(
            {{rule.string("group").value_or(""), rule.requiredString("resource")},
             rule.string("namespace").value_or(""),
             rule.requiredString("name")});
        rule.finish();
      }
      orphans->finish();
    }
    option->finish();
  }

  void readManifest(const kube::Value& manifest) {
    kube::Result<kube::Object> object = kube::parseObject(manifest, work_.file, types_);
    if (!object) {
      errors_.push_back(std::move(object.error()));
    } else {
      add(*object, manifest.position);
    }
  }

  const kube::Object& work_;
  std::span<const kube::Object> objects_;
  const kube::ResourceMap& types_;
  kube::Errors errors_;
  std::vector<kube::Object> manifests_;
  DeleteOption deleteOption_;
  std::unordered_set<kube::ObjectKey> keys_;
};

kube::Result<void> addTypesOf(const kube::Value& document, std::string_view file, kube::ResourceMap& types) {
  if (isText(document.find("kind"), "List")) {
    const kube::Value* items = document.find("items");
    if (items == nullptr || items->asList() == nullptr) return {};  // parseObjects reports it
    return addEmbeddedTypes(*items->asList(), file, types);
  }
  if (!isText(document.find("kind"), "ManifestWork")) return {};
  const kube::Value* manifests = document.at({"spec", "workload", "manifests"});
  if (manifests == nullptr || manifests->asList() == nullptr) return {};
  for (const kube::Value& manifest : *manifests->asList()) {
    if (!isText(manifest.find("kind"), "CustomResourceDefinition")) continue;
    if (auto added = types.addCrd(manifest, file); !added) return tl::unexpected(std::move(added.error()));
  }
  return {};
}

AppliedResource readResource(kube::Fields& item) {
  AppliedResource resource;
  resource.key.type.group = item.string("group").value_or("");
  resource.key.type.resource = item.requiredString("resource");
  resource.key.namespaceName = item.string("namespace").value_or("");
  resource.key.name = item.requiredString("name");
  resource.uid = item.string("uid").value_or("");
  return resource;
}

}  // namespace

kube::Result<void> addEmbeddedTypes(std::span<const kube::Value> documents, std::string_view file,
                                    kube::ResourceMap& types) {
  for (const kube::Value& document : documents) {
    if (auto added = addTypesOf(document, file, types); !added) return added;
  }
  return {};
}

tl::expected<ManifestWork, kube::Errors> parseWork(const kube::Object& object,
                                                   std::span<const kube::Object> objects,
                                                   const kube::ResourceMap& types) {
  return WorkReader(object, objects, types).read();
}

tl::expected<AppliedManifestWork, kube::Errors> parseApplied(const kube::Object& object) {
  kube::Errors errors;
  AppliedManifestWork applied;
  applied.object = object;
  kube::Fields document(object.content, object.file, "", errors);
  if (std::optional<kube::Fields> spec = document.requiredFields("spec")) {
    applied.manifestWorkName = spec->requiredString("manifestWorkName");
    applied.hubHash = spec->string("hubHash").value_or("");
    applied.agentId = spec->string("agentID").value_or("");
  }
  if (std::optional<kube::Fields> status = document.fields("status")) {
    for (kube::Fields& item : status->items("appliedResources"))
      applied.resources.push_back(readResource(item));
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return applied;
}

DeleteOption deleteOptionOf(const kube::Value& work) {
  DeleteOption option;
  option.policy = policyNamed(kube::textAt(work, {"spec", "deleteOption", "propagationPolicy"}));
  for (const kube::Value& rule :
       kube::listAt(work, {"spec", "deleteOption", "selectivelyOrphans", "orphaningRules"})) {
    option.orphaningRules.push_back(identifiedBy(rule));
  }
  if (const kube::Value* spec = work.find("spec")) option.readOnly = readOnlyObjects(*spec);
  return option;
}

std::vector<kube::ObjectKey> recordedObjects(const kube::Value& applied) {
  std::vector<kube::ObjectKey> objects;
  const kube::Value* list = applied.at({"status", "appliedResources"});
  if (list == nullptr || list->asList() == nullptr) return objects;
  for (const kube::Value& item : *list->asList()) {
    kube::ObjectKey key = identifiedBy(item);
    if (!key.type.resource.empty() && !key.name.empty()) objects.push_back(std::move(key));
  }
  return objects;
}

}  // namespace lastout::manifestwork
