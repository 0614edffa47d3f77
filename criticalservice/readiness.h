// Readiness: whether a provider does its work now, by what its own status says.
#pragma once

#include <optional>
#include <string>

#include "kube/object_key.h"
#include "kube/value.h"

namespace lastout::criticalservice {

struct Readiness {
  std::optional<bool> ready;  // nullopt: unknown
  std::string reason;         // one word, of a condition
  std::string message;        // one sentence
  bool isUnreadable = false;  // the object could not be read, for the reason kUnreadable
};

inline constexpr const char* kUnreadable = "ProviderUnreadable";
inline constexpr const char* kNoPodReady = "NoPodReady";  // also where nothing has told its status yet

// By the whole object. Of the built-in types that keep Pods, one ready Pod is enough: whatever leads among
// several replicas, one does the work. Of other types the condition Ready counts, or else Available; an
// object without both is ready when it is there.
Readiness readinessOf(const kube::GroupResource& type, const kube::Value& object);

}  // namespace lastout::criticalservice
