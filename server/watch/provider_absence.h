// Whether the provider of a CriticalService is gone. What a provider needed is then known only from the
// status of the CriticalService, also after a restart of lastout.
#pragma once

#include <chrono>

#include "admission/cluster_view.h"
#include "client/api_server.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/deferred_deletion.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// True if the API server says that the object does not exist: the view may lag behind.
bool isGone(client::ApiServer& server, const LiveView& view, const kube::ObjectKey& object,
            std::chrono::milliseconds patience);

}  // namespace lastout::server
