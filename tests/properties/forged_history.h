// ForgedCluster: CriticalServices whose status says that deletions were deferred, whoever wrote that, beside
// what the API server knows of the objects that are to be deleted; as plain data that a generator makes, a
// test shrinks, and a person can read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "criticalservice/critical_service.h"

namespace lastout::testing {

struct ForgedObject {
  struct Owner {
    kube::ObjectKey object = {};
    std::string uid = {};
  };
  kube::ObjectKey key = {};
  std::string uid = {};
  bool isTerminating = false;
  bool isOrphaning = false;  // it carries the finalizer orphan
  std::vector<Owner> owners = {};
};

struct ForgedCluster {
  std::vector<ForgedObject> objects = {};                       // namespaces, too
  std::vector<criticalservice::CriticalService> services = {};  // with what their status says
  bool personsCount = false;      // reviews come over a client certificate that is verified
  bool seesAllTerminate = false;  // the watch has told that every namespace terminates
};

ForgedCluster forgedCluster(uint64_t seed);
std::string describe(const ForgedCluster& cluster);

// "The namespace terminates, or every owner (by uid) is gone or terminating without orphan."
bool goesByTheDocument(const ForgedCluster& cluster, const ForgedObject& object);
// Somebody may have it deleted: as above, or a person did, or, of an object without owners, a user of
// --defer-for, where reviews prove who asks.
bool isLawful(const ForgedCluster& cluster, const criticalservice::DeferredDeletion& deletion);
// The very object that the entry means, not being deleted yet; nullptr: there is none.
const ForgedObject* objectOf(const ForgedCluster& cluster, const criticalservice::DeferredDeletion& deletion);

// A user of --defer-for.
inline constexpr const char* kOtherController = "system:serviceaccount:tools:fleet";

}  // namespace lastout::testing
