#include "admission/scaling.h"

#include <optional>
#include <string>

#include "kube/value.h"

namespace lastout::admission {
namespace {

std::optional<int64_t> replicasOf(const kube::Value& object) {
  const kube::Value* replicas = object.at({"spec", "replicas"});
  if (replicas != nullptr && replicas->asInteger() != nullptr) return *replicas->asInteger();
  return kube::textAt(object, {"kind"}) == "Scale" ? std::optional<int64_t>(0) : std::nullopt;
}

}  // namespace

bool scalesToZero(const kube::Value& before, const kube::Value& after) {
  return replicasOf(after) == 0 && replicasOf(before) != 0;
}

}  // namespace lastout::admission
