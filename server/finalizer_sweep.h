// What AppliedManifestWorks and providers say that matters when lastout goes: which of them wait for it; and
// how every finalizer of lastout's is taken off them.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>

#include "kube/resource_map.h"
#include "server/requests.h"
#include "server/uninstall_report.h"

namespace lastout::server {

// What all of lastout's finalizers begin with, those of other versions, too.
inline constexpr std::string_view kFinalizerDomain = "lastout.dev/";

// Those of the type that are being deleted and have a finalizer of lastout's: once it is off, and with it the
// last, they are gone. By their names; in a namespace, as "deployments.apps/n/x".
Answered<std::set<std::string>> readWaiting(const Requests& requests, const kube::ResourceType& type);

// Of objects that are being deleted, too. The finalizers of others stay, and what comes between a read and
// the write is not lost. How many were freed; in a dry run, would be.
size_t sweepFinalizers(const Requests& requests, const kube::ResourceType& type, UninstallReport& report);

}  // namespace lastout::server
