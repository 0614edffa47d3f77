// Kept works (admission/kept_work.h), as a view of the cluster shows them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "admission/cluster_view.h"
#include "admission/kept_work.h"
#include "criticalservice/put_off.h"

namespace lastout::server {

// An object, and which one of that name.
struct VeryObject {
  kube::ObjectKey key;
  std::string uid;
};

// An AppliedManifestWork that is to begin or to cease to carry lastout's finalizer.
struct KeptWorkChange {
  std::string name;
  std::string uid;
  admission::Keeping keeping = admission::Keeping::AsItIs;
  // It is let go although this is there, which nobody seems to have deleted. The view may lag behind.
  std::optional<VeryObject> forsaken = std::nullopt;
};

struct KeptWorks {
  std::vector<KeptWorkChange> changes;
  uint32_t kept = 0;  // that carry the finalizer
};

// `ownNamespace`: lastout's own; empty: it runs outside the cluster. `keepsNone`: none is to be kept.
KeptWorks keptWorksIn(const admission::ClusterView& view, const std::string& ownNamespace, bool keepsNone);

// A deletion that is lastout's to carry out although no CriticalService remembers it: the agent of the work
// that owns the object is done, which has asked for it once, and only lastout keeps the work.
struct LeftBehind {
  std::string work;  // the AppliedManifestWork's name
  std::string workUid;
  criticalservice::PutOff deletion;
};

std::vector<LeftBehind> leftBehindIn(const admission::ClusterView& view);

}  // namespace lastout::server
