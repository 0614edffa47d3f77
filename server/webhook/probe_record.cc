#include "server/webhook/probe_record.h"

#include <algorithm>

namespace lastout::server {
namespace {

constexpr size_t kMostDeclared = 8;
constexpr int kFailuresToTell = 3;  // of an address that was well before

std::string beyondObjects(WebhookScope scope) {
  switch (scope) {
    case WebhookScope::Namespaces:
      return "; it asks about all objects of some types in some namespaces, as naming each takes more than "
             "1 MB";
    case WebhookScope::Types:
      return "; it asks about all objects of these types, so that an outage denies all their deletions";
    case WebhookScope::Objects:
      break;
  }
  return "";
}

}  // namespace

std::string_view toString(ProbeResult result) {
  switch (result) {
    case ProbeResult::Denied:
      return "denied";
    case ProbeResult::Outdated:
      return "outdated";
    case ProbeResult::Allowed:
      return "allowed";
    case ProbeResult::Failed:
      return "failed";
    case ProbeResult::None:
      break;
  }
  return "none";
}

void ProbeRecord::declare(ProbedConfiguration configuration) {
  std::erase_if(declared_, [&](const auto& one) { return one.first == configuration.fingerprint; });
  declared_.emplace_back(configuration.fingerprint, configuration.objects);
  if (declared_.size() > kMostDeclared) declared_.pop_front();
  configuration_ = std::move(configuration);
}

void ProbeRecord::setAddresses(const std::vector<std::string>& addresses) {
  std::erase_if(addresses_,
                [&](const auto& one) { return std::ranges::find(addresses, one.first) == addresses.end(); });
  for (const std::string& address : addresses) addresses_.try_emplace(address);
}

const ReviewedObjects* ProbeRecord::objectsOf(const std::string& fingerprint) const {
  const auto found =
      std::ranges::find_if(declared_, [&](const auto& declared) { return declared.first == fingerprint; });
  return found == declared_.end() ? nullptr : &found->second;
}

ProbeResult ProbeRecord::resultOf(const ProbeAnswer& answer, TimePoint now) const {
  switch (answer.kind) {
    case ProbeAnswer::Kind::Denied:
      return answer.fingerprint == configuration_->fingerprint ? ProbeResult::Denied : ProbeResult::Outdated;
    case ProbeAnswer::Kind::Allowed:
      return now < configuration_->since + grace_ ? ProbeResult::Outdated : ProbeResult::Allowed;
    case ProbeAnswer::Kind::Missing:
    case ProbeAnswer::Kind::Failed:
      break;
  }
  return ProbeResult::Failed;
}

ProbeRecord::Taken ProbeRecord::took(const std::string& address, const ProbeAnswer& answer, TimePoint now) {
  const auto found = addresses_.find(address);
  if (found == addresses_.end() || !configuration_) return {ProbeResult::None, {}};
  Address& state = found->second;
  const ProbeResult result = resultOf(answer, now);
  if (result == ProbeResult::Failed) {
    const bool wasWell = state.result == ProbeResult::Denied || state.result == ProbeResult::Allowed;
    if (++state.failures < kFailuresToTell && wasWell) return {result, {}};
  } else {
    const ReviewedObjects* objects = objectsOf(answer.fingerprint);
    state.proven = objects == nullptr ? ReviewedObjects() : *objects;
    state.failures = 0;
  }
  if (state.result == result && state.why == answer.why) return {result, {}};
  state.result = result;
  state.why = answer.why;
  return {result, ProbeStanding{address, result, state.why}};
}

bool ProbeRecord::isProven() const {
  return configuration_ && !addresses_.empty() && std::ranges::all_of(addresses_, [](const auto& one) {
           return one.second.result == ProbeResult::Denied && one.second.failures == 0;
         });
}

WebhookEnforcement ProbeRecord::enforcementFor(const ReviewedObjects& wanted) const {
  const auto firstThat = [this](const auto& holds) {
    const auto found = std::ranges::find_if(addresses_, [&](const auto& one) { return holds(one.second); });
    return found == addresses_.end() ? nullptr : &*found;
  };
  const auto* allowed = firstThat([](const Address& one) { return one.result == ProbeResult::Allowed; });
  if (allowed != nullptr)
    return {false, "ProbeAllowed",
            "the API server at " + allowed->first + " does not ask lastout: it allowed a probe"};
  const auto* failed = firstThat([](const Address& one) { return one.result == ProbeResult::Failed; });
  if (failed != nullptr)
    return {
        false, "ProbeFailed",
        "whether the API server at " + failed->first + " asks lastout is not known: " + failed->second.why};
  const std::string asks = "the webhook configuration asks about " + wanted.toString();
  const auto* pending = firstThat([&](const Address& one) { return !one.proven.covers(wanted); });
  if (addresses_.empty() || pending != nullptr)
    return {false, "ProbePending",
            asks + "; that " +
                (pending == nullptr ? "API servers go" : "the API server at " + pending->first + " goes") +
                " by it is not shown yet"};
  return {true, "ProbeDenied",
          asks + ", and the API server goes by it, as a probe shows at " +
              (addresses_.size() == 1 ? "the address that is known"
                                      : "each of its " + std::to_string(addresses_.size()) + " addresses") +
              beyondObjects(configuration_ ? configuration_->scope : WebhookScope::Objects)};
}

std::vector<ProbeStanding> ProbeRecord::standings() const {
  std::vector<ProbeStanding> standings;
  standings.reserve(addresses_.size());
  for (const auto& [address, state] : addresses_) standings.push_back({address, state.result, state.why});
  return standings;
}

}  // namespace lastout::server
