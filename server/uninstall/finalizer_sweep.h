// Finds the objects that carry a finalizer of lastout's when it is uninstalled, and removes these finalizers.
#pragma once

#include <cstddef>
#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "kube/object_key.h"
#include "kube/resource_map.h"
#include "kube/well_known.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/uninstall_report.h"

namespace lastout::server {

// Tells which finalizers of a type's objects are meant.
using FinalizerTest = std::function<bool(const std::string& finalizer)>;
inline bool isInFinalizerDomain(const std::string& finalizer) {
  return finalizer.starts_with(kube::kFinalizerDomain);
}

// Returns the objects of the type that are being deleted and carry such a finalizer: once it is off, and with
// it the last, they are gone.
RequestResult<std::set<kube::ObjectKey>> readWaiting(const ObjectClient& objectClient,
                                                     const kube::ResourceType& type,
                                                     const FinalizerTest& isMeant);

struct SweptFinalizers {
  size_t freed = 0;      // objects; in a dry run, that would be
  bool isWhole = false;  // none is left, as far as is known
};

// Takes such finalizers off all objects of the type, off those that are being deleted, too. The finalizers of
// others stay, and what comes between a read and the write is not lost.
SweptFinalizers sweepFinalizers(const ObjectClient& objectClient, const kube::ResourceType& type,
                                const FinalizerTest& isMeant, UninstallReport& report);

}  // namespace lastout::server
