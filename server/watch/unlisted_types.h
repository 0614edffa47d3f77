// UnlistedTypes: when to find out again what is served, while types are not that may be.
#pragma once

#include <vector>

#include "client/backoff.h"
#include "client/reflector.h"
#include "kube/object_key.h"

namespace lastout::server {

// One thread at a time.
class UnlistedTypes {
 public:
  explicit UnlistedTypes(client::Backoff backoff) : backoff_(std::move(backoff)) {}

  // Whether to ask at `now`, when these types are awaited: at once for others than before, and less and less
  // often for the same.
  bool isDue(const std::vector<kube::GroupResource>& types, client::TimePoint now);
  // When isDue() is to be asked again; TimePoint::max(): no type is awaited.
  client::TimePoint dueAt() const { return types_.empty() ? client::TimePoint::max() : notBefore_; }
  // A CRD has changed: they may be there soon.
  void reset() { types_.clear(); }

 private:
  client::Backoff backoff_;
  std::vector<kube::GroupResource> types_;
  client::TimePoint notBefore_;
};

}  // namespace lastout::server
