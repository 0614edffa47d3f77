#include "server/watch/policy_types.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "kube/messages.h"
#include "kube/resource_map.h"
#include "kube/well_known.h"
#include "protection/implied.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

using DefinitionRead = kube::Result<std::optional<kube::Object>>;  // nullopt: there is none

constexpr std::chrono::milliseconds kDefinitionPatience{5'000};  // for one definition
constexpr std::chrono::milliseconds kRightsPatience{5'000};      // for all rights of one policy

DefinitionRead readDefinition(const PolicyReads& reads, const kube::GroupResource& type) {
  const kube::ResourceType* definitions = kube::ResourceMap::builtIn().find(kube::kCustomResourceDefinitions);
  if (definitions == nullptr) return std::nullopt;
  return reads.get(*definitions, kube::crdName(type), steady_clock::now() + kDefinitionPatience);
}

// Where the knowledge of a comparison comes from.
struct TypeSource {
  std::map<kube::GroupResource, bool> served;  // all types; true: a CRD may define it
  // Returns why not all that is served of the group ("*": of any) is known; nullopt: it is.
  std::function<std::optional<std::string>(const std::string& group)> gapIn;
  // A type that is not served, without a gap in its group, may be served in a moment.
  std::function<bool(const kube::GroupResource& type)> mayCome;
  // Asked of types that a CRD may define. What it returns lives as long as the source.
  std::function<const DefinitionRead&(const kube::GroupResource& type)> definitionOf;
};

std::string textOf(const protection::ResourcePattern& pattern) {
  return kube::printable(toString(kube::GroupResource{pattern.group, pattern.resource}));
}

bool isAnyType(const protection::ResourcePattern& pattern) {
  return pattern.group == "*" || pattern.resource == "*";
}

// Compares a policy with what the source knows, and notes what that is too little for.
class TypeComparison {
 public:
  explicit TypeComparison(const TypeSource& source) : source_(source) {}

  ComparedTypes compare(const protection::DeletionPolicy& policy) {
    std::string unknown = protection::joinedUnknown(sentences(policy));
    return {std::move(unknown), std::move(unclear_)};
  }
  std::vector<std::string> sentences(const protection::DeletionPolicy& policy) {
    protection::KnownTypes known;
    known.served.reserve(source_.served.size());
    for (const auto& [type, mayHaveCrd] : source_.served) known.served.push_back(type);
    known.isMissing = [this](const protection::ResourcePattern& pattern) { return isMissing(pattern); };
    known.definitionOf = [this](const kube::GroupResource& type) { return definitionOf(type); };
    return protection::unknownTypes(policy, known);
  }

 private:
  bool isMissing(const protection::ResourcePattern& pattern) {
    const bool isServed = std::ranges::any_of(
        source_.served, [&](const auto& served) { return pattern.matches(served.first); });
    if (isServed) return false;
    const std::string whether = "whether the cluster serves " + textOf(pattern) + " is not known: ";
    if (const auto why = source_.gapIn(pattern.group)) {
      unclear_.insert(whether + *why);
      return false;
    }
    if (isAnyType(pattern) || !source_.mayCome({pattern.group, pattern.resource})) return true;
    unclear_.insert(whether + "it may be served in a moment");
    return false;
  }

  const kube::Value* definitionOf(const kube::GroupResource& type) {
    const auto served = source_.served.find(type);
    if (served == source_.served.end() || !served->second) return nullptr;
    const DefinitionRead& read = source_.definitionOf(type);
    if (!read) {
      unclear_.insert(
          "fields of " + toString(type) +
          " are not compared: its CustomResourceDefinition cannot be read: " + toString(read.error()));
      return nullptr;
    }
    return *read ? &(*read)->content : nullptr;
  }

  const TypeSource& source_;
  std::set<std::string> unclear_;
};

// What `live` knows of types; it must outlive the source.
TypeSource sourceOf(const LiveView& live) {
  TypeSource source;
  live.forEachServed([&](const client::DiscoveredType& served) {
    source.served.emplace(served.type.type, !served.type.builtIn);
  });
  source.gapIn = [&live](const std::string& group) { return live.gapIn(group); };
  source.mayCome = [&live](const kube::GroupResource& type) { return !live.isAbsent(type); };
  return source;
}

}  // namespace

std::vector<std::string> missingTypes(const LiveView& live, const protection::DeletionPolicy& policy) {
  TypeSource source = sourceOf(live);
  const DefinitionRead none;
  source.definitionOf = [&none](const kube::GroupResource&) -> const DefinitionRead& { return none; };
  return TypeComparison(source).sentences(policy);
}

std::optional<std::string> PolicyTypes::unknownTo(const protection::DeletionPolicy& policy) {
  TypeSource source = sourceOf(live_);
  source.definitionOf = [this](const kube::GroupResource& type) -> const DefinitionRead& {
    return definitionOf(type);
  };
  ComparedTypes compared = TypeComparison(source).compare(policy);
  if (!compared.unclear.empty()) return std::nullopt;
  return std::move(compared.unknown);
}

std::optional<std::string> PolicyTypes::unreadableOf(const protection::DeletionPolicy& policy) {
  protection::ListedKinds listed;
  if (policy.listedBy)
    view_.inspect([&](const protection::FactIndex& facts) { listed = facts.listedKinds(*policy.listedBy); });
  std::vector<kube::GroupResource> sought;
  live_.forEachServed([&](const client::DiscoveredType& served) {
    if (served.canList && protection::isSoughtInContainers(policy, served.type, listed))
      sought.push_back(served.type.type);
  });
  const TimePoint deadline = steady_clock::now() + kRightsPatience;
  std::vector<std::string> unreadable;
  for (const kube::GroupResource& type : sought) {
    const MayList* may = mayList(type, deadline);
    if (may == nullptr) return std::nullopt;
    if (!may->may) unreadable.push_back(toString(type));
  }
  return unreadable.empty() ? std::string() : protection::unreadableTypes(policy, unreadable);
}

// What was told before a failure is not asked again.
const PolicyTypes::MayList* PolicyTypes::mayList(const kube::GroupResource& type, TimePoint deadline) {
  const TimePoint now = steady_clock::now();
  const auto known = mayList_.find(type);
  if (known != mayList_.end() && now - known->second.askedAt < readAgainAfter_) return &known->second;
  const auto lacking =
      rights_.lacking(lister_.empty() ? nullptr : &lister_, {{"list", {type, "", ""}}}, deadline);
  return lacking ? &(mayList_[type] = {lacking->empty(), now}) : nullptr;
}

const DefinitionRead& PolicyTypes::definitionOf(const kube::GroupResource& type) {
  const TimePoint now = steady_clock::now();
  const auto [found, isNew] = definitions_.try_emplace(type);
  Definition& known = found->second;
  if (isNew || now - known.askedAt >= readAgainAfter_) {
    DefinitionRead read = readDefinition(reads_, type);
    if (isNew || read || !known.read) known.read = std::move(read);
    known.askedAt = now;
  }
  return known.read;
}

ComparedTypes compareTypes(const PolicyReads& reads, const client::Discovery& discovery,
                           const protection::DeletionPolicy& policy) {
  std::map<kube::GroupResource, DefinitionRead> definitions;
  TypeSource source;
  for (const auto& [type, served] : discovery.served) source.served.emplace(type, !served.type.builtIn);
  source.gapIn = [&](const std::string& group) -> std::optional<std::string> {
    const client::DiscoveryGap* gap = group != "*"             ? discovery.gapIn(group)
                                      : discovery.gaps.empty() ? nullptr
                                                               : &discovery.gaps.front();
    return gap == nullptr ? std::nullopt : std::optional(gap->why);
  };
  source.mayCome = [](const kube::GroupResource&) { return false; };
  source.definitionOf = [&](const kube::GroupResource& type) -> const DefinitionRead& {
    auto found = definitions.find(type);
    if (found == definitions.end()) found = definitions.emplace(type, readDefinition(reads, type)).first;
    return found->second;
  };
  return TypeComparison(source).compare(policy);
}

}  // namespace lastout::server
