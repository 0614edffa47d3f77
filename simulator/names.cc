#include "simulator/names.h"

#include <algorithm>
#include <array>
#include <set>

#include "cluster/model.h"
#include "kube/names.h"
#include "kube/well_known.h"
#include "simulator/field_error.h"

namespace lastout::simulator {
namespace {

constexpr size_t kMostAnnotationBytes = size_t{256} << 10;  // keys and values together
constexpr size_t kLongestMessageBody = 500;                 // bytes of a body that a message repeats

// What a field of metadata holds.
enum class MetadataFieldKind { Text, Number, Texts, TextMap, Owners };

constexpr std::array<std::pair<std::string_view, MetadataFieldKind>, 14> kMetadataFieldKinds = {{
    {"annotations", MetadataFieldKind::TextMap},
    {"creationTimestamp", MetadataFieldKind::Text},
    {"deletionGracePeriodSeconds", MetadataFieldKind::Number},
    {"deletionTimestamp", MetadataFieldKind::Text},
    {"finalizers", MetadataFieldKind::Texts},
    {"generateName", MetadataFieldKind::Text},
    {"generation", MetadataFieldKind::Number},
    {"labels", MetadataFieldKind::TextMap},
    {"name", MetadataFieldKind::Text},
    {"namespace", MetadataFieldKind::Text},
    {"ownerReferences", MetadataFieldKind::Owners},
    {"resourceVersion", MetadataFieldKind::Text},
    {"selfLink", MetadataFieldKind::Text},
    {"uid", MetadataFieldKind::Text},
}};

std::string_view goType(MetadataFieldKind form) {
  switch (form) {
    case MetadataFieldKind::Text:
      return "string";
    case MetadataFieldKind::Number:
      return "int64";
    case MetadataFieldKind::Texts:
      return "[]string";
    case MetadataFieldKind::TextMap:
      return "map[string]string";
    case MetadataFieldKind::Owners:
      return "[]v1.OwnerReference";
  }
  return "";
}

struct Mismatch {
  std::string_view found;
  std::string_view wanted;
};

std::optional<Mismatch> mismatchOfItems(const Json& list) {
  for (const Json& item : list) {
    if (!item.is_string() && !item.is_null()) return Mismatch{goKind(item), "string"};
  }
  return std::nullopt;
}

std::optional<Mismatch> mismatchOfOwners(const Json& owners) {
  for (const Json& owner : owners) {
    if (!owner.is_object()) return Mismatch{goKind(owner), "v1.OwnerReference"};
    for (const auto& [key, value] : owner.items()) {
      const bool isFlag = key == "controller" || key == "blockOwnerDeletion";
      const bool isText = key == "apiVersion" || key == "kind" || key == "name" || key == "uid";
      if (isFlag && !value.is_boolean() && !value.is_null()) return Mismatch{goKind(value), "bool"};
      if (isText && !value.is_string()) return Mismatch{goKind(value), "string"};
    }
  }
  return std::nullopt;
}

// null stands for an absent field everywhere.
std::optional<Mismatch> mismatch(const Json& value, MetadataFieldKind form) {
  if (value.is_null()) return std::nullopt;
  const Mismatch wrong{goKind(value), goType(form)};
  switch (form) {
    case MetadataFieldKind::Text:
      return value.is_string() ? std::nullopt : std::optional(wrong);
    case MetadataFieldKind::Number:
      return value.is_number_integer() ? std::nullopt : std::optional(wrong);
    case MetadataFieldKind::Texts:
      return value.is_array() ? mismatchOfItems(value) : wrong;
    case MetadataFieldKind::TextMap:
      return value.is_object() ? mismatchOfItems(value) : wrong;
    case MetadataFieldKind::Owners:
      return value.is_array() ? mismatchOfOwners(value) : wrong;
  }
  return std::nullopt;
}

ApiResult<void> checkForm(const ServedType& type, const Json& metadata) {
  const auto fail = [&type](const Mismatch& wrong, const std::string& field) {
    return tl::unexpected(
        undecodable(type.kind, type.version, wrong.found, "ObjectMeta." + field, wrong.wanted));
  };
  if (!metadata.is_object()) return fail({goKind(metadata), "v1.ObjectMeta"}, "metadata");
  for (const auto& [key, form] : kMetadataFieldKinds) {
    const auto found = metadata.find(key);
    if (found == metadata.end()) continue;
    if (const auto wrong = mismatch(*found, form)) return fail(*wrong, "metadata." + std::string(key));
  }
  return {};
}

ApiError missingInBody(const ServedType& type, std::string_view what, const Json& object) {
  std::string body = object.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (body.size() > kLongestMessageBody) body = body.substr(0, kLongestMessageBody) + "...";
  return badRequest("the object provided is unrecognized (must be of type " + type.kind + "): Object '" +
                    std::string(what) + "' is missing in '" + body + "'");
}

ApiResult<void> matchKind(const ServedType& type, Json& object) {
  if (!object.is_object()) return tl::unexpected(missingInBody(type, "Kind", object));
  const std::string kind(stringAt(object, {"kind"}));
  const std::string apiVersion(stringAt(object, {"apiVersion"}));
  if (!type.builtIn && kind.empty()) return tl::unexpected(missingInBody(type, "Kind", object));
  if (!type.builtIn && apiVersion.empty()) return tl::unexpected(missingInBody(type, "apiVersion", object));
  if (!apiVersion.empty() && apiVersion != type.apiVersion()) {
    return tl::unexpected(badRequest("the API version in the data (" + apiVersion +
                                     ") does not match the expected API version (" + type.apiVersion() +
                                     ")"));
  }
  if (!kind.empty() && kind != type.kind) {
    const std::string name(stringAt(object, {"metadata", "name"}));
    if (!type.builtIn) {
      return tl::unexpected(
          invalid(kind, type.type.group, name, {invalidField("kind", kind, "must be " + type.kind)}));
    }
    const std::string package =
        type.type.group.empty() ? "core" : type.type.group.substr(0, type.type.group.find('.'));
    return tl::unexpected(badRequest(kind + " in version \"" + type.version + "\" cannot be handled as a " +
                                     type.kind + ": converting (" + type.version + "." + kind + ") to (" +
                                     package + "." + type.kind + "): unknown conversion"));
  }
  object["apiVersion"] = type.apiVersion();
  object["kind"] = type.kind;
  return {};
}

using Causes = std::vector<StatusCause>;

void addAll(Causes& causes, const std::string& field, std::string_view value,
            const std::vector<std::string>& problems) {
  for (const std::string& problem : problems) causes.push_back(invalidField(field, value, problem));
}

void checkNames(const ServedType& type, const Json& metadata, bool named, Causes& causes) {
  const std::string_view name = stringAt(metadata, {"name"});
  std::string_view generateName = stringAt(metadata, {"generateName"});
  if (!generateName.empty()) {
    std::string example(generateName);  // a dash may end it: the name goes on
    if (example.back() == '-') example.back() = 'a';
    addAll(causes, "metadata.generateName", generateName, nameProblems(type, example));
  }
  if (name.empty()) {
    if (named || generateName.empty())
      causes.push_back(requiredField("metadata.name", "name or generateName is required"));
    return;
  }
  addAll(causes, "metadata.name", name, nameProblems(type, name));
}

void checkLabels(const Json& metadata, Causes& causes) {
  if (const Json* labels = at(metadata, {"labels"})) addLabelProblems("metadata.labels", *labels, causes);
}

void checkAnnotations(const Json& metadata, Causes& causes) {
  const Json* annotations = at(metadata, {"annotations"});
  if (annotations == nullptr || !annotations->is_object()) return;
  size_t bytes = 0;
  for (const auto& [key, value] : annotations->items()) {
    bytes += key.size() + (value.is_string() ? value.get_ref<const std::string&>().size() : 0);
    addAll(causes, "metadata.annotations", key, qualifiedNameProblems(kube::lowerCase(key)));
  }
  if (bytes > kMostAnnotationBytes) {
    causes.push_back(tooLong("metadata.annotations",
                             "must have at most " + std::to_string(kMostAnnotationBytes) + " bytes"));
  }
}

// Built-in types want a domain before names that are not Kubernetes' own.
bool needsDomain(const ServedType& type, std::string_view finalizer) {
  if (!type.builtIn || finalizer.find('/') != std::string_view::npos) return false;
  return finalizer != kube::kNamespaceSpecFinalizer && finalizer != kube::kOrphanFinalizer &&
         finalizer != kube::kForegroundFinalizer;
}

void checkFinalizers(const ServedType& type, const Json& metadata, Causes& causes) {
  const Json* finalizers = at(metadata, {"finalizers"});
  if (finalizers == nullptr || !finalizers->is_array()) return;
  bool orphan = false;
  bool foreground = false;
  for (size_t i = 0; i < finalizers->size(); ++i) {
    if (!(*finalizers)[i].is_string()) continue;
    const auto& finalizer = (*finalizers)[i].get_ref<const std::string&>();
    orphan = orphan || finalizer == kube::kOrphanFinalizer;
    foreground = foreground || finalizer == kube::kForegroundFinalizer;
    addAll(causes, "metadata.finalizers", finalizer, qualifiedNameProblems(finalizer));
    if (needsDomain(type, finalizer)) {
      causes.push_back(invalidField("metadata.finalizers[" + std::to_string(i) + "]", finalizer,
                                    "name is neither a standard finalizer name nor is it fully qualified"));
    }
  }
  if (orphan && foreground) {
    causes.push_back(invalidField("metadata.finalizers", *finalizers,
                                  "finalizer orphan and foregroundDeletion cannot be both set"));
  }
}

void checkOwner(const Json& owner, Causes& causes) {
  const auto check = [&](const char* key, std::string_view value, const char* why) {
    if (value.empty()) {
      causes.push_back(
          invalidField(std::string("metadata.ownerReferences.") + key, stringAt(owner, {key}), why));
    }
  };
  const std::string_view apiVersion = stringAt(owner, {"apiVersion"});
  check("apiVersion", apiVersion.substr(apiVersion.find('/') + 1), "version must not be empty");
  for (const auto& [key, why] :
       {std::pair("kind", "kind must not be empty"), std::pair("name", "name must not be empty"),
        std::pair("uid", "uid must not be empty")}) {
    check(key, stringAt(owner, {key}), why);
  }
  if (apiVersion == "v1" && stringAt(owner, {"kind"}) == "Event") {
    causes.push_back(
        invalidField("metadata.ownerReferences", owner, "/v1, Kind=Event is disallowed from being an owner"));
  }
}

void checkOwners(const Json& metadata, Causes& causes) {
  const Json* owners = at(metadata, {"ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  std::string controller;
  for (const Json& owner : *owners) {
    checkOwner(owner, causes);
    const Json* controls = at(owner, {"controller"});
    if (controls == nullptr || *controls != true) continue;
    std::string name = std::string(stringAt(owner, {"kind"})) + "/" + std::string(stringAt(owner, {"name"}));
    if (!controller.empty()) {
      causes.push_back(
          invalidField("metadata.ownerReferences", *owners,
                       "Only one reference can have Controller set to true. Found \"true\" in references "
                       "for " +
                           controller + " and " + name));
    } else {
      controller = std::move(name);
    }
  }
}

// What the machine refuses at its commit, refused before anybody walks through all of it.
void checkCounts(const ServedType& type, const Json& metadata, Causes& causes) {
  const auto refuse = [&](size_t most, const char* what) {
    const kube::ObjectKey key{type.type, std::string(stringAt(metadata, {"namespace"})),
                              std::string(stringAt(metadata, {"name"}))};
    causes.push_back({"FieldValueInvalid",
                      kube::toString(key) + " has more than " + std::to_string(most) + " " + what, ""});
  };
  const auto distinct = [&metadata](const char* list, auto textOf) {
    std::set<std::string_view> texts;
    if (const Json* items = at(metadata, {list}); items != nullptr && items->is_array())
      for (const Json& item : *items) texts.insert(textOf(item));
    return texts;
  };
  std::set<std::string_view> finalizers =
      distinct("finalizers", [](const Json& item) { return stringAt(item, {}); });
  finalizers.erase(std::string(kube::kForegroundFinalizer));
  finalizers.erase(std::string(kube::kOrphanFinalizer));
  const auto owners = distinct("ownerReferences", [](const Json& item) { return stringAt(item, {"uid"}); });
  if (finalizers.size() > cluster::kMaxFinalizers) refuse(cluster::kMaxFinalizers, "finalizers");
  if (owners.size() > cluster::kMaxOwners) refuse(cluster::kMaxOwners, "owners");
}

ApiResult<void> matchNames(const ServedType& type, const RequestTarget& target, Json& metadata) {
  const std::string name(stringAt(metadata, {"name"}));
  const std::string space(type.namespaced ? stringAt(metadata, {"namespace"}) : "");
  const std::string wanted(target.name);
  const std::string wantedSpace(target.namespaceName);
  if (!wanted.empty() && name.empty()) {
    return tl::unexpected(badRequest("the name of the object (" + wanted +
                                     " based on URL) was undeterminable: name must be provided"));
  }
  if (!wanted.empty() && name != wanted) {
    return tl::unexpected(badRequest("the name of the object (" + name +
                                     ") does not match the name on the URL (" + wanted + ")"));
  }
  if (!space.empty() && space != wantedSpace) {
    return tl::unexpected(badRequest(
        wanted.empty()
            ? "the namespace of the provided object does not match the namespace sent on the request"
            : "the namespace of the object (" + space + ") does not match the namespace on the request (" +
                  wantedSpace + ")"));
  }
  if (type.namespaced) metadata["namespace"] = wantedSpace;
  if (!type.namespaced) metadata.erase("namespace");
  return {};
}

}  // namespace

ApiResult<void> matchTarget(const ServedType& type, const RequestTarget& target, Json& object) {
  if (auto matched = matchKind(type, object); !matched) return matched;
  Json& metadata = object["metadata"];
  if (metadata.is_null()) metadata = Json::object();
  if (auto formed = checkForm(type, metadata); !formed) return formed;
  return matchNames(type, target, metadata);
}

std::string_view givenVersion(const Json& object) {
  const std::string_view version = stringAt(object, {"metadata", "resourceVersion"});
  return version == "0" ? std::string_view() : version;
}

ApiResult<void> refuseResourceVersion(const Json& object) {
  if (givenVersion(object).empty()) return {};
  return tl::unexpected(
      ApiError{500, "", "resourceVersion should not be set on objects to be created", nullptr});
}

std::vector<StatusCause> metadataProblems(const ServedType& type, const Json& object, bool named) {
  Causes causes;
  const Json none = Json::object();
  const Json* found = at(object, {"metadata"});
  const Json& metadata = found == nullptr ? none : *found;
  checkCounts(type, metadata, causes);
  if (!causes.empty()) return causes;
  checkNames(type, metadata, named, causes);
  checkLabels(metadata, causes);
  checkAnnotations(metadata, causes);
  checkFinalizers(type, metadata, causes);
  checkOwners(metadata, causes);
  return causes;
}

}  // namespace lastout::simulator
