// What uninstalling leaves, and how to remove it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "server/runtime/object_client.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// How many there are; nullopt: they could not be read.
struct LeftObjects {
  std::optional<size_t> services;  // CriticalServices
  std::optional<size_t> policies;  // DeletionPolicies
};

// Tells what is left of a lastout in that namespace, and the commands that remove it.
void tellWhatIsLeft(const ObjectClient& objectClient, const std::string& namespaceName,
                    const LeftObjects& left, UninstallReport& report);

}  // namespace lastout::server
