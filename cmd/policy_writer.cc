#include "cmd/policy_writer.h"

#include <iostream>
#include <nlohmann/json.hpp>
#include <set>

#include "client/apply.h"
#include "kube/value.h"
#include "protection/profiles.h"

namespace lastout::cmd {
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
