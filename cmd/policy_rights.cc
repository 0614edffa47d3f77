#include "cmd/policy_rights.h"

#include <chrono>
#include <iostream>
#include <set>
#include <utility>
#include <vector>

#include "kube/messages.h"
#include "protection/fact_index.h"
#include "protection/implied.h"
#include "server/review/authorization.h"

namespace lastout::cmd {
namespace {

using Types = std::set<kube::GroupResource>;

constexpr std::chrono::milliseconds kAskingPatience{20'000};  // for one policy
constexpr size_t kMostTypesTold = 3;

// What other objects tell, and what is sought in Namespaces and behind CRDs.
Types listedFor(const protection::DeletionPolicy& policy, const client::Discovery& discovery) {
  protection::FactIndex index(protection::kindsAmong([&]() -> auto& { return discovery.types; }));
  index.setPolicies({policy});
  Types types;
  for (const protection::WantedType& wanted : index.wanted())
    if (wanted.cluster.empty()) types.insert(wanted.type);
  for (const auto& [type, served] : discovery.served)
    if (served.canList && protection::isSoughtInContainers(policy, served.type, {})) types.insert(type);
  return types;
}

// Returns the types whose objects the policy holds or labels; `subresource`: "/status", or nothing.
Types writtenFor(const protection::DeletionPolicy& policy, const std::string& subresource) {
  Types types;
  for (const protection::Selection& selection : policy.objects)
    for (const auto& one : selection.resources) types.insert({one.group, one.resource + subresource});
  return types;
}

// Rights of one of lastout's accounts.
struct AccountRights {
  std::string namespaceName;
  std::string account;
  std::vector<std::string> verbs;
};

kube::Result<Types> lacking(const server::ObjectRights& rights, const AccountRights& wanted,
                            const Types& types) {
  const std::string user = server::userInfoOf(wanted.namespaceName, wanted.account);
  const auto deadline = std::chrono::steady_clock::now() + kAskingPatience;
  Types lacking;
  for (const kube::GroupResource& type : types) {
    std::vector<admission::NeededRight> needed;
    for (const std::string& verb : wanted.verbs) needed.push_back({verb, {type, "", ""}});
    const auto lacks = rights.lacking(&user, needed, deadline);
    if (!lacks) return tl::unexpected(lacks.error());
    if (!lacks->empty()) lacking.insert(type);
  }
  return lacking;
}

void tellRight(const server::ObjectRights& rights, const std::string& policy, const AccountRights& wanted,
               const Types& types, const std::string& remedy) {
  if (types.empty()) return;
  std::cerr << "DeletionPolicy " << policy << ": ServiceAccount " << wanted.account << " in namespace "
            << wanted.namespaceName << " needs the right to " << kube::listed(wanted.verbs) << " "
            << kube::listed(kube::wordsOf(types), kMostTypesTold);
  if (types.contains({"", "secrets"})) std::cerr << ", which lets it read every Secret, whole";
  const auto lacks = lacking(rights, wanted, types);
  if (!lacks)
    std::cerr << "; lastout could not find out whether it has this right: "
              << kube::printable(lacks.error().message) << "\n";
  else if (lacks->empty())
    std::cerr << ", and has it\n";
  else
    std::cerr << "; it lacks that on " << kube::listed(kube::wordsOf(*lacks), kMostTypesTold) << ": "
              << remedy << "\n";
}

}  // namespace

void tellRights(const std::shared_ptr<client::Access>& access, const client::Discovery& discovery,
                const std::vector<PolicySource>& sources, const std::string& namespaceName) {
  const server::ObjectRights rights(access);
  for (const PolicySource& source : sources) {
    for (const auto& [object, policy] : source.policies) {
      const auto tell = [&, &name = policy.meta.name](const char* account, std::vector<std::string> verbs,
                                                      const Types& types, const std::string& remedy) {
        tellRight(rights, name, {namespaceName, account, std::move(verbs)}, types, remedy);
      };
      tell(server::kWebhookAccount, {"list"}, listedFor(policy, discovery),
           protection::howToGiveReads("these"));
      if (policy.labels)
        tell(server::kControllerAccount, {"get", "list", "watch", "patch"}, writtenFor(policy, ""),
             "see docs/labels.md");
      if (!policy.hold) continue;
      tell(server::kControllerAccount, {"get", "list", "watch", "patch", "delete"}, writtenFor(policy, ""),
           "see docs/holding.md");
      tell(server::kControllerAccount, {"patch"}, writtenFor(policy, "/status"), "see docs/holding.md");
    }
  }
}

}  // namespace lastout::cmd
