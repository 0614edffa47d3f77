#include "server/policy_types.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kube/resource_map.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::milliseconds kDefinitionPatience{5'000};  // for one definition

// nullopt: there is none, or it cannot be read.
std::optional<kube::Object> readDefinition(const PolicyReads& reads, const kube::GroupResource& type) {
  const kube::ResourceType* definitions = kube::ResourceMap::builtIn().find(kube::kCustomResourceDefinitions);
  if (definitions == nullptr) return std::nullopt;
  auto read = reads.get(*definitions, kube::crdName(type), steady_clock::now() + kDefinitionPatience);
  return read ? std::move(*read) : std::nullopt;
}

bool isAnyType(const protection::ResourcePattern& pattern) {
  return pattern.group == "*" || pattern.resource == "*";
}

}  // namespace

std::string PolicyTypes::unknownTo(const protection::DeletionPolicy& policy) {
  protection::KnownTypes known;
  known.isMissing = [this](const protection::ResourcePattern& pattern) { return isMissing(pattern); };
  known.definitionOf = [this](const kube::GroupResource& type) { return definitionOf(type); };
  live_.forEachServed([&](const client::ServedType& served) { known.served.push_back(served.type.type); });
  return protection::joinedUnknown(protection::unknownTypes(policy, known));
}

// What may be served in a moment is not missing.
bool PolicyTypes::isMissing(const protection::ResourcePattern& pattern) const {
  if (!isAnyType(pattern)) return live_.isAbsent({pattern.group, pattern.resource});
  if (live_.gapIn(pattern.group)) return false;
  bool isThere = false;
  live_.forEachServed(
      [&](const client::ServedType& served) { isThere = isThere || pattern.matches(served.type.type); });
  return !isThere;
}

const kube::Value* PolicyTypes::definitionOf(const kube::GroupResource& type) {
  const auto served = live_.find(type);
  if (!served || served->builtIn) return nullptr;
  const TimePoint now = steady_clock::now();
  const auto [found, isNew] = definitions_.try_emplace(type);
  Definition& known = found->second;
  if (isNew || now - known.readAt >= readAgainAfter_) {
    known.object = readDefinition(reads_, type);
    known.readAt = now;
  }
  return known.object ? &known.object->content : nullptr;
}

std::string unknownTo(const PolicyReads& reads, const client::Discovery& discovery,
                      const protection::DeletionPolicy& policy) {
  std::map<kube::GroupResource, std::optional<kube::Object>> definitions;
  for (const kube::GroupResource& type : protection::typesWithFields(policy)) {
    const client::ServedType* served = discovery.find(type);
    if (served != nullptr && !served->type.builtIn) definitions[type] = readDefinition(reads, type);
  }
  protection::KnownTypes known;
  for (const auto& [type, served] : discovery.served) known.served.push_back(type);
  known.isMissing = [&](const protection::ResourcePattern& pattern) {
    const bool isGap =
        pattern.group == "*" ? !discovery.gaps.empty() : discovery.gapIn(pattern.group) != nullptr;
    return !isGap && std::ranges::none_of(known.served, [&](const kube::GroupResource& type) {
      return pattern.matches(type);
    });
  };
  known.definitionOf = [&](const kube::GroupResource& type) -> const kube::Value* {
    const auto found = definitions.find(type);
    return found == definitions.end() || !found->second ? nullptr : &found->second->content;
  };
  return protection::joinedUnknown(protection::unknownTypes(policy, known));
}

}  // namespace lastout::server
