// What the provider of a CriticalService may have needed that is gone, and so does not tell. A lastout that
// was begun anew knows of it by what the CriticalService remembers alone.
#pragma once

#include <chrono>

#include "admission/cluster_view.h"
#include "client/api_server.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/deferred_deletion.h"
#include "server/watch/live_view.h"

namespace lastout::server {

// It is not there, as far as the view knows; false where that is too little.
bool isKnownToBeGone(const admission::ClusterView& view, const kube::ObjectKey& object);

// Likewise, as the API server says now: the view may lag behind.
bool isGone(client::ApiServer& server, const LiveView& view, const kube::ObjectKey& object,
            std::chrono::milliseconds patience);

}  // namespace lastout::server
