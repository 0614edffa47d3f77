// checkInstallation: reads an installation of lastout once, and says of each thing that it needs whether it
// is there, as shipped and in force: `lastout check`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "client/api_server.h"
#include "kube/result.h"
#include "server/runtime/object_client.h"
#include "server/uninstall/running_lastout.h"

namespace lastout::server {

enum class FindingState : uint8_t {
  Ok,
  Problem,
  NotChecked,    // it could not be read
  NotInstalled,  // and need not be
};
std::string_view toString(FindingState state);  // "ok", "problem", "not-checked", "not-installed"

struct Finding {
  FindingState state = FindingState::Ok;
  std::string subject;  // what was checked: a file of deploy/, an object, an account's rights
  std::string message;  // one line; of a problem also what to do
};

struct CheckOptions {
  std::vector<LeaseName> leases;  // whose holder a `lastout serve` that runs may be
  Patience patience;
  int64_t now = 0;  // seconds since the epoch
};

// Changes nothing; the SubjectAccessReviews that it creates are not stored. Fails if the API server does not
// answer; what whoever asks may not read is a finding.
kube::Result<std::vector<Finding>> checkInstallation(client::ApiServer& server, const CheckOptions& options);

}  // namespace lastout::server
