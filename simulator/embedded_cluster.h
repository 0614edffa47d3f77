// EmbeddedCluster: a cluster in this process: the API, the controllers on a clock of their own, and the
// webhooks that are called.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "kube/kubernetes_version.h"
#include "kube/locks.h"
#include "simulator/admitter.h"
#include "simulator/api.h"
#include "simulator/control_plane.h"
#include "simulator/controllers.h"
#include "simulator/exchange.h"
#include "simulator/recorder.h"
#include "simulator/user.h"
#include "simulator/virtual_clock.h"
#include "simulator/webhook_dispatcher.h"

namespace lastout::simulator {

struct EmbeddedOptions {
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;  // whose rules controllers follow
  cluster::Timing timing;
  double speed = 1;         // of the controllers' time
  uint64_t seed = 1;        // of uids and generated names
  size_t history = 20'000;  // writes of each type that watches and pages can go back; Storage bounds bytes
  std::string authority;    // PEM, for the ConfigMap kube-root-ca.crt
  Users users;
  bool rbac = false;  // the stored roles and bindings say who may do what, beside what `users` says
  CallWebhook callWebhook;
  Recorder* recorder = nullptr;  // of everything, from the beginning; outlives the cluster
  // For timestamps and ages.
  std::function<std::chrono::sys_seconds()> wallClock = [] {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  };
  // What watches go by: their bookmarks and their end.
  std::function<std::chrono::steady_clock::time_point()> stopwatch = std::chrono::steady_clock::now;
};

class EmbeddedCluster {
 public:
  // With the namespaces that every cluster has.
  explicit EmbeddedCluster(EmbeddedOptions options);
  ~EmbeddedCluster();  // as stop()
  EmbeddedCluster(const EmbeddedCluster&) = delete;
  EmbeddedCluster& operator=(const EmbeddedCluster&) = delete;

  // As the user of the request, or whom that one impersonates. Safe for any number of threads.
  ExchangeResponse handle(const ExchangeRequest& request);
  ControlPlane& plane() { return plane_; }
  VirtualClock& clock() { return clock_; }

  // Controllers work by the clock from now on, in a thread of their own.
  void start();
  void stop();
  // Without that thread: lets controllers do what is due until then.
  void runUntil(std::chrono::milliseconds then);

 private:
  void create(const std::string& path, const Json& object);  // as the admin
  ExchangeResponse answer(const ExchangeRequest& request);
  ExchangeResponse recorded(const ExchangeRequest& request, ExchangeResponse response);
  ExchangeResponse handleClock(const ExchangeRequest& request);
  void advance(std::chrono::milliseconds by);
  bool moveOn();
  void work();
  uint64_t version();
  uint64_t random();

  EmbeddedOptions options_;
  kube::Mutex randomMutex_;
  std::mt19937_64 random_ LASTOUT_GUARDED_BY(randomMutex_);
  VirtualClock clock_;
  ControlPlane plane_;
  WebhookDispatcher dispatcher_;
  Admitter admitter_;
  Controllers controllers_;
  Api api_;
  // That the clock is still to be advanced by.
  std::chrono::milliseconds ahead_ LASTOUT_GUARDED_BY(plane_.mutex) = std::chrono::milliseconds(0);
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace lastout::simulator
