// The metadata that deletion depends on: parseMeta.
#include <algorithm>
#include <chrono>

#include "kube/names.h"
#include "kube/object.h"
#include "kube/quoting.h"
#include "kube/read_meta.h"

namespace lastout::kube {
namespace {

constexpr size_t kMostAnnotationBytes = size_t{256}
                                        << 10;  // keys and values together; the API server's limit

// Digits at [begin, begin + count) as a number; -1 when one of them is none.
int number(std::string_view text, size_t begin, size_t count) {
  int value = 0;
  for (size_t i = begin; i < begin + count; ++i) {
    if (i >= text.size() || text[i] < '0' || text[i] > '9') return -1;
    value = value * 10 + (text[i] - '0');
  }
  return value;
}

// "Z", "+02:00": seconds east of UTC.
std::optional<int64_t> zoneOffset(std::string_view zone) {
  if (zone == "Z" || zone == "z") return 0;
  if (zone.size() != 6 || (zone[0] != '+' && zone[0] != '-') || zone[3] != ':') return std::nullopt;
  const int hours = number(zone, 1, 2);
  const int minutes = number(zone, 4, 2);
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59) return std::nullopt;
  const int64_t seconds = hours * 3600 + minutes * 60;
  return zone[0] == '-' ? -seconds : seconds;
}

// RFC 3339, "2026-11-21T02:46:59Z", into seconds since the epoch; fractions of a second are dropped.
std::optional<int64_t> parseTime(std::string_view text) {
  constexpr std::string_view kForm = "0000-00-00T00:00:00";
  if (text.size() <= kForm.size()) return std::nullopt;
  for (const size_t i : {4, 7, 10, 13, 16}) {
    if (text[i] != kForm[i] && !(i == 10 && text[i] == 't')) return std::nullopt;
  }
  const std::chrono::year_month_day date(std::chrono::year(number(text, 0, 4)),
                                         std::chrono::month(static_cast<unsigned>(number(text, 5, 2))),
                                         std::chrono::day(static_cast<unsigned>(number(text, 8, 2))));
  const int hour = number(text, 11, 2);
  const int minute = number(text, 14, 2);
  const int second = number(text, 17, 2);
  if (number(text, 0, 4) < 0 || !date.ok()) return std::nullopt;
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60) return std::nullopt;
  std::string_view rest = text.substr(kForm.size());
  if (rest.front() == '.') {
    const size_t end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end == 1) return std::nullopt;
    rest.remove_prefix(end);
  }
  const auto zone = zoneOffset(rest);
  if (!zone) return std::nullopt;
  const int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return days * 86400 + hour * 3600 + minute * 60 + second - *zone;
}

void checkName(Fields& metadata, std::string_view key, const std::string& name, const GroupResource& type) {
  if (name.empty()) return;
  if (const auto problem = nameProblem(type, name)) {
    metadata.fail(key, metadata.pathOf(key) + " " + inQuotes(name) + " " + *problem);
  }
}

std::optional<int64_t> readTime(Fields& metadata, std::string_view key) {
  const auto text = metadata.string(key);
  if (!text) return std::nullopt;
  const auto time = parseTime(*text);
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

std::vector<OwnerReference> readOwners(Fields& metadata) {
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
    item.finish();
    if (owner.controller && ++controllers == 2)
      item.fail("controller", item.path() + " is a second owner with controller: true");
    owners.push_back(std::move(owner));
  }
  return owners;
}

}  // namespace

ObjectMeta readMeta(Fields& metadata) {
  static const GroupResource kNamespaces{"", "namespaces"};
  static const GroupResource kAnySegment{"rbac.authorization.k8s.io", "roles"};
  ObjectMeta meta;
  meta.name = metadata.string("name").value_or("");
  checkName(metadata, "name", meta.name, kAnySegment);
  meta.namespaceName = metadata.string("namespace").value_or("");
  checkName(metadata, "namespace", meta.namespaceName, kNamespaces);
  meta.uid = metadata.string("uid").value_or("");
  meta.resourceVersion = metadata.string("resourceVersion").value_or("");
  meta.deletionTimestamp = readTime(metadata, "deletionTimestamp");
  meta.deletionGracePeriodSeconds = metadata.integer("deletionGracePeriodSeconds", 0);
  meta.generation = metadata.integer("generation", 0).value_or(0);
  meta.finalizers = metadata.strings("finalizers");
  checkFinalizers(metadata, meta.finalizers);
  meta.ownerReferences = readOwners(metadata);
  meta.labels = metadata.stringMap("labels");
  checkLabels(metadata, meta.labels);
  meta.annotations = metadata.stringMap("annotations");
  checkAnnotations(metadata, meta.annotations);
  return meta;
}

Result<ObjectMeta> parseMeta(const Value& metadata, std::string_view file) {
  Errors errors;
  Fields fields(metadata, file, "metadata", errors);
  ObjectMeta meta = readMeta(fields);
  if (!errors.empty()) return tl::unexpected(std::move(errors.front()));
  return meta;
}

}  // namespace lastout::kube
