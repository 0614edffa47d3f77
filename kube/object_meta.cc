// The metadata that deletion depends on: parseMeta.
#include <algorithm>

#include "kube/helm_template.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/object.h"
#include "kube/read_meta.h"
#include "kube/timestamp.h"
#include "kube/well_known.h"

namespace lastout::kube {
namespace {

constexpr size_t kMostAnnotationBytes = size_t{256}
                                        << 10;  // keys and values together; the API server's limit

void checkName(Fields& metadata, std::string_view key, const std::string& name, const GroupResource& type) {
  if (name.empty()) return;
  // An object with a uid has been in a cluster, where Roles may be called so.
  if (name.find("{{") != std::string::npos && !metadata.has("uid")) {
    metadata.fail(key, metadata.pathOf(key) + " " + inQuotes(name) + ": " + std::string(kRenderFirst));
  } else if (const auto problem = nameProblem(type, name)) {
    metadata.fail(key, metadata.pathOf(key) + " " + inQuotes(name) + " " + *problem);
  }
}

std::optional<int64_t> readTime(Fields& metadata, std::string_view key) {
  const auto text = metadata.string(key);
  if (!text) return std::nullopt;
  const auto time = parseTimestamp(*text);
  if (!time)
    metadata.fail(key,
                  metadata.pathOf(key) + " " + inQuotes(*text) + " is no time such as 2026-11-21T02:46:59Z");
  return time;
}

void checkFinalizers(Fields& metadata, const std::vector<std::string>& finalizers) {
  for (const std::string& finalizer : finalizers) {
    if (isQualifiedName(finalizer)) continue;
    metadata.fail("finalizers",
                  "metadata.finalizers: " + inQuotes(finalizer) +
                      " is no finalizer's name: that is [domain/]name, as in example.com/cleanup");
  }
}

void checkLabels(Fields& metadata, const Labels& labels) {
  for (const auto& [key, value] : labels) {
    if (!isQualifiedName(key)) {
      metadata.fail("labels",
                    "metadata.labels: " + inQuotes(key) + " is no label's name: that is [domain/]name");
    } else if (!isLabelValue(value)) {
      metadata.fail("labels", "metadata.labels: " + inQuotes(value) +
                                  " is no value of a label: that is at most 63 letters, "
                                  "digits, \"-\", \"_\" and \".\", a letter or digit first and last");
    }
  }
}

void checkAnnotations(Fields& metadata, const Labels& annotations) {
  size_t bytes = 0;
  for (const auto& [key, value] : annotations) {
    bytes += key.size() + value.size();
    if (isQualifiedName(lowerCase(key))) continue;
    metadata.fail("annotations", "metadata.annotations: " + inQuotes(key) +
                                     " is no annotation's name: that is [domain/]name");
  }
  if (bytes > kMostAnnotationBytes)
    metadata.fail("annotations", "metadata.annotations have more than 256 KiB");
}

std::vector<OwnerReference> readOwners(Fields& metadata, MetaSource source) {
  std::vector<OwnerReference> owners;
  size_t controllers = 0;
  for (Fields& item : metadata.items("ownerReferences")) {
    OwnerReference owner;
    owner.apiVersion = item.requiredString("apiVersion");
    owner.kind = item.requiredString("kind");
    owner.name = item.requiredString("name");
    owner.uid = item.string("uid").value_or("");
    owner.controller = item.boolean("controller").value_or(false);
    owner.blockOwnerDeletion = item.boolean("blockOwnerDeletion").value_or(false);
    owners.push_back(std::move(owner));
    if (source == MetaSource::Server) continue;
    item.finish();
    if (owners.back().controller && ++controllers == 2)
      item.fail("controller", item.path() + " is a second owner with controller: true");
  }
  return owners;
}

void check(Fields& metadata, const ObjectMeta& meta) {
  checkName(metadata, "name", meta.name, kRoles);  // the least that any type wants
  checkName(metadata, "namespace", meta.namespaceName, kNamespaces);
  checkFinalizers(metadata, meta.finalizers);
  checkLabels(metadata, meta.labels);
  checkAnnotations(metadata, meta.annotations);
}

}  // namespace

ObjectMeta readMeta(Fields& metadata, MetaSource source) {
  ObjectMeta meta;
  meta.name = metadata.string("name").value_or("");
  meta.namespaceName = metadata.string("namespace").value_or("");
  meta.uid = metadata.string("uid").value_or("");
  meta.resourceVersion = metadata.string("resourceVersion").value_or("");
  meta.deletionTimestamp = readTime(metadata, "deletionTimestamp");
  meta.deletionGracePeriodSeconds = metadata.integer("deletionGracePeriodSeconds", 0);
  meta.generation = metadata.integer("generation", 0).value_or(0);
  meta.finalizers = metadata.strings("finalizers");
  meta.ownerReferences = readOwners(metadata, source);
  meta.labels = metadata.stringMap("labels");
  meta.annotations = metadata.stringMap("annotations");
  if (source == MetaSource::Manifest) check(metadata, meta);
  return meta;
}

Result<ObjectMeta> parseMeta(const Value& metadata, std::string_view file) {
  Errors errors;
  Fields fields(metadata, file, "metadata", errors);
  ObjectMeta meta = readMeta(fields, MetaSource::Server);
  if (!errors.empty()) return tl::unexpected(std::move(errors.front()));
  return meta;
}

}  // namespace lastout::kube
