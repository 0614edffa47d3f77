#include "simulator/table.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kube/timestamp.h"
#include "kube/well_known.h"
#include "simulator/builtin_columns.h"
#include "simulator/json_path.h"

namespace lastout::simulator {
namespace {

// The words of every table's first column (rest/031).
constexpr std::string_view kNameDescription =
    "Name must be unique within a namespace. Is required when creating resources, although some resources "
    "may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for "
    "creation "
    "idempotence and configuration definition. Cannot be updated. More info: ";

std::string nameDescription(kube::KubernetesVersion kubernetes) {
  return std::string(kNameDescription) +
         (kube::linksToConcepts(kubernetes)
              ? "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
              : "http://kubernetes.io/docs/user-guide/identifiers#names");
}

Json definition(std::string_view name, std::string_view type, std::string_view format,
                std::string_view description, int priority) {
  return {{"name", name},
          {"type", type},
          {"format", format},
          {"description", description},
          {"priority", priority}};
}

std::vector<kube::PrinterColumn> columnsOf(const ServedType& type) {
  if (!type.columns.empty()) return type.columns;
  return {{"Age", "date", "", "How long ago the object was created.", 0, ".metadata.creationTimestamp"}};
}

// A value as the column's type wants it; null when it is of another type.
Json cellOf(const kube::PrinterColumn& column, const Json& value, int64_t now) {
  if (column.type == "string") {
    if (value.is_null() || value.is_string()) return value;
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  if (column.type == "integer") {
    if (value.is_number_float()) {
      const auto number = value.get<double>();
      if (!(number > -9e15 && number < 9e15)) return nullptr;
      return static_cast<int64_t>(number);
    }
    return value.is_number() ? value : Json(nullptr);
  }
  if (column.type == "number") return value.is_number() ? value : Json(nullptr);
  if (column.type == "boolean") return value.is_boolean() ? value : Json(nullptr);
  if (column.type == "date" && value.is_string()) return ageOf(value.get_ref<const std::string&>(), now);
  return nullptr;
}

struct Columns {
  Json definitions = Json::array();
  std::vector<kube::PrinterColumn> custom;   // of a CRD, after the name
  std::span<const BuiltInColumn> builtIn{};  // else: all columns
};

Columns columnsFor(const ServedType& type, kube::KubernetesVersion kubernetes) {
  const std::string name = nameDescription(kubernetes);
  Columns columns;
  if (type.builtIn) {
    columns.builtIn = builtInColumns(type.type);
    for (const BuiltInColumn& column : columns.builtIn) {
      const bool isName = column.name == "Name";
      columns.definitions.push_back(definition(column.name, column.type, isName ? "name" : "",
                                               isName ? name : std::string(column.description),
                                               column.isWide ? 1 : 0));
    }
    return columns;
  }
  columns.custom = columnsOf(type);
  columns.definitions.push_back(definition("Name", "string", "name", name, 0));
  for (const kube::PrinterColumn& column : columns.custom) {
    const std::string source = "Custom resource definition column (in JSONPath format): " + column.jsonPath;
    columns.definitions.push_back(definition(column.name, column.type, column.format,
                                             column.description.empty() ? source : column.description,
                                             column.priority));
  }
  return columns;
}

Json cellsOf(const Columns& columns, const Json& object, int64_t now) {
  Json cells = Json::array();
  for (const BuiltInColumn& column : columns.builtIn) cells.push_back(column.cell(object, now));
  if (!columns.builtIn.empty()) return cells;
  cells.push_back(stringAt(object, {"metadata", "name"}));
  for (const kube::PrinterColumn& column : columns.custom) {
    const auto values = valuesAt(object, column.jsonPath);
    cells.push_back(values.empty() ? Json(nullptr) : cellOf(column, *values.front(), now));
  }
  return cells;
}

Json included(const Json& object, IncludeObject include) {
  switch (include) {
    case IncludeObject::None:
      return nullptr;
    case IncludeObject::Metadata:
      return toPartialMetadata(object);
    case IncludeObject::Object:
      return object;
  }
  return nullptr;
}

}  // namespace

Json toPartialMetadata(const Json& object) {
  Json partial = {{"kind", "PartialObjectMetadata"}, {"apiVersion", kube::kMetaApiVersion}};
  const Json* metadata = at(object, {"metadata"});
  partial["metadata"] = metadata == nullptr ? Json::object() : *metadata;
  return partial;
}

std::optional<IncludeObject> parseIncludeObject(std::string_view parameter) {
  if (parameter == "None") return IncludeObject::None;
  if (parameter == "Metadata" || parameter.empty()) return IncludeObject::Metadata;
  if (parameter == "Object") return IncludeObject::Object;
  return std::nullopt;
}

Json toTable(const ServedType& type, std::span<const Json* const> objects, Json listMetadata,
             const TableOptions& options) {
  Columns columns = columnsFor(type, options.kubernetes);
  Json rows = Json::array();
  for (const Json* object : objects) {
    Json row = Json::object();
    row["cells"] = cellsOf(columns, *object, options.now);
    row["object"] = included(*object, options.include);
    rows.push_back(std::move(row));
  }
  Json table = {{"kind", "Table"}, {"apiVersion", kube::kMetaApiVersion}};
  table["metadata"] = std::move(listMetadata);
  table["columnDefinitions"] = options.withColumns ? std::move(columns.definitions) : Json(nullptr);
  table["rows"] = std::move(rows);
  return table;
}

Json toTable(const ServedType& type, const Json& object, const TableOptions& options) {
  const Json* one = &object;
  Json metadata = {{"resourceVersion", stringAt(object, {"metadata", "resourceVersion"})}};
  return toTable(type, std::span(&one, 1), std::move(metadata), options);
}

namespace {

constexpr int64_t kMinute = 60;
constexpr int64_t kHour = 60 * kMinute;
constexpr int64_t kDay = 24 * kHour;
constexpr int64_t kYear = 365 * kDay;

// How long an age is told in which units: up to `below` in `unit`, with the rest in `smaller` unless that is
// 0.
struct AgeUnits {
  int64_t below;
  int64_t unit;
  char name;
  int64_t smaller;
  char smallerName;
};

constexpr AgeUnits kAgeUnits[] = {
    {2 * kMinute, 1, 's', 0, ' '},     {10 * kMinute, kMinute, 'm', 1, 's'},
    {3 * kHour, kMinute, 'm', 0, ' '}, {8 * kHour, kHour, 'h', kMinute, 'm'},
    {2 * kDay, kHour, 'h', 0, ' '},    {8 * kDay, kDay, 'd', kHour, 'h'},
    {2 * kYear, kDay, 'd', 0, ' '},    {8 * kYear, kYear, 'y', kDay, 'd'},
};

}  // namespace

std::string humanDuration(int64_t seconds) {
  if (seconds < -1) return "<invalid>";
  if (seconds < 0) return "0s";
  for (const AgeUnits& units : kAgeUnits) {
    if (seconds >= units.below) continue;
    std::string text = std::to_string(seconds / units.unit) + units.name;
    const int64_t rest = units.smaller == 0 ? 0 : seconds % units.unit / units.smaller;
    return rest == 0 ? text : text + std::to_string(rest) + units.smallerName;
  }
  return std::to_string(seconds / kYear) + "y";
}

std::string ageOf(std::string_view timestamp, int64_t now) {
  if (timestamp.empty()) return "<unknown>";
  const auto time = kube::parseTimestamp(timestamp);
  return time ? humanDuration(now - *time) : "<invalid>";
}

}  // namespace lastout::simulator
