// AdmissionPolicy: whether the API servers enforce a ValidatingAdmissionPolicy that lastout relies on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "client/access.h"
#include "kube/value.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"
#include "server/runtime/object_client.h"

namespace lastout::server {

// The expressions that a policy must have, in their order, so that lastout relies on it.
struct PolicyTerms {
  std::string_view name;
  std::vector<std::string_view> conditions;   // spec.matchConditions
  std::vector<std::string_view> variables;    // spec.variables
  std::vector<std::string_view> validations;  // spec.validations
};

// Only those may set the annotation lastout.dev/delete-when-free who may delete the object. As it stands in
// deploy/validating-admission-policies.yaml.
const PolicyTerms& deleteWhenFreeTerms();

// True if the policy is about every write of every object, its errors deny, and its expressions are these.
// With parameters it is not: a binding may let pass whatever has none.
bool says(const kube::Value& policy, const PolicyTerms& terms);

// Its functions may be called by any thread; start() and stop() by one at a time.
class AdmissionPolicy {
 public:
  static constexpr std::chrono::seconds kLookAgain{60};
  static constexpr std::chrono::seconds kLookAgainSoon{5};  // after what could not be told

  AdmissionPolicy(const std::shared_ptr<client::Access>& access, PolicyTerms terms, LogSink log,
                  std::chrono::milliseconds patience = std::chrono::milliseconds(5'000));
  ~AdmissionPolicy() { stop(); }
  AdmissionPolicy(const AdmissionPolicy&) = delete;
  AdmissionPolicy& operator=(const AdmissionPolicy&) = delete;

  // Looks at once, and then once a minute. Whoever acts on it looks once more.
  void start() {
    loop_.start();
    loop_.wake();
  }
  void stop();  // for good

  // As it was found last; nullopt: nobody has found out yet.
  std::optional<bool> isEnforced() const;
  // As the API server says now: the policy is there, with those terms, and a binding of the same name, and
  // that denies. Fails with why that cannot be told.
  tl::expected<bool, std::string> look();

 private:
  enum class Found : uint8_t { Nothing, Enforced, NotEnforced };

  RequestResult<std::optional<kube::Value>> read(const kube::GroupResource& type);
  void lookAgain();

  const PolicyTerms terms_;
  const std::string name_;
  const LogSink log_;
  const std::chrono::milliseconds patience_;
  const std::unique_ptr<client::ApiServer> server_;
  std::atomic<Found> found_{Found::Nothing};
  ProblemLog problems_;  // of the thread
  Loop loop_;
};

}  // namespace lastout::server
