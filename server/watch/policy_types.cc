#include "server/watch/policy_types.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "kube/messages.h"
#include "kube/resource_map.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

using std::chrono::steady_clock;

using DefinitionRead = kube::Result<std::optional<kube::Object>>;  // nullopt: there is none

constexpr std::chrono::milliseconds kDefinitionPatience{5'000};  // for one definition

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
    protection::KnownTypes known;
    known.served.reserve(source_.served.size());
    for (const auto& [type, mayHaveCrd] : source_.served) known.served.push_back(type);
    known.isMissing = [this](const protection::ResourcePattern& pattern) { return isMissing(pattern); };
    known.definitionOf = [this](const kube::GroupResource& type) { return definitionOf(type); };
    std::string unknown = protection::joinedUnknown(protection::unknownTypes(policy, known));
    return {std::move(unknown), std::move(unclear_)};
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

}  // namespace

std::optional<std::string> PolicyTypes::unknownTo(const protection::DeletionPolicy& policy) {
  TypeSource source;
  live_.forEachServed([&](const client::DiscoveredType& served) {
    source.served.emplace(served.type.type, !served.type.builtIn);
  });
  source.gapIn = [this](const std::string& group) { return live_.gapIn(group); };
  source.mayCome = [this](const kube::GroupResource& type) { return !live_.isAbsent(type); };
  source.definitionOf = [this](const kube::GroupResource& type) -> const DefinitionRead& {
    return definitionOf(type);
  };
  ComparedTypes compared = TypeComparison(source).compare(policy);
  if (!compared.unclear.empty()) return std::nullopt;
  return std::move(compared.unknown);
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
