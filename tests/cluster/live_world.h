// LiveWorld: a LiveCluster for a test, in which objects go by reference and controllers' creations get uids
// at once, as an API server gives them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cluster/live_cluster.h"
#include "kube/reference.h"

namespace lastout::cluster {

inline constexpr char kLiveCrd[] = "customresourcedefinitions.apiextensions.k8s.io/widgets.example.com";
inline constexpr char kLiveWork[] = "manifestworks.work.open-cluster-management.io/hub/provider";
inline constexpr char kLiveApplied[] =
    "appliedmanifestworks.work.open-cluster-management.io/applied-provider";

class LiveWorld {
 public:
  explicit LiveWorld(kube::KubernetesVersion kubernetes = kube::kNewestKubernetes);

  kube::ObjectKey key(std::string_view reference) const;
  std::string nameOf(Slot slot) const;
  Slot slot(std::string_view reference) const;
  // An object with a uid that no other has.
  LiveObject object(std::string_view reference, std::vector<std::string> finalizers = {},
                    const std::vector<std::string>& owners = {});
  Slot create(const LiveObject& object);
  Slot create(std::string_view reference, std::vector<std::string> finalizers = {},
              const std::vector<std::string>& owners = {});
  // The object as it is, with other finalizers.
  void setFinalizers(std::string_view reference, std::vector<std::string> finalizers);
  void setReplicas(std::string_view reference, uint32_t replicas);
  void remove(std::string_view reference, std::optional<PropagationPolicy> policy = {});
  // Does what is due, in order, up to this time or until nothing is.
  void run(std::chrono::milliseconds until = std::chrono::hours(24));
  // The action due first, at its time: with this verdict.
  PlannedAction next(AdmissionOutcome verdict = AdmissionOutcome::Allowed);

  LiveObject asIs(Slot slot) const;
  bool present(std::string_view reference) const;
  bool terminating(std::string_view reference) const;
  std::vector<std::string> left() const;  // what is present, sorted
  std::vector<std::string> log;           // "client gone pods/x/web-0"
  std::chrono::milliseconds now{0};
  LiveCluster cluster;

  void note(const Events& events);  // into the log; gives uids

 private:
  kube::ResourceMap types_;
  uint64_t uids_ = 0;
};

}  // namespace lastout::cluster
