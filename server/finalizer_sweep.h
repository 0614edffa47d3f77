// FinalizerSweep: takes every finalizer of lastout's off the objects of a type, when lastout goes.
#pragma once

#include <cstddef>
#include <string_view>

#include "kube/object.h"
#include "kube/resource_map.h"
#include "server/requests.h"
#include "server/uninstall_report.h"

namespace lastout::server {

// What all of lastout's finalizers begin with, those of other versions, too.
inline constexpr std::string_view kFinalizerDomain = "lastout.dev/";

// One thread at a time.
class FinalizerSweep {
 public:
  // All must outlive it.
  FinalizerSweep(const Requests& requests, UninstallReport& report) : requests_(requests), report_(report) {}

  // Of objects that are being deleted, too: whose last finalizer that was is gone then. The finalizers of
  // others stay, and what comes between a read and the write is not lost.
  void sweep(const kube::ResourceType& type);

  size_t freed() const { return freed_; }  // objects so far; in a dry run, those that would be

 private:
  void free(const kube::ResourceType& type, const std::string& kind, const kube::ObjectMeta& meta);
  Answered<void> write(const std::string& path, kube::ObjectMeta meta) const;

  const Requests& requests_;
  UninstallReport& report_;
  size_t freed_ = 0;
};

}  // namespace lastout::server
