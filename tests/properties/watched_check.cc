#include "tests/properties/watched_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tests/properties/cluster_spec.h"
#include "tests/properties/verdicts.h"
#include "tests/properties/watched_cluster.h"

namespace lastout::testing {

namespace {

using admission::DeletionEffect;
using admission::Reason;
using criticalservice::Criterion;
using criticalservice::CriticalService;
using criticalservice::DeletionIntent;
using criticalservice::FinalizerCriterion;
using criticalservice::SpecificResourceCriterion;
using Kind = WatchedHappening::Kind;

// What of a criterion is wrong whatever the types.
enum class Slip : uint8_t { None, Type, CrdName, Scope };

Slip slipOf(const Criterion& criterion) {
  if (watched::isSlip(criticalservice::typeOf(criterion))) return Slip::Type;
  const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
  if (specific == nullptr) return Slip::None;
  const kube::ObjectKey& object = specific->object;
  if (object.type == types::kCrds)
    return std::ranges::count(watched::definable(), kube::definedBy(object.name)) == 0 ? Slip::CrdName
                                                                                       : Slip::None;
  const bool isNamespaced = object.type == types::kConfigMaps || watched::isNamespaced(object.type);
  return isNamespaced == object.namespaceName.empty() ? Slip::Scope : Slip::None;
}

bool isMetWhereNotInstalled(const Criterion& criterion) {
  const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
  const auto* finalizer = std::get_if<FinalizerCriterion>(&criterion);
  return (specific != nullptr && specific->metIfNotInstalled) ||
         (finalizer != nullptr && finalizer->metIfNotInstalled);
}

class HistoryCheck {
 public:
  explicit HistoryCheck(Coverage& coverage) : coverage_(coverage) {}

  std::string run(const WatchedHistory& history) {
    for (size_t i = 0; i < history.size(); ++i) {
      std::string failure = history[i].service ? checkWrite(history[i]) : checkOther(history[i]);
      if (failure.empty()) failure = checkVerdicts();
      if (failure.empty()) failure = checkSeenTypes();
      if (!failure.empty()) return failure + " (after happening " + std::to_string(i + 1) + ")";
    }
    return {};
  }

 private:
  const ToldCluster& told() const { return cluster_.told(); }

  std::string checkOther(const WatchedHappening& happening) {
    count(happening);
    cluster_.play(happening);
    if (happening.kind == Kind::TemplateChanges) countNeeds(happening.object);
    return {};
  }

  // --- CREATE and UPDATE

  std::string checkWrite(const WatchedHappening& write) {
    const CriticalService& after = *write.service;
    const auto standing = told().services.find(after.meta.name);
    const std::string problems = cluster_.problemsOf(write);
    if (standing == told().services.end()) {
      if (problems.empty()) cluster_.play(write);
      coverage_.count(problems.empty() ? "created" : "refused to be created");
      return {};
    }
    const CriticalService before = standing->second;
    const bool isLost = losesWhatIsNeeded(before, after);
    if (isLost && problems.empty()) return "an UPDATE may drop a criterion that is not met";
    if (isWayOut(before, after) && !problems.empty()) return "there is no way out: " + problems;
    if (!problems.empty()) {
      coverage_.count(isLost ? "UPDATE that drops a criterion, refused" : "UPDATE refused");
      return {};
    }
    const bool isNeeded = cluster_.isProviderThere(before.provider) && !areMet(before);
    countUpdate(before, after);
    cluster_.play(write);
    return checkWeakening(before, after, isNeeded);
  }

  // "May always be changed", or nothing is changed at all.
  static bool isWayOut(const CriticalService& before, const CriticalService& after) {
    return after.criteria == before.criteria && after.enforcement == before.enforcement &&
           after.dependencies == before.dependencies;
  }

  // "One that leaves nothing out asks for more", and so does one of more namespaces, or of a group.
  static bool isStillAsked(const CriticalService& service, const Criterion& criterion) {
    return std::ranges::any_of(service.criteria, [&](Criterion one) {
      auto* finalizer = std::get_if<FinalizerCriterion>(&one);
      const auto* asked = std::get_if<FinalizerCriterion>(&criterion);
      if (finalizer == nullptr || asked == nullptr) return one == criterion;
      const kube::NamespaceScope scope = std::exchange(finalizer->scope, asked->scope);
      const kube::GroupResource type = std::exchange(finalizer->type, asked->type);
      std::set<std::string> spaces = {"elsewhere"};
      spaces.insert(scope.names.begin(), scope.names.end());
      spaces.insert(asked->scope.names.begin(), asked->scope.names.end());
      const std::vector<kube::GroupResource> types = typesThatCouldBe(*asked);
      return one == criterion &&
             std::ranges::all_of(types,
                                 [&](const kube::GroupResource& each) {
                                   return isMeant(type, each) || !isMeant(asked->type, each);
                                 }) &&
             std::ranges::all_of(spaces, [&](const std::string& space) {
               return scope.includes(asked->type, space, "") ||
                      !asked->scope.includes(asked->type, space, "");
             });
    });
  }

  // Its own, those that there are, and one more in each group and in a group of its own.
  static std::vector<kube::GroupResource> typesThatCouldBe(const FinalizerCriterion& asked) {
    std::vector<kube::GroupResource> types = watched::definable();
    types.push_back(watched::kQuotes);
    for (size_t i = types.size(); i-- > 0;) types.push_back({types[i].group, "unheard"});
    types.push_back({"new.example.com", "unheard"});
    if (asked.type.resource != "*") types.push_back(asked.type);
    return types;
  }

  static bool isMeant(const kube::GroupResource& named, const kube::GroupResource& type) {
    if (named.resource != "*") return named == type;
    return named.group.front() == '*' ? type.group.ends_with(named.group.substr(1))
                                      : type.group == named.group;
  }

  // "A criterion cannot be removed, or altered, while it is not known to be met", unless it is not understood
  // or the provider is given up.
  bool losesWhatIsNeeded(const CriticalService& before, const CriticalService& after) {
    if (after.intent == DeletionIntent::OrphanResources) return false;
    return std::ranges::any_of(before.criteria, [&](const Criterion& criterion) {
      const bool stays = isStillAsked(after, criterion);
      return !stays && isUnderstoodByTheDocument(plain(), before, criterion) && !isMet(before, criterion);
    });
  }

  bool isMet(const CriticalService& service, const Criterion& criterion) {
    CriticalService alone = service;
    alone.criteria = {criterion};
    alone.intent = DeletionIntent::Ordered;
    PlainCluster one = plain();
    one.services = {alone};
    return verdictByTheDocument(one, service.provider).allowed;
  }

  bool areMet(const CriticalService& service) {
    return std::ranges::all_of(service.criteria,
                               [&](const Criterion& criterion) { return isMet(service, criterion); });
  }

  // "Seen, and told while criteria are unmet; so is weakening one's own CriticalService."
  std::string checkWeakening(const CriticalService& before, const CriticalService& after, bool isNeeded) {
    const bool isTold = std::ranges::any_of(cluster_.weakened(), [](const admission::Weakening& one) {
      return one.kind == admission::Weakening::Kind::CriticalService;
    });
    const bool isWeaker = before.intent != DeletionIntent::OrphanResources &&
                          (after.intent > before.intent || after.enforcement != before.enforcement);
    if (isWeaker && isNeeded && !isTold) return "a CriticalService becomes weaker, and nobody is told";
    if (isTold && !isNeeded) return "somebody is told although nothing depends on it";
    if (isTold && before.intent == after.intent && isWayOut(before, after))
      return "somebody is told although nothing has changed";
    if (isTold) coverage_.count("weakening told");
    return {};
  }

  // --- verdicts

  const PlainCluster& plain() {
    if (!plain_) plain_ = plainOf(told());
    return *plain_;
  }

  std::string checkVerdicts() {
    plain_.reset();
    std::string found;
    cluster_.view().inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
      for (const kube::ObjectKey& key : mayBeGuarded()) {
        for (const DeletionEffect deletionEffect : {DeletionEffect::Ending, DeletionEffect::Held}) {
          PlainVerdict verdict = verdictByTheDocument(plain(), key, deletionEffect);
          if (found.empty())
            found = disagreementOnGraph(view.graph(), view.guards(), key, verdict, deletionEffect);
        }
      }
    });
    if (found.empty()) found = checkConfirmation();
    if (found.empty()) found = checkScopes();
    if (!found.empty()) return found;
    for (const auto& [name, service] : told().services) {
      if (service.intent == DeletionIntent::OrphanResources) continue;
      if (std::string slip = checkSlips(service); !slip.empty()) return slip;
      countKnowledge(service);
    }
    return {};
  }

  std::vector<kube::ObjectKey> mayBeGuarded() const {
    std::vector<kube::ObjectKey> keys{
        watched::kAlpha,
        watched::kBeta,
        namespaceKey("home"),
        kube::crdKey(watched::kProbes),
        kube::crdKey(watched::kValves),
        {watched::kValves, "", watched::kMisplacedValve.name},  // what was meant
        {watched::kProbes, "elsewhere", watched::kMisplacedProbe.name}};
    for (uint32_t i = 0; i < watched::kServices; ++i)
      keys.push_back({types::kCriticalServices, "", "service" + std::to_string(i)});
    for (int i = 0; i < 3; ++i) {
      // A dependency of a provider that is not there may go; of which one it was then is nobody's question.
      if (cluster_.isProviderThere(watched::kAlpha) && cluster_.isProviderThere(watched::kBeta))
        keys.push_back({types::kConfigMaps, "home", "config" + std::to_string(i)});
    }
    return keys;
  }

  // What an ALLOW rests on has to be read once more: of a provider whose scope does not fit nobody can read
  // that it is gone.
  std::string checkConfirmation() {
    for (const kube::ObjectKey& key : mayBeGuarded()) {
      const PlainVerdict verdict = verdictByTheDocument(plain(), key);
      if (!verdict.allowed || !verdict.guarded) continue;
      const admission::PreliminaryVerdict judged = cluster_.view().judge(key, told().now);
      const bool isReadable = std::ranges::all_of(judged.toConfirm, [&](const graph::Condition& condition) {
        return condition.kind != graph::Condition::Kind::Object ||
               fitsItsScopeByTheDocument(plain(), {condition.type, condition.namespaceName, condition.name});
      });
      if (isReadable == verdict.unconfirmable)
        return "DELETE of " + kube::toString(key) + (verdict.unconfirmable ? " can" : " cannot") +
               " be confirmed, and the document says otherwise";
      if (verdict.unconfirmable)
        coverage_.count("denied, as nobody can confirm that a misplaced provider is gone");
    }
    return {};
  }

  // Between a CRD and the next discovery nobody knows the scope of its type.
  std::string checkScopes() {
    std::string found;
    const auto isTold = [&](const kube::ObjectKey& object) {
      return told().served.contains(object.type) || !told().definitions.contains(object.type);
    };
    cluster_.view().inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
      for (const auto& [name, service] : told().services) {
        const CriticalService& known = *view.service(name);
        const bool fits = fitsItsScopeByTheDocument(plain(), service.provider);
        if (isTold(service.provider) && fits != known.providerDoubt.empty())
          found = "the scope of the provider of " + name + (fits ? " is" : " is not") + " doubted";
        if (!fits) coverage_.count("slip in the provider's scope");
        for (size_t i = 0; i < service.dependencies.listed.size(); ++i) {
          const kube::ObjectKey& listed = service.dependencies.listed[i];
          const bool isOfThatScope = fitsItsScopeByTheDocument(plain(), listed);
          if (isTold(listed) && isOfThatScope == known.dependencyDoubts.contains(i))
            found = "the scope of a dependency of " + name + (isOfThatScope ? " is" : " is not") + " doubted";
          if (!isOfThatScope) coverage_.count("slip in a dependency's scope");
        }
      }
    });
    return found;
  }

  // Whatever else is known: what is misspelt is never met. (What is of a group that is not there may be
  // said not to matter; a CRD of such a group is not there for certain.)
  std::string checkSlips(const CriticalService& service) {
    for (const Criterion& criterion : service.criteria) {
      const Slip slip = slipOf(criterion);
      const bool isOfNothing = !isGroupThere(criterion);
      if (slip == Slip::None || (isOfNothing && (isMetWhereNotInstalled(criterion) || slip != Slip::Type)))
        continue;
      if (slip == Slip::Scope && !isTypeThere(criticalservice::typeOf(criterion))) continue;
      const auto judged = cluster_.view().judge(service.provider, told().now);
      if (judged.verdict.allowed)
        return "a slip is taken for met: " + criticalservice::toString(criterion) + " of " +
               service.meta.name;
      constexpr std::array<const char*, 4> kNames{"", "type", "CRD's name", "scope"};
      coverage_.count("slip in the " + std::string(kNames[static_cast<size_t>(slip)]));
      if (slip == Slip::Type && isMetWhereNotInstalled(criterion))
        coverage_.count("slip although met if not installed");
    }
    return {};
  }

  bool isTypeThere(const kube::GroupResource& type) const {
    return type == types::kConfigMaps || told().definitions.contains(type) || told().served.contains(type);
  }

  bool isGroupThere(const Criterion& criterion) const {
    const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
    const bool isCrd = specific != nullptr && specific->object.type == types::kCrds;
    const kube::GroupResource type =
        isCrd ? kube::definedBy(specific->object.name) : criticalservice::typeOf(criterion);
    const auto isOfGroup = [&](const kube::GroupResource& other) { return other.group == type.group; };
    return type.group.empty() || std::ranges::any_of(told().definitions, isOfGroup) ||
           std::ranges::any_of(told().served, isOfGroup);
  }

  std::string checkSeenTypes() {
    std::string found;
    cluster_.view().inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
      for (const auto& [name, seen] : told().seenBy) {
        if (view.service(name)->seenTypes != seen) found = "status.seenTypes of " + name + " are others";
      }
    });
    return found;
  }

  // --- what was drawn

  void count(const WatchedHappening& happening) {
    const bool isNamed = isAwaited(happening.type);
    if (happening.kind == Kind::CrdComes && isNamed && !told().definitions.contains(happening.type)) {
      coverage_.count(told().wereDefined.contains(happening.type) ? "a CRD comes again"
                                                                  : "a CRD comes after its criterion");
    }
    if (happening.kind == Kind::CrdGoes && isNamed && told().definitions.contains(happening.type))
      coverage_.count("a criterion's CRD goes");
    if (happening.kind == Kind::RightsGo && isNamed) coverage_.count("rights go");
    if (happening.kind == Kind::Restart) restarted_ = true;
    if (happening.kind == Kind::CrdComes) restarted_ = false;
  }

  bool isAwaited(const kube::GroupResource& type) const {
    return std::ranges::any_of(told().services, [&](const auto& one) {
      return std::ranges::any_of(one.second.criteria, [&](const Criterion& criterion) {
        return criticalservice::typeOf(criterion) == type;
      });
    });
  }

  void countUpdate(const CriticalService& before, const CriticalService& after) {
    if (before.criteria != after.criteria) coverage_.count("UPDATE of criteria");
    if (before.enforcement != after.enforcement) coverage_.count("UPDATE of enforcement");
    if (!(before.dependencies == after.dependencies)) coverage_.count("UPDATE of dependencies");
    if (before.intent != after.intent)
      coverage_.count("UPDATE to " + std::string(criticalservice::toString(after.intent)));
  }

  // What a criterion's answer comes from.
  void countKnowledge(const CriticalService& service) {
    for (const Criterion& criterion : service.criteria) {
      const kube::GroupResource& type = criticalservice::typeOf(criterion);
      if (slipOf(criterion) != Slip::None || std::ranges::count(watched::definable(), type) == 0) continue;
      const bool isUnderstood = isUnderstoodByTheDocument(plain(), service, criterion);
      const bool isForbidden = told().refused.contains(type);
      if (!isUnderstood) coverage_.count("type never seen");
      if (isUnderstood && isMetWhereNotInstalled(criterion) && !told().wereDefined.contains(type))
        coverage_.count("type never seen, met if not installed");
      if (isForbidden && told().definitions.contains(type)) coverage_.count("forbidden, CRD there");
      if (!isGoneWithItsCrd(told(), type)) continue;
      coverage_.count(restarted_ ? "absent, after a restart" : "absent");
      if (isForbidden) coverage_.count("absent, although forbidden");
      if (told().served.contains(type)) coverage_.count("absent, and discovery still names it");
    }
  }

  void countNeeds(const kube::ObjectKey& provider) {
    const std::vector<ToldTemplate>& all = told().templates.at(provider);
    const bool isEarlierNeeded = std::ranges::any_of(
        all, [&](const ToldTemplate& one) { return one.hasPods && one.config != all.back().config; });
    if (!isEarlierNeeded) return;
    for (const auto& [name, service] : told().services) {
      if (service.provider == provider && needsByTheDocument(told(), service).size() > 1)
        coverage_.count("an earlier template's ConfigMap is needed");
    }
  }

  Coverage& coverage_;
  WatchedCluster cluster_;
  std::optional<PlainCluster> plain_;
  bool restarted_ = false;  // since a CRD has come last
};

}  // namespace

std::string checkHistory(const WatchedHistory& history, Coverage& coverage) {
  return HistoryCheck(coverage).run(history);
}

const std::vector<std::string>& wantedOfHistories() {
  static const std::vector<std::string> kWanted{
      "slip in the type",
      "slip in the CRD's name",
      "slip in the scope",
      "slip in the provider's scope",
      "slip in a dependency's scope",
      "denied, as nobody can confirm that a misplaced provider is gone",
      "slip although met if not installed",
      "type never seen",
      "type never seen, met if not installed",
      "a CRD comes after its criterion",
      "a CRD comes again",
      "a criterion's CRD goes",
      "absent",
      "absent, after a restart",
      "absent, although forbidden",
      "absent, and discovery still names it",
      "rights go",
      "forbidden, CRD there",
      "UPDATE of criteria",
      "UPDATE of enforcement",
      "UPDATE of dependencies",
      "UPDATE to Ordered",
      "UPDATE to BestEffortDeletion",
      "UPDATE to OrphanResources",
      "UPDATE that drops a criterion, refused",
      "weakening told",
      "an earlier template's ConfigMap is needed"};
  return kWanted;
}

}  // namespace lastout::testing
