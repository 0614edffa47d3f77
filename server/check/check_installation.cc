#include "server/check/check_installation.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "client/discovery.h"
#include "criticalservice/critical_service.h"
#include "kube/encoding.h"
#include "kube/messages.h"
#include "kube/parse.h"
#include "kube/timestamp.h"
#include "kube/well_known.h"
#include "protection/cel.h"
#include "protection/policy.h"
#include "server/check/shipped_objects.h"
#include "server/review/authorization.h"
#include "server/webhook/certificate_plan.h"
#include "server/webhook/probe_record.h"
#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

using State = FindingState;
using kube::textAt;

constexpr std::array kAccounts{kControllerAccount, kWebhookAccount};
constexpr const char* kSeeLog = "; see the log of the controller";

constexpr size_t kPage = 50;                         // of whole objects
constexpr size_t kMostOfType = 20;                   // objects of a type that are told one by one
constexpr int64_t kRenewedLately = 60;               // seconds, by two clocks; a Lease is renewed every 2 s
constexpr int64_t kRenewedBefore = 7 * 86'400;       // seconds; a certificate is renewed 30 days before
constexpr std::chrono::seconds kRightsPatience{60};  // for all of an account's

// Returns why a CriticalService or DeletionPolicy is not in force; empty: it is in force.
std::string problemOfConditions(const kube::Value& object) {
  constexpr std::array<std::pair<const char*, const char*>, 6> kWrong{{{"DependenciesKnown", "False"},
                                                                       {"Degraded", "True"},
                                                                       {"LabelsKept", "False"},
                                                                       {"Held", "False"},
                                                                       {"TypesKnown", "False"},
                                                                       {"NamesKnown", "False"}}};
  const kube::Value* enforced = kube::statusCondition(object, "Enforced");
  if (enforced == nullptr) return "has no condition Enforced: no lastout has written its status yet";
  const bool isGivenUp = textAt(*enforced, {"reason"}) == "OrphanResources";
  if (textAt(*enforced, {"status"}) != "True" && !isGivenUp) return conditionText(*enforced);
  for (const auto& [type, status] : kWrong) {
    const kube::Value* condition = kube::statusCondition(object, type);
    if (condition != nullptr && textAt(*condition, {"status"}) == status) return conditionText(*condition);
  }
  return {};
}

// `secret`: with the certificate; nullptr: it is not there, or may not be read, and the authority has to do.
std::string problemOfWebhook(const kube::Value& configuration, const kube::Value* secret, int64_t now) {
  const auto& webhooks = kube::listAt(configuration, {"webhooks"});
  const auto bundle =
      kube::fromBase64(webhooks.empty() ? "" : textAt(webhooks.front(), {"clientConfig", "caBundle"}));
  const auto authority = bundle ? tls::validityOf(*bundle) : std::nullopt;
  if (!authority || now >= authority->until) return "trusts no authority that is still valid";
  if (secret == nullptr) return {};
  const SharedCertificate shared = sharedCertificateIn(*secret);
  const auto certificate = tls::validityOf(shared.certificate);
  if (!certificate || !isUsable(shared, now)) return "the certificate in its Secret is not valid";
  if (!namesAuthorities(configuration, shared.authorities))
    return "does not trust the authority of the certificate in its Secret";
  if (certificate->until - now < kRenewedBefore)
    return "the certificate in its Secret is valid for less than " + std::to_string(kRenewedBefore / 86'400) +
           " days, and is not renewed";
  return {};
}

// One run.
class InstallationCheck {
 public:
  InstallationCheck(client::ApiServer& server, const CheckOptions& options, client::Discovery served)
      : server_(server), options_(options), served_(std::move(served)), client_(server, options.patience) {}

  std::vector<Finding> run() {
    for (const ShippedFile& file : shippedFiles()) checkFile(file);
    checkBindings();
    for (const char* account : kAccounts) checkRights(account);
    checkWebhook();
    checkLeases();
    checkConditions(criticalservice::criticalServiceType());
    checkConditions(protection::deletionPolicyType());
    return std::move(findings_);
  }

 private:
  // As it was read; nullopt: it is not there.
  using ReadObject = RequestResult<std::optional<kube::Value>>;

  void add(State state, std::string subject, std::string message) {
    findings_.push_back({state, std::move(subject), std::move(message)});
  }
  void addUnread(std::string subject, const std::string& why) {
    add(State::NotChecked, std::move(subject), "could not be checked: " + why);
  }
  // Returns false if it is not Ok.
  bool judge(const std::string& subject, const ReadObject& read, const char* advice,
             const std::function<std::string(const kube::Value& object)>& problemOf) {
    if (!read) {
      addUnread(subject, read.error().why);
      return false;
    }
    const std::string problem = *read ? problemOf(**read) : std::string("is not there") + advice;
    if (!problem.empty()) add(State::Problem, subject, problem);
    return problem.empty();
  }

  void checkFile(const ShippedFile& file) {
    std::vector<ReadObject> standing;
    for (const kube::Object& shipped : file.objects) {
      const kube::GroupResource& type = shipped.key.type;
      if (served_.find(type) == nullptr && served_.gapIn(type.group) == nullptr)
        return add(State::NotInstalled, std::string(file.name),
                   "the API server does not serve " + toString(type));
      standing.push_back(client_.read(client::objectPath(shipped.key)));
    }
    const std::string count = " (" + std::to_string(file.objects.size()) + ")";
    if (std::ranges::all_of(standing, [](const ReadObject& read) { return read && !*read; }))
      return add(file.isOptional ? State::NotInstalled : State::Problem, std::string(file.name),
                 "none of its objects is there" + count + (file.isOptional ? "" : kApplyAgain));
    installed_.push_back(&file);
    bool isWhole = true;
    for (size_t i = 0; i < standing.size(); ++i) {
      const kube::Object& shipped = file.objects[i];
      isWhole = judge(toString(shipped.key), standing[i], kApplyAgain,
                      [&](const kube::Value& object) { return problemWith(shipped, object); }) &&
                isWhole;
    }
    if (isWhole) add(State::Ok, std::string(file.name), "its objects are as shipped" + count);
  }

  // Returns false if not all could be read, which is told.
  bool forEach(const kube::GroupResource& type,
               const std::function<void(const client::StreamedObject& object)>& take) {
    const client::DiscoveredType* known = served_.find(type);
    if (const auto* gap = served_.gapIn(type.group); known == nullptr && gap != nullptr)
      addUnread(toString(type), gap->why);
    if (known == nullptr) return false;  // if it is not served, its file was found to be missing
    const auto listed = client_.list({client::collectionPath(known->type), client::Content::Whole, kPage},
                                     [&](const auto& page) { std::ranges::for_each(page, take); });
    if (!listed) addUnread(toString(type), listed.error().why);
    return listed.has_value();
  }

  // Also those that are not shipped, but were made of DeletionPolicies, or are left of a former version.
  void checkBindings() {
    std::map<std::string, std::string> bindings;  // by name: that of the policy
    const bool isRead =
        forEach(kube::kValidatingAdmissionPolicyBindings,
                [&](const client::StreamedObject& object) {
                  if (object.meta.name.starts_with(protection::kOwnNamePrefix))
                    bindings[object.meta.name] = textAt(object.content, {"spec", "policyName"});
                }) &&
        forEach(kube::kValidatingAdmissionPolicies, [&](const client::StreamedObject& object) {
          std::erase_if(bindings, [&](const auto& one) { return one.second == object.meta.name; });
        });
    if (!isRead) return;
    for (const auto& [name, policy] : bindings)
      add(State::Problem, toString(kube::ObjectKey{kube::kValidatingAdmissionPolicyBindings, "", name}),
          "denies nothing, as its policy " + kube::inQuotes(policy) + " is not there");
    if (bindings.empty())
      add(State::Ok, toString(kube::kValidatingAdmissionPolicyBindings), "each of lastout's has its policy");
  }

  void checkRights(const std::string& account) {
    const auto rights = rightsOf(account, installed_);
    if (rights.empty()) return;  // as the files that give some were found to be missing
    const std::string subject = "rights of " + account;
    const std::string userInfo = userInfoOf(kInstalledNamespace, account);
    const auto lacking = lackingRights(server_, &userInfo, {rights.begin(), rights.end()},
                                       std::chrono::steady_clock::now() + kRightsPatience);
    if (!lacking) return addUnread(subject, lacking.error().message);
    if (lacking->empty())
      return add(State::Ok, subject, "all that is installed gives (" + std::to_string(rights.size()) + ")");
    add(State::Problem, subject, "it may not " + lackingInWords(*lacking) + kApplyAgain);
  }

  void checkWebhook() {
    const kube::ObjectKey key{kube::kValidatingWebhookConfigurations, "", WebhookConfiguration().name};
    const kube::ObjectKey secretKey{kube::kSecrets, kInstalledNamespace, kInstalledSecret};
    const auto secret = client_.read(client::objectPath(secretKey));
    const bool hasSecret =
        judge(toString(secretKey), secret, kSeeLog, [](const kube::Value&) { return std::string(); });
    const auto problemOf = [&](const kube::Value& object) {
      const std::string why = problemOfWebhook(object, hasSecret ? &**secret : nullptr, options_.now);
      return why.empty() ? why : why + kSeeLog;
    };
    if (judge(toString(key), client_.read(client::objectPath(key)), kSeeLog, problemOf))
      add(State::Ok, toString(key),
          hasSecret ? "its authority and the certificate are valid" : "its authority is valid");
  }

  // The Lease in the first namespace where somebody renews it is that of the lastout that runs.
  void checkLeases() {
    const std::string subject = "lastout serve";
    std::string last;
    for (const LeaseName& name : options_.leases) {
      const auto lease = readLeaseNow(client_, name);
      if (!lease) return addUnread(subject, lease.error().why);
      if (!*lease || (*lease)->holder.empty()) continue;
      const std::string holder = kube::inQuotes((*lease)->holder);
      const auto renewed = kube::parseTimestamp((*lease)->renewed);
      if (renewed && std::abs(*renewed - options_.now) <= kRenewedLately) {
        add(State::Ok, subject, holder + " renews " + toString(name));
        return checkProbes((*lease)->probes);
      }
      last = "; " + holder + " renewed " + toString(name) + " last at " + kube::printable((*lease)->renewed);
    }
    add(State::Problem, subject,
        "no lastout serve runs here" + last + "; kubectl get pods -n " + kInstalledNamespace);
  }

  void checkProbes(const std::string& probes) {
    const auto told = kube::parseJson(probes, "probes");
    if (!told || told->asMap() == nullptr || told->asMap()->empty())
      return addUnread("probes of API servers",
                       "the holder of the Lease says nothing of them (--audit-only?)");
    for (const auto& [address, position, answer] : *told->asMap()) {
      const std::string result = answer.asString() == nullptr ? "" : *answer.asString();
      const std::string subject = "API server at " + kube::printable(address);
      if (result == toString(ProbeResult::Denied))
        add(State::Ok, subject, "asks lastout");
      else
        add(State::Problem, subject,
            "no probe shows that it asks lastout: " + kube::printable(result) +
                "; see docs/operations.md, Probes");
    }
  }

  void checkConditions(const kube::GroupResource& type) {
    size_t all = 0;
    size_t wrong = 0;
    const bool isRead = forEach(type, [&](const client::StreamedObject& object) {
      ++all;
      const std::string problem = problemOfConditions(object.content);
      if (!problem.empty() && ++wrong <= kMostOfType)
        add(State::Problem, toString(kube::ObjectKey{type, "", object.meta.name}), problem);
    });
    if (wrong > kMostOfType)
      add(State::Problem, toString(type), std::to_string(wrong - kMostOfType) + " more are not in force");
    if (isRead && wrong == 0)
      add(State::Ok, toString(type), "all are in force (" + std::to_string(all) + ")");
  }

  client::ApiServer& server_;
  const CheckOptions& options_;
  const client::Discovery served_;
  const ObjectClient client_;
  std::vector<const ShippedFile*> installed_;  // of which some object is there
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view toString(FindingState state) {
  constexpr std::array<std::string_view, 4> kWords{"ok", "problem", "not-checked", "not-installed"};
  return kWords.at(static_cast<size_t>(state));
}

kube::Result<std::vector<Finding>> checkInstallation(client::ApiServer& server, const CheckOptions& options) {
  auto served = client::discover(server);
  if (!served) return tl::unexpected(std::move(served.error()));
  return InstallationCheck(server, options, std::move(*served)).run();
}

}  // namespace lastout::server
