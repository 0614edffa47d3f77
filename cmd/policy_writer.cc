#include "cmd/policy_writer.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "client/apply.h"
#include "kube/messages.h"
#include "kube/value.h"
#include "protection/policy_status.h"
#include "protection/profiles.h"
#include "server/runtime/object_client.h"

namespace lastout::cmd {
namespace {

constexpr std::chrono::milliseconds kBetweenLooks{200};

}  // namespace

void PolicyWriter::say(const std::string& name, const std::string& word) const {
  std::cout << kube::toString(kube::ObjectKey{protection::deletionPolicyType(), "", name}) << " " << word
            << (isTrial_ ? " (dry run)" : "") << "\n";
}

void PolicyWriter::fail(const kube::Error& error) {
  std::cerr << kube::toString(error) << "\n";
  exitCode_ = kFailed;
}

void PolicyWriter::apply(const PolicySource& source) {
  for (const protection::PolicyManifest& one : source.policies) apply(one);
}

void PolicyWriter::remove(const PolicySource& source) {
  for (const protection::PolicyManifest& one : source.policies)
    remove(one.policy.meta.name, "deleted", "was not there");
  if (source.settings) removeFormer({});
}

void PolicyWriter::apply(const protection::PolicyManifest& one) {
  const auto applied = client::apply(server_, protection::deletionPolicyResource(),
                                     nlohmann::json(kube::toJson(one.object.content)), isTrial_);
  if (!applied) return fail(applied.error());
  say(one.policy.meta.name, *applied == client::Applied::Created   ? "created"
                            : *applied == client::Applied::Updated ? "updated"
                                                                   : "unchanged");
}

void PolicyWriter::waitUntilEnforced(const std::vector<PolicySource>& sources,
                                     std::chrono::milliseconds timeout) {
  if (exitCode_ != kOk) return;
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  for (const PolicySource& source : sources) {
    for (const protection::PolicyManifest& one : source.policies) {
      const std::string& name = one.policy.meta.name;
      std::string why;
      while (!(why = whyNotEnforced(name)).empty() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(kBetweenLooks);
      if (why.empty())
        say(name, "enforced");
      else
        fail({name + " is not enforced within --timeout: " + why, {}, {}});
    }
  }
}

std::string PolicyWriter::whyNotEnforced(const std::string& name) {
  const auto read = server::ObjectClient(server_).get(protection::deletionPolicyResource(),
                                                      {protection::deletionPolicyType(), "", name});
  if (!read) return read.error().why;
  if (!*read) return "it is gone";
  const kube::Value* status = (*read)->content.find("status");
  if (status != nullptr && protection::saysEnforced(kube::toJson(*status), (*read)->meta.generation))
    return {};
  const kube::Value* enforced = kube::statusCondition((*read)->content, "Enforced");
  const kube::Value* seen = enforced == nullptr ? nullptr : enforced->find("observedGeneration");
  if (seen == nullptr || seen->asInteger() == nullptr || *seen->asInteger() != (*read)->meta.generation)
    return "no lastout serve with the role controller has looked at it as it stands";
  return kube::printable(kube::textAt(*enforced, {"message"}));
}

void PolicyWriter::remove(const std::string& name, const std::string& done, const std::string& wasGone) {
  const auto removed =
      client::removeObject(server_, protection::deletionPolicyResource(), "", name, isTrial_);
  if (!removed) return fail(removed.error());
  say(name, *removed ? done : wasGone);
}

void PolicyWriter::removeFormer(const std::vector<PolicySource>& sources) {
  if (exitCode_ != kOk) {
    std::cerr << "policies that the katalog no longer has stay until all of its policies are applied\n";
    return;
  }
  std::set<std::string> wanted;
  for (const PolicySource& source : sources)
    for (const protection::PolicyManifest& one : source.policies) wanted.insert(one.policy.meta.name);
  const auto names = client::namesWithLabel(server_, protection::deletionPolicyResource(),
                                            protection::kImportedLabel, protection::kImportedFromOrkestra);
  if (!names) return fail(names.error());
  if (wanted.empty() && names->empty())
    std::cout << "there are no policies of a katalog, and none is to be there\n";
  for (const std::string& name : *names)
    if (!wanted.contains(name)) remove(name, "deleted: the katalog does not have it", "is gone");
}

}  // namespace lastout::cmd
