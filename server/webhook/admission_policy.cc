#include "server/webhook/admission_policy.h"

#include <utility>

#include "client/api_server.h"
#include "kube/well_known.h"
#include "server/check/shipped_objects.h"
#include "server/runtime/object_client.h"
#include "server/runtime/pausing_api_server.h"

namespace lastout::server {
AdmissionPolicy::AdmissionPolicy(const std::shared_ptr<client::Access>& access, std::string name, LogSink log,
                                 std::chrono::milliseconds patience)
    : name_(std::move(name)),
      log_(std::move(log)),
      patience_(patience),
      server_(newControllerServer(*access)),
      problems_(log_, "the ValidatingAdmissionPolicy " + name_ + " cannot be read: ",
                "the ValidatingAdmissionPolicy " + name_ + " can be read again"),
      loop_([this] { lookAgain(); }, std::chrono::milliseconds(1'000)) {}

void AdmissionPolicy::stop() {
  loop_.stop([this] { server_->stop(); });
}

// An API server from before 1.30 has no such types, and so no such policy.
tl::expected<bool, std::string> AdmissionPolicy::look() {
  for (const kube::GroupResource* type :
       {&kube::kValidatingAdmissionPolicies, &kube::kValidatingAdmissionPolicyBindings}) {
    const kube::ObjectKey key{*type, "", name_};
    const auto standing = ObjectClient(*server_, patience_).read(client::objectPath(key));
    if (!standing) return tl::unexpected(standing.error().why);
    if (!*standing || !problemWith(shippedObject(key), **standing).empty()) return false;
  }
  return true;
}

std::optional<bool> AdmissionPolicy::isEnforced() const {
  const Found found = found_;
  return found == Found::Nothing ? std::nullopt : std::optional(found == Found::Enforced);
}

void AdmissionPolicy::lookAgain() {
  const auto now = look();
  if (loop_.isStopping()) return;
  problems_.note(now ? "" : now.error());
  loop_.wakeAt(std::chrono::steady_clock::now() + (now ? kLookAgain : kLookAgainSoon));
  if (!now) return;
  const Found found = *now ? Found::Enforced : Found::NotEnforced;
  const Found before = found_.exchange(found);
  if (found == before || (before == Found::Nothing && !*now)) return;
  log_(Level::Info,
       "the ValidatingAdmissionPolicy " + name_ + (*now ? " is enforced" : " is not enforced any more"));
}

}  // namespace lastout::server
