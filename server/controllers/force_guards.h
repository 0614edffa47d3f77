// ForceGuards: whether API servers check who forces the deletion of what policies hold
// (protection/force_guard.h): without that the annotations count for nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "protection/policy.h"
#include "server/runtime/object_client.h"

namespace lastout::server {

// One thread at a time.
class ForceGuards {
 public:
  // `client` must outlive it.
  explicit ForceGuards(const ObjectClient& client) : client_(client) {}

  // Asks the API server whether the policy's guard and its binding stand as they were made. Returns why force
  // and confirmation do not count, and what to do; empty: they count, or the policy does not require that.
  std::string problemOf(const protection::DeletionPolicy& policy) const;

 private:
  std::string problemOf(const nlohmann::ordered_json& made) const;

  const ObjectClient& client_;
};

}  // namespace lastout::server
