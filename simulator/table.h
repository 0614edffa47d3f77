// The other ways to show objects: their metadata alone (PartialObjectMetadata), and the Table that kubectl
// prints (rest/030 to 032, 042).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "simulator/json.h"
#include "simulator/served_type.h"

namespace lastout::simulator {

Json toPartialMetadata(const Json& object);

// What a row of a table repeats of its object.
enum class IncludeObject { None, Metadata, Object };

// The parameter ?includeObject=; "" means Metadata. Nothing when it is another word.
std::optional<IncludeObject> parseIncludeObject(std::string_view parameter);

struct TableOptions {
  int64_t now = 0;  // seconds since the epoch, for ages
  IncludeObject include = IncludeObject::Metadata;
  bool withColumns = true;  // false: columnDefinitions is null, as in all but the first event of a watch
};

// The columns of a CRD, or those of the built-in type (simulator/builtin_columns.h). `listMetadata`:
// resourceVersion, and continue where there is more.
Json toTable(const ServedType& type, std::span<const Json* const> objects, Json listMetadata,
             const TableOptions& options);
// One object alone; the table has its resourceVersion.
Json toTable(const ServedType& type, const Json& object, const TableOptions& options);

}  // namespace lastout::simulator
