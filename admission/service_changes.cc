#include "admission/service_changes.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "admission/guards.h"
#include "criticalservice/dependencies.h"
#include "criticalservice/validation.h"

namespace lastout::admission {
namespace {

// All that is wrong with it by itself. What cannot be understood in one part is still looked at in the
// others.
kube::Errors problemsOf(const kube::Object& object, const kube::ResourceMap& types,
                        std::string_view ownNamespace) {
  kube::Errors problems;
  auto service = criticalservice::parse(object, types);
  if (!service) {
    problems = std::move(service.error());
    service = criticalservice::parseStanding(object);
  }
  if (service)
    std::ranges::move(criticalservice::validateNew(*service, ownNamespace), std::back_inserter(problems));
  return problems;
}

// "spec.criteria[2] …" as "spec.criteria[] …": when an entry before it goes, it is the same problem.
std::string unnumbered(std::string_view message) {
  std::string text;
  bool isNumber = false;
  for (const char letter : message) {
    isNumber = letter == '[' || (isNumber && letter >= '0' && letter <= '9');
    if (!isNumber || letter == '[') text += letter;
  }
  return text;
}

// A problem that stood there before is no reason to refuse what may mend another.
void dropFormer(kube::Errors& problems, const kube::Errors& former) {
  std::multiset<std::string> stood;
  for (const kube::Error& problem : former) stood.insert(unnumbered(problem.message));
  std::erase_if(problems, [&](const kube::Error& problem) {
    const auto same = stood.find(unnumbered(problem.message));
    if (same == stood.end()) return false;
    stood.erase(same);
    return true;
  });
}

bool isGivenUp(const criticalservice::CriticalService& service) {
  return service.intent == criticalservice::DeletionIntent::OrphanResources;
}

// What the change would let go that is still needed. A criterion that is in doubt may be mended, and who
// gives the provider up gives its criteria up. Which types were seen stands in the status, which reviews
// leave out: until the watch has told of it, no criterion is taken for doubtful.
kube::Errors lostBy(const ClusterView& view, criticalservice::CriticalService former,
                    const criticalservice::CriticalService& after, const IsMet& isMet) {
  former.criteria = criticalservice::writtenCriteria(former);
  const bool isTold = view.service(former.meta.name) != nullptr;
  const std::vector<criticalservice::Criterion> doubted =
      isTold ? view.understood(former).criteria : former.criteria;
  return criticalservice::validateChange(former, after, [&](const criticalservice::Criterion& criterion) {
    const auto at = std::ranges::find(former.criteria, criterion) - former.criteria.begin();
    return isGivenUp(after) || !criticalservice::doubtOf(doubted[static_cast<size_t>(at)]).empty() ||
           isMet(criterion);
  });
}

// All that it has lastout do but for the list of dependencies.
bool commandsTheSame(const criticalservice::CriticalService& before,
                     const criticalservice::CriticalService& after) {
  return before.provider == after.provider && before.enforcement == after.enforcement &&
         before.guardsScaling == after.guardsScaling && before.deferral == after.deferral &&
         before.dependencies.mode == after.dependencies.mode;
}

std::set<kube::ObjectKey> listedObjects(const criticalservice::CriticalService& service) {
  std::set<kube::ObjectKey> objects;
  for (const criticalservice::Dependency& dependency : criticalservice::listedDependencies(service))
    objects.insert(dependency.object);
  return objects;
}

std::set<NeededRight> rightsOnProvider(const criticalservice::CriticalService& service) {
  std::set<NeededRight> rights;
  for (const kube::ObjectKey& object : providerWithNamespaceAndCrd(service, kube::ResourceMap::builtIn()))
    rights.insert({"delete", object});
  if (service.enforcement == criticalservice::EnforcementMode::Hold)
    rights.insert({"patch", service.provider});
  return rights;
}

// There is always a way out: the intent is not counted, where it is a word.
size_t countedBytes(std::string_view service) {
  constexpr size_t kLongestIntent = 64;
  const size_t at = service.find("\"deletionIntent\":");
  if (at == std::string_view::npos) return service.size();
  const size_t end = std::min(service.find_first_of(",}", at), service.size());
  return service.size() - std::min(end - at + 1, kLongestIntent);
}

}  // namespace

bool hasSameSpec(const kube::Object& before, const kube::Object& after) {
  const kube::Value* former = before.content.find("spec");
  const kube::Value* spec = after.content.find("spec");
  return former != nullptr && spec != nullptr && kube::toJson(*former) == kube::toJson(*spec);
}

kube::Errors serviceProblems(const ClusterView& view, const kube::ResourceMap& types,
                             std::string_view ownNamespace, const kube::Object* before,
                             const kube::Object& after, const IsMet& isMet) {
  if (before != nullptr && hasSameSpec(*before, after)) return {};
  kube::Errors problems = problemsOf(after, types, ownNamespace);
  if (before == nullptr) return problems;
  dropFormer(problems, problemsOf(*before, types, ownNamespace));
  // What stands there counts, which nobody may have told of yet; or else what it was understood to say.
  const auto standing = criticalservice::parseStanding(*before);
  const criticalservice::CriticalService* last = standing ? &*standing : view.service(before->key.name);
  const auto service = criticalservice::parseStanding(after);
  if (last == nullptr || !service) return problems;
  std::ranges::move(lostBy(view, *last, *service, isMet), std::back_inserter(problems));
  return problems;
}

kube::Errors serviceWarnings(const ClusterView& view, const kube::ResourceMap& types,
                             const kube::Object* before, const kube::Object& after, bool personsCount,
                             std::vector<WarningIfAbsent>& ifAbsent) {
  if (before != nullptr && hasSameSpec(*before, after)) return {};
  const auto service = criticalservice::parse(after, types);
  if (!service) return {};
  criticalservice::ValidationContext context = criticalservice::contextIn(view.graph());
  context.personsCount = personsCount;
  context.awaited = view.needsOf(*service).awaited;
  context.exists = [&](const kube::ObjectKey& key) {
    return graph::isBelievable(view.graph(), key.type) && !graph::isKnownToBeGone(view.graph(), key);
  };
  context.ifAbsent = [&](const kube::ObjectKey& object, std::string warning) {
    ifAbsent.emplace_back(object, std::move(warning));
  };
  return criticalservice::warnings(*service, types, context);
}

std::optional<kube::Error> tooLarge(std::string_view before, std::string_view after) {
  const size_t bytes = countedBytes(after);
  if (bytes <= std::max(kMostServiceBytes, countedBytes(before))) return std::nullopt;
  return kube::Error{
      "the CriticalService takes " + std::to_string(bytes) +
          " bytes without annotations, managedFields and status, and at most " +
          std::to_string(kMostServiceBytes) +
          " are read: leave out what it does not need of labels, owner references, criteria and "
          "dependencies",
      "",
      {}};
}

std::string toString(const NeededRight& right) {
  const kube::ObjectKey& object = right.object;
  if (!object.name.empty()) return right.verb + " " + kube::toString(object);
  return right.verb + " " + kube::toString(object.type) +
         (object.namespaceName.empty() ? "" : " in namespace " + object.namespaceName);
}

// What cannot be read guards nothing new, and is refused, unless it stood there before.
std::vector<NeededRight> rightsToWrite(const kube::Object* before, const kube::Object& after) {
  const auto service = criticalservice::parseStanding(after);
  if (!service) return {};
  std::optional<criticalservice::CriticalService> former;
  if (before != nullptr) {
    auto read = criticalservice::parseStanding(*before);
    if (read) former = std::move(*read);
  }
  if (former && isGivenUp(*service)) return {};
  const bool begins = !former || isGivenUp(*former) || !commandsTheSame(*former, *service);
  std::set<kube::ObjectKey> listed = listedObjects(*service);
  if (!begins) {
    const std::set<kube::ObjectKey> formerly = listedObjects(*former);
    if (listed == formerly) return {};
    std::erase_if(listed, [&](const kube::ObjectKey& object) { return formerly.contains(object); });
  }
  std::set<NeededRight> rights = rightsOnProvider(*service);
  for (const kube::ObjectKey& object : listed) rights.insert({"delete", object});
  return {rights.begin(), rights.end()};
}

std::string joinedMessages(const kube::Errors& errors) {
  std::string text;
  for (const kube::Error& error : errors) (text += text.empty() ? "" : "; ") += error.message;
  return text;
}

}  // namespace lastout::admission
