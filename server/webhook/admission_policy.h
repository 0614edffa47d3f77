// AdmissionPolicy: whether the API servers enforce a ValidatingAdmissionPolicy that lastout relies on.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "client/access.h"
#include "server/runtime/log.h"
#include "server/runtime/loop.h"

namespace lastout::server {

// Only those may set the annotation lastout.dev/delete-when-free who may delete the object.
inline constexpr const char* kDeleteWhenFreePolicy = "lastout-delete-when-free";

// Its functions may be called by any thread; start() and stop() by one at a time.
class AdmissionPolicy {
 public:
  static constexpr std::chrono::seconds kLookAgain{60};
  static constexpr std::chrono::seconds kLookAgainSoon{5};  // after what could not be told

  // `name`: of a policy and binding of deploy/validating-admission-policies.yaml.
  AdmissionPolicy(const std::shared_ptr<client::Access>& access, std::string name, LogSink log,
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
  // As the API server says now: the policy and its binding are there, and say what this version ships. Fails
  // with why that cannot be told.
  tl::expected<bool, std::string> look();

 private:
  enum class Found : uint8_t { Nothing, Enforced, NotEnforced };

  void lookAgain();

  const std::string name_;
  const LogSink log_;
  const std::chrono::milliseconds patience_;
  const std::unique_ptr<client::ApiServer> server_;
  std::atomic<Found> found_{Found::Nothing};
  ProblemLog problems_;  // of the thread
  Loop loop_;
};

}  // namespace lastout::server
