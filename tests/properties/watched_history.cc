#include "tests/properties/watched_history.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "tests/properties/cluster_spec.h"
#include "tests/properties/dice.h"

namespace lastout::testing {

namespace watched {
const kube::GroupResource kProbes{"health.example.com", "probes"};
const kube::GroupResource kChecks{"health.example.com", "checks"};
const kube::GroupResource kValves{"plant.example.com", "valves"};
const kube::GroupResource kQuotes{"metrics.example.com", "quotes"};
const kube::ObjectKey kAlpha{{"apps", "deployments"}, "home", "alpha"};
const kube::ObjectKey kBeta{{"apps", "deployments"}, "home", "beta"};
const kube::ObjectKey kMisplacedValve{kValves, "home", "thing0"};
const kube::ObjectKey kMisplacedProbe{kProbes, "", "thing0"};

const std::vector<kube::GroupResource>& definable() {
  static const std::vector<kube::GroupResource> kTypes{kProbes, kChecks, kValves};
  return kTypes;
}

namespace {

const std::vector<kube::GroupResource>& slips() {
  static const std::vector<kube::GroupResource> kTypes{
      {"health.example.com", "probe"}, {"heath.example.com", "probes"},  {"plant.example.com", "valve"},
      {"health.example.com", "pods"},  {"metrics.example.com", "quote"}, {"", "configmap"}};
  return kTypes;
}

}  // namespace

bool isSlip(const kube::GroupResource& type) { return std::ranges::find(slips(), type) != slips().end(); }

bool isNamespaced(const kube::GroupResource& type) { return type == kProbes || type == kQuotes; }
}  // namespace watched

namespace {

using criticalservice::Criterion;
using criticalservice::CriticalService;
using criticalservice::DependencyMode;
using criticalservice::EnforcementMode;
using criticalservice::FinalizerCriterion;
using criticalservice::SpecificResourceCriterion;
using Kind = WatchedHappening::Kind;

class HistoryGenerator {
 public:
  explicit HistoryGenerator(uint64_t seed) : dice_(seed) {}

  WatchedHistory make() {
    for (const kube::ObjectKey& provider : {watched::kAlpha, watched::kBeta}) changeTemplate(provider);
    for (const kube::GroupResource& type : watched::definable()) {
      if (dice_.oneIn(2)) history_.push_back({.kind = Kind::CrdComes, .type = type});
    }
    discover();
    for (uint32_t count = 1 + dice_.below(3); count > 0; --count) writeService();
    for (uint32_t count = 10 + dice_.below(30); count > 0; --count) addSomething();
    return std::move(history_);
  }

 private:
  WatchedHappening& add(Kind kind) {
    history_.push_back({.kind = kind});
    return history_.back();
  }

  void addSomething() {
    switch (dice_.below(16)) {
      case 0:
      case 1:
        return writeService();
      case 2:
        return changeOneThing();
      case 3:
      case 4:
        return comeOrGo(dice_.pick(watched::definable()));
      case 5:
        return loseRights(dice_.pick(watched::definable()));
      case 6:
        add(Kind::RightsCome).type = dice_.pick(watched::definable());
        return;
      case 7:
        return breakWatch();
      case 8:
      case 9:
        return discover();
      case 10:
        add(Kind::Restart).isLate = dice_.oneIn(2);
        return;
      case 11:
        return changeTemplate(someProvider());
      case 12:
        add(Kind::OldPodsEnd).object = someProvider();
        return;
      case 13:
        return removeSomething();
      default:
        return addObject();
    }
  }

  kube::ObjectKey someProvider() { return dice_.oneIn(3) ? watched::kBeta : watched::kAlpha; }
  std::string someConfig() { return "config" + std::to_string(dice_.below(3)); }
  std::string someFinalizer() { return dice_.oneIn(2) ? "example.com/a" : "example.com/b"; }

  void changeTemplate(const kube::ObjectKey& provider) {
    WatchedHappening& change = add(Kind::TemplateChanges);
    change.object = provider;
    change.name = someConfig();
  }

  // Mostly soon after what it is to find.
  void discover() {
    WatchedHappening& discovery = add(Kind::Discovery);
    discovery.isLate = dice_.oneIn(4);
    if (dice_.oneIn(6)) discovery.name = dice_.pick(watched::definable()).group;
  }

  void comeOrGo(const kube::GroupResource& type) {
    if (dice_.oneIn(6)) {
      add(dice_.oneIn(2) ? Kind::ApiGoes : Kind::ApiComes).type = watched::kQuotes;
    } else {
      WatchedHappening& change = add(dice_.oneIn(2) ? Kind::CrdGoes : Kind::CrdComes);
      change.type = type;
      change.isLate = dice_.oneIn(2);
    }
    if (!dice_.oneIn(3)) discover();
  }

  // A bulk deletion takes the role together with the CRD, in any order.
  void loseRights(const kube::GroupResource& type) {
    const bool crdFirst = dice_.oneIn(2);
    const bool crdGoes = dice_.oneIn(2);
    if (crdGoes && crdFirst) add(Kind::CrdGoes).type = type;
    add(Kind::RightsGo).type = type;
    if (crdGoes && !crdFirst) add(Kind::CrdGoes).type = type;
    if (crdGoes && dice_.oneIn(3)) add(Kind::Restart).isLate = dice_.oneIn(2);
    if (dice_.oneIn(2)) discover();
  }

  void breakWatch() {
    const kube::GroupResource type = dice_.pick(watched::definable());
    add(dice_.oneIn(3) ? Kind::WatchMends : Kind::WatchBreaks).type = type;
    if (dice_.oneIn(3)) add(Kind::TimePasses);
  }

  void addObject() {
    WatchedHappening& change = add(dice_.oneIn(3) ? Kind::ObjectGoes : Kind::ObjectComes);
    change.object = someObject();
    if (dice_.oneIn(2)) change.finalizers.push_back(someFinalizer());
  }

  kube::ObjectKey someObject() {
    const std::vector<kube::GroupResource> types{watched::kProbes, watched::kChecks, watched::kValves,
                                                 watched::kQuotes, types::kConfigMaps};
    const kube::GroupResource type = dice_.pick(types);
    const bool namespaced = type == types::kConfigMaps || watched::isNamespaced(type);
    return {type, namespaced ? "elsewhere" : "", "thing" + std::to_string(dice_.below(2))};
  }

  void removeSomething() {
    if (dice_.oneIn(2)) {
      add(Kind::RemoveService).name = "service" + std::to_string(dice_.below(watched::kServices));
    } else {
      add(dice_.oneIn(2) ? Kind::ObjectGoes : Kind::ObjectComes).object = someProvider();
    }
  }

  // --- CriticalServices

  void write(const CriticalService& service) {
    WatchedHappening& write = add(Kind::WriteService);
    write.service = service;
    write.writesKinds = dice_.oneIn(2);
  }

  void writeService() {
    const uint32_t number = dice_.oneIn(4) ? 3 + dice_.below(2) : dice_.below(3);
    CriticalService service;
    service.meta.name = "service" + std::to_string(number);
    service.provider = providerOf(number);
    for (uint32_t count = 1 + dice_.below(3); count > 0; --count) addCriterion(service);
    if (dice_.oneIn(4)) service.intent = static_cast<criticalservice::DeletionIntent>(dice_.below(3));
    if (number < 3 && dice_.oneIn(2)) service.enforcement = EnforcementMode::Hold;
    chooseDependencies(service);
    write(service);
  }

  // Which cannot be changed.
  static const kube::ObjectKey& providerOf(uint32_t number) {
    static const kube::ObjectKey* const kProviders[watched::kServices] = {
        &watched::kAlpha, &watched::kAlpha, &watched::kBeta, &watched::kMisplacedValve,
        &watched::kMisplacedProbe};
    return *kProviders[number];
  }

  // An UPDATE of the last one that was written.
  void changeOneThing() {
    const auto last = std::find_if(history_.rbegin(), history_.rend(),
                                   [](const WatchedHappening& one) { return one.service.has_value(); });
    if (last == history_.rend()) return;
    CriticalService service = *last->service;
    switch (dice_.below(6)) {
      case 4:
        toggleScope(service);
        break;
      case 0:
        service.enforcement =
            service.enforcement == EnforcementMode::Hold ? EnforcementMode::Deny : EnforcementMode::Hold;
        break;
      case 1:
        if (service.criteria.size() > 1) service.criteria.pop_back();
        break;
      case 2:
        addCriterion(service);
        break;
      case 3:
        chooseDependencies(service);
        break;
      default:
        service.intent = static_cast<criticalservice::DeletionIntent>(dice_.below(3));
    }
    write(service);
  }

  kube::NamespaceScope someScope(const CriticalService& service) {
    const std::string& home = service.provider.namespaceName;
    if (home.empty() || dice_.oneIn(3)) return kube::NamespaceScope::within({"elsewhere"});
    if (dice_.oneIn(2)) return kube::NamespaceScope::outside(home);
    return dice_.oneIn(2) ? kube::NamespaceScope::within({home, "elsewhere"})
                          : kube::NamespaceScope::within({home});
  }

  void toggleScope(CriticalService& service) {
    auto* finalizer = std::get_if<FinalizerCriterion>(&service.criteria.front());
    if (finalizer == nullptr || !watched::isNamespaced(finalizer->type)) return;
    finalizer->scope = finalizer->scope.kind == kube::NamespaceScope::Kind::All ? someScope(service)
                                                                                : kube::NamespaceScope();
  }

  void chooseDependencies(CriticalService& service) {
    service.dependencies = {};
    service.dependencies.mode = static_cast<DependencyMode>(dice_.below(3));
    if (service.dependencies.mode == DependencyMode::Listed) service.dependencies.listed = {someListed()};
  }

  kube::ObjectKey someListed() {
    if (!dice_.oneIn(4)) return {types::kConfigMaps, "home", someConfig()};
    return dice_.oneIn(2) ? watched::kMisplacedValve : watched::kMisplacedProbe;
  }

  void addCriterion(CriticalService& service) {
    Criterion criterion = someCriterion();
    auto* finalizer = std::get_if<FinalizerCriterion>(&criterion);
    if (finalizer != nullptr && watched::isNamespaced(finalizer->type) && dice_.oneIn(2))
      finalizer->scope = someScope(service);
    const auto isSame = [&](const Criterion& other) { return isOfSame(other, criterion); };
    if (std::ranges::none_of(service.criteria, isSame)) service.criteria.push_back(std::move(criterion));
  }

  // Twice the same is refused, whatever each says of a type that is not installed.
  static bool isOfSame(Criterion one, Criterion other) {
    const auto strip = [](auto& criterion) {
      if constexpr (requires { criterion.metIfNotInstalled; }) criterion.metIfNotInstalled = false;
    };
    std::visit(strip, one);
    std::visit(strip, other);
    return one == other;
  }

  Criterion someCriterion() {
    const bool metIfNotInstalled = dice_.oneIn(4);
    const bool isWrong = dice_.oneIn(5);
    const std::vector<kube::GroupResource> types{watched::kProbes, watched::kChecks, watched::kValves,
                                                 watched::kQuotes};
    if (dice_.oneIn(6)) return FinalizerCriterion{someGroup(), someFinalizer(), metIfNotInstalled};
    if (dice_.oneIn(2))
      return FinalizerCriterion{isWrong ? dice_.pick(watched::slips()) : dice_.pick(types), someFinalizer(),
                                metIfNotInstalled};
    if (dice_.oneIn(3)) return SpecificResourceCriterion{someCrd(isWrong), metIfNotInstalled};
    SpecificResourceCriterion criterion{someObject(), metIfNotInstalled};
    if (isWrong && dice_.oneIn(2))
      criterion.object.type = dice_.pick(watched::slips());
    else if (isWrong)
      criterion.object.namespaceName = criterion.object.namespaceName.empty() ? "elsewhere" : "";
    return criterion;
  }

  // All types of one, or of all below a domain.
  kube::GroupResource someGroup() {
    if (dice_.oneIn(3)) return {"*.example.com", "*"};
    return {dice_.oneIn(2) ? watched::kProbes.group : dice_.pick(watched::definable()).group, "*"};
  }

  kube::ObjectKey someCrd(bool isWrong) {
    if (!isWrong) return kube::crdKey(dice_.pick(watched::definable()));
    const std::vector<std::string> names{"probe.health.example.com", "probes.heath.example.com",
                                         "valve.plant.example.com", "probes"};
    return {types::kCrds, "", dice_.pick(names)};
  }

  Dice dice_;
  WatchedHistory history_;
};

std::string textOf(const CriticalService& service) {
  std::string text = service.meta.name + " of " + kube::toString(service.provider) + " intent " +
                     std::string(criticalservice::toString(service.intent)) + ", " +
                     std::string(criticalservice::toString(service.enforcement));
  for (const Criterion& criterion : service.criteria) {
    text += ", after " + criticalservice::toString(criterion);
    const auto isMet = [](const auto& one) {
      if constexpr (requires { one.metIfNotInstalled; }) return one.metIfNotInstalled;
      return false;
    };
    if (std::visit(isMet, criterion)) text += " (met if not installed)";
  }
  if (service.dependencies.mode == DependencyMode::None) text += ", alone";
  for (const kube::ObjectKey& needed : service.dependencies.listed) text += ", needs " + toString(needed);
  return text;
}

std::string textOf(const WatchedHappening& happening) {
  static const std::vector<std::string_view> kWords{
      "write",        "remove service", "CRD comes:",   "CRD goes:",     "API comes:",      "API goes:",
      "discovery",    "rights go:",     "rights come:", "watch breaks:", "watch mends:",    "time passes",
      "object comes", "object goes",    "template of",  "old Pods end:", "lastout restarts"};
  std::string text(kWords[static_cast<size_t>(happening.kind)]);
  if (!happening.type.resource.empty()) text += " " + kube::toString(happening.type);
  if (!happening.object.name.empty()) text += " " + kube::toString(happening.object);
  for (const std::string& finalizer : happening.finalizers) text += " +" + finalizer;
  if (happening.service) text += " " + textOf(*happening.service);
  if (happening.writesKinds) text += " (kinds for resources)";
  if (happening.kind == Kind::Discovery && !happening.name.empty()) text += " but of";
  if (happening.kind == Kind::TemplateChanges) text += " mounts";
  if (!happening.name.empty()) text += " " + happening.name;
  if (happening.isLate) text += " (late)";
  return text;
}

}  // namespace

WatchedHistory watchedHistory(uint64_t seed) { return HistoryGenerator(seed).make(); }

std::string describe(const WatchedHistory& history) {
  std::string text;
  for (const WatchedHappening& happening : history) text += textOf(happening) + "\n";
  return text;
}

}  // namespace lastout::testing
