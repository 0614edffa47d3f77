// The other ways to show objects: their metadata alone (PartialObjectMetadata), and the Table that kubectl
// prints (rest/030 to 032, 042).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kube/kubernetes_version.h"
#include "simulator/json.h"
#include "simulator/served_type.h"

namespace lastout::simulator {

Json toPartialMetadata(const Json& object);

// What a row of a table repeats of its object.
enum class IncludeObject { None, Metadata, Object };

// Reads the parameter ?includeObject=; "" means Metadata; nullopt: another word.
std::optional<IncludeObject> parseIncludeObject(std::string_view parameter);

struct TableOptions {
  int64_t now = 0;  // seconds since the epoch, for ages
  IncludeObject include = IncludeObject::Metadata;
  bool withColumns = true;  // false: columnDefinitions is null, as in all but the first event of a watch
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;  // whose descriptions the columns have
};

// The columns of a CRD, or those of the built-in type (simulator/builtin_columns.h). `listMetadata`:
// resourceVersion, and continue where there is more.
Json toTable(const ServedType& type, std::span<const Json* const> objects, Json listMetadata,
             const TableOptions& options);
// One object alone; the table has its resourceVersion.
Json toTable(const ServedType& type, const Json& object, const TableOptions& options);

// --- Ages as kubectl shows them.

// "5s", "3m20s", "47h", "5d", "2y": two units while the first is small, as `kubectl get` has it.
std::string humanDuration(int64_t seconds);

// The time from `timestamp` (RFC 3339) to `now`, in seconds since the epoch: "<unknown>" when it is empty,
// "<invalid>" when it is no time or in the future.
std::string ageOf(std::string_view timestamp, int64_t now);

}  // namespace lastout::simulator
