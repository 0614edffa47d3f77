// parse() and parseStanding(): a CriticalService's manifest; every finding names its field.
#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "criticalservice/critical_service.h"
#include "criticalservice/provider_types.h"
#include "kube/ascii.h"
#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/object_references.h"
#include "kube/patterns.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

using kube::Fields;

struct CriterionMember {
  std::string_view type;
  std::string_view name;
};
constexpr std::array kMembers{CriterionMember{"Finalizer", "finalizer"},
                              CriterionMember{"SpecificResource", "specificResource"},
                              CriterionMember{"Reference", "reference"}};

constexpr size_t kMostCriteria = 256;   // the CRD compares each with each, which may cost API servers so much
constexpr size_t kMostListed = 64;      // dependencies
constexpr size_t kMostNamespaces = 64;  // of one criterion
constexpr size_t kMostSelectorWords = 64;  // keys and values of one criterion's selector
constexpr size_t kDeepestField = 16;       // keys
constexpr size_t kLongestField = 253;      // bytes

// lastout reads nothing of what is in Secrets, and follows the other three from the beginning, without their
// fields.
bool mayBeAsked(const kube::GroupResource& type) {
  return type != kube::kSecrets && type != kube::kNamespaces && type != kube::kCustomResourceDefinitions &&
         type != criticalServiceType();
}

// What stands in other notations of paths: "$", "/spec", "0".
bool isNoKey(std::string_view key) {
  return key.starts_with('$') || key.starts_with('/') ||
         std::ranges::all_of(key, [](char c) { return kube::isDigit(c); });
}

// A backslash is for dots alone.
bool hasOtherEscapes(std::string_view text) {
  for (size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at + 2))
    if (at + 1 == text.size() || text[at + 1] != '.') return true;
  return false;
}

// Returns true if a criterion is about objects that name the provider.
bool hasReferences(Fields& spec) {
  const kube::Value* list = spec.value().find("criteria");
  return list != nullptr && list->asList() != nullptr &&
         std::ranges::any_of(*list->asList(), [](const kube::Value& criterion) {
           const kube::Value* reference = criterion.find("reference");
           return kube::textAt(criterion, {"type"}) == "Reference" && reference != nullptr &&
                  reference->find("target") == nullptr;
         });
}

// Reads one manifest; errors gather in errors_.
class ServiceParser {
 public:
  // `checked`: what was written can be what was meant, beside the types that there are.
  ServiceParser(const kube::Object& object, const kube::ResourceMap& types, bool checked)
      : object_(object), types_(types), checked_(checked) {}

  tl::expected<CriticalService, kube::Errors> read();
  // Reads what it can; fails when the provider cannot be read.
  tl::expected<CriticalService, kube::Errors> readStanding();

 private:
  void readSeenTypes(Fields& status);
  void readSpec(Fields spec);
  void readProvider(Fields provider, bool isNamed);
  void readEnforcement(Fields& spec);
  void readDeferral(Fields& spec);
  void readGuard(Fields guard);
  void readListed(Fields& guard, size_t count);
  void refuseDependency(Fields& fields, const kube::ObjectKey& named);
  std::optional<Criterion> readCriterion(Fields& fields);
  std::optional<Criterion> readFinalizer(Fields fields, bool metIfNotInstalled);
  std::optional<Criterion> readSpecific(Fields fields, bool metIfNotInstalled);
  std::optional<Criterion> readReference(Fields fields, bool metIfNotInstalled);
  std::optional<kube::FieldPath> readPath(Fields& fields, std::string_view key);
  std::string readKind(Fields& fields, const kube::GroupResource& target);
  void checkTargets(Fields& spec, const std::vector<std::optional<Criterion>>& criteria);
  void refuseDuplicates(Fields& spec, const std::vector<std::optional<Criterion>>& criteria);
  kube::NamespaceScope readScope(Fields& fields);
  kube::NamespaceScope readNamespaces(Fields namespaces);
  kube::NamespaceScope readSelector(Fields& namespaces, const kube::Value& value, bool isNamed);
  void refuseScope(Fields& fields, std::string_view field, const kube::GroupResource& type);
  static void refuseUnwatched(Fields& fields, const kube::GroupResource& type, const std::string& finalizer);
  void refuseSelfBlocking(Fields& fields, const kube::ObjectKey& named);

  std::optional<kube::GroupResource> readType(Fields& fields);
  std::optional<kube::GroupResource> readTypes(Fields& fields);
  std::string_view whyNoPattern(const std::string& group) const;
  std::optional<kube::GroupResource> resolve(Fields& fields, const std::string& group,
                                             const std::string& resource);
  void refuseType(Fields& fields, const std::string& group, const std::string& resource);
  std::optional<kube::ObjectKey> readObject(Fields& fields);
  void checkScope(Fields& fields, const kube::GroupResource& type, bool hasNamespace);
  void checkName(Fields& fields, std::string_view field, const kube::GroupResource& type,
                 const std::string& name);

  const kube::Object& object_;
  const kube::ResourceMap& types_;
  const bool checked_;
  kube::Errors errors_;
  CriticalService service_;
};

tl::expected<CriticalService, kube::Errors> ServiceParser::read() {
  Fields document(object_.content, object_.file, "", errors_);
  document.allow({"apiVersion", "kind", "metadata"});
  if (object_.apiVersion != kube::kLastoutApiVersion) {
    document.fail("apiVersion", "apiVersion must be " + std::string(kube::kLastoutApiVersion) + ", not " +
                                    kube::inQuotes(object_.apiVersion));
  }
  service_.meta = object_.meta;
  if (std::optional<Fields> spec = document.requiredFields("spec")) readSpec(std::move(*spec));
  // Others than people write the status: a newer lastout's fields are no error here.
  if (std::optional<Fields> status = document.fields("status")) {
    if (std::optional<Fields> provider = status->fields("provider")) {
      service_.providerUid = provider->string("uid").value_or("");
    }
    readSeenTypes(*status);
    service_.deferredDeletions = readDeferredDeletions(object_.content);
  }
  document.finish();
  if (!errors_.empty()) return tl::unexpected(std::move(errors_));
  return std::move(service_);
}

// What is no type's name was seen nowhere.
void ServiceParser::readSeenTypes(Fields& status) {
  const kube::Value* list = status.any("seenTypes");
  if (list == nullptr || list->asList() == nullptr) return;
  for (const kube::Value& one : *list->asList()) {
    if (service_.seenTypes.size() == kMostSeenTypes) return;
    const std::string* name = one.asString();
    if (name == nullptr) continue;
    const kube::GroupResource type = kube::definedBy(*name);
    if (kube::isDnsSubdomain(*name) || (kube::isTypePattern(type) && whyNoPattern(type.group).empty()))
      service_.seenTypes.insert(type);
  }
}

// What cannot be understood guards: the provider stays until somebody mends the spec, or gives it up.
tl::expected<CriticalService, kube::Errors> ServiceParser::readStanding() {
  auto understood = read();
  if (understood || service_.provider.name.empty()) return understood;
  service_.notUnderstood = std::move(understood.error());
  std::vector<std::string> problems;
  problems.reserve(service_.notUnderstood.size());
  for (const kube::Error& problem : service_.notUnderstood) problems.push_back(problem.message);
  service_.criteria = {
      SpecificResourceCriterion{.object = keyOf(service_), .doubt = kube::joinedClauses(problems, 1)}};
  return std::move(service_);
}

void ServiceParser::readSpec(Fields spec) {
  if (std::optional<Fields> provider = spec.requiredFields("provider"))
    readProvider(std::move(*provider), hasReferences(spec));

  std::vector<std::optional<Criterion>> criteria;
  const kube::Value* list = spec.requiredList("criteria");
  if (list != nullptr && list->asList()->empty()) {
    spec.fail("criteria",
              spec.pathOf("criteria") + " is empty: name at least one thing that must be gone first");
  }
  if (list != nullptr && list->asList()->size() > kMostCriteria) {
    spec.fail("criteria",
              spec.pathOf("criteria") + " has more than " + std::to_string(kMostCriteria) + " entries");
  } else {
    for (Fields& item : spec.items("criteria")) criteria.push_back(readCriterion(item));
  }
  if (checked_) refuseDuplicates(spec, criteria);
  for (const std::optional<Criterion>& criterion : criteria) {
    if (criterion) service_.criteria.push_back(*criterion);
  }

  if (const auto word = spec.oneOf("deletionIntent", {"Ordered", "BestEffortDeletion", "OrphanResources"})) {
    for (const DeletionIntent intent :
         {DeletionIntent::Ordered, DeletionIntent::BestEffortDeletion, DeletionIntent::OrphanResources}) {
      if (*word == toString(intent)) service_.intent = intent;
    }
  }
  readEnforcement(spec);
  readDeferral(spec);
  if (std::optional<Fields> guard = spec.fields("guard")) readGuard(std::move(*guard));
  if (checked_ && service_.guardsScaling && !service_.provider.name.empty() &&
      whyNoProvider(service_.provider.type, types_))
    spec.fail("guard", spec.pathOf("guard") + ".scaleToZero: " + kube::toString(service_.provider.type) +
                           " have no replicas");
  if (checked_) checkTargets(spec, criteria);
  spec.finish();
}

// The former name counts where the field itself is not given.
void ServiceParser::readDeferral(Fields& spec) {
  const auto former = spec.oneOf("replay", {"Controllers", "Always", "Never"});
  const auto word = spec.oneOf("deferredDeletions", {"Controllers", "Always", "Never"});
  service_.hasFormerReplay = spec.has("replay");
  for (const DeferralMode deferral : {DeferralMode::Controllers, DeferralMode::Always, DeferralMode::Never}) {
    if ((word ? word : former) == toString(deferral)) service_.deferral = deferral;
  }
}

// A finalizer is no help where what runs ends with the termination, or where nobody knows: there one that
// stands already denies.
void ServiceParser::readEnforcement(Fields& spec) {
  if (spec.oneOf("enforcement", {"Deny", "Hold"}) != "Hold") return;
  const kube::GroupResource& type = service_.provider.type;
  if (canBeHeld(type)) {
    service_.enforcement = EnforcementMode::Hold;
  } else if (checked_ && !type.resource.empty()) {
    spec.fail("enforcement", spec.pathOf("enforcement") + ": Hold is for " + heldTypesInWords() +
                                 ", whose Pods outlive their termination; write Deny for a provider of " +
                                 kube::toString(type));
  }
}

void ServiceParser::readGuard(Fields guard) {
  service_.guardsScaling = guard.boolean("scaleToZero").value_or(false);
  const kube::Value* dependencies = guard.any("dependencies");
  if (dependencies != nullptr && dependencies->asList() != nullptr) {
    readListed(guard, dependencies->asList()->size());
  } else if (dependencies != nullptr && dependencies->asString() == nullptr) {
    guard.fail("dependencies", guard.pathOf("dependencies") +
                                   " must be Auto, None, or a list of what the provider needs, not " +
                                   std::string(kube::kindName(*dependencies)));
  } else if (guard.oneOf("dependencies", {"Auto", "None"}) == "None") {
    service_.dependencies.mode = DependencyMode::None;
  }
  guard.finish();
}

void ServiceParser::readListed(Fields& guard, size_t count) {
  service_.dependencies.mode = DependencyMode::Listed;
  if (count > kMostListed) {
    guard.fail("dependencies",
               guard.pathOf("dependencies") + " has more than " + std::to_string(kMostListed) + " entries");
    return;
  }
  for (Fields& item : guard.items("dependencies")) {
    std::optional<kube::ObjectKey> key = readObject(item);
    if (key && checked_) refuseDependency(item, *key);
    item.finish();
    if (key) service_.dependencies.listed.push_back(std::move(*key));
  }
}

// `isNamed`: a criterion is about objects that name the provider.
void ServiceParser::readProvider(Fields provider, bool isNamed) {
  if (std::optional<kube::ObjectKey> key = readObject(provider)) {
    const auto why = isNamed ? whyNotNamed(key->type) : whyNoProvider(key->type, types_);
    if (checked_ && why) {
      provider.fail("resource", provider.pathOf("resource") + ": " + kube::toString(key->type) + " " + *why);
    }
    service_.provider = std::move(*key);
  }
  provider.finish();
}

std::optional<Criterion> ServiceParser::readCriterion(Fields& fields) {
  const auto type = fields.oneOf("type", {"Finalizer", "SpecificResource", "Reference"});
  const bool typeIsMissing = !fields.has("type");
  if (typeIsMissing)
    fields.fail("type", fields.pathOf("type") + " is missing: Finalizer, SpecificResource or Reference");
  // All members are read, so that what is wrong in one that does not belong here is not called unknown.
  std::map<std::string_view, std::optional<Fields>> members;
  for (const auto& [ofType, member] : kMembers) members.emplace(member, fields.fields(member));
  const bool metIfNotInstalled = fields.oneOf("ifNotInstalled", {"Unknown", "Met"}) == "Met";
  fields.finish();
  if (!type) return std::nullopt;

  const std::string_view wanted = std::ranges::find(kMembers, *type, &CriterionMember::type)->name;
  for (const auto& [member, content] : members) {
    if (member == wanted || !fields.has(member)) continue;
    fields.fail(member, fields.pathOf(member) + " does not belong to type " + *type +
                            ": a criterion has one member, " + std::string(wanted));
  }
  if (!fields.has(wanted)) {
    fields.fail(wanted, fields.pathOf(wanted) + " is missing: type " + *type + " needs it");
    return std::nullopt;
  }
  std::optional<Fields>& content = members.at(wanted);
  if (!content) return std::nullopt;
  if (*type == "Finalizer") return readFinalizer(std::move(*content), metIfNotInstalled);
  if (*type == "Reference") return readReference(std::move(*content), metIfNotInstalled);
  return readSpecific(std::move(*content), metIfNotInstalled);
}

std::optional<Criterion> ServiceParser::readSpecific(Fields fields, bool metIfNotInstalled) {
  const std::optional<kube::ObjectKey> key = readObject(fields);
  for (const std::string_view field : {kExceptField, kNamespacesField}) {
    if (fields.any(field) != nullptr)
      fields.fail(field, fields.pathOf(field) +
                             " must be left out: a SpecificResource names one object, and has no others");
  }
  fields.finish();
  if (!key) return std::nullopt;
  if (checked_) refuseSelfBlocking(fields, *key);
  return SpecificResourceCriterion{*key, metIfNotInstalled};
}

std::optional<Criterion> ServiceParser::readReference(Fields fields, bool metIfNotInstalled) {
  if (fields.string("resource") == "*") {
    fields.fail("resource", fields.pathOf("resource") + " must be one type: \"*\" is for finalizers");
    return std::nullopt;
  }
  std::optional<kube::GroupResource> type = readType(fields);
  if (type && !mayBeAsked(*type))
    fields.fail("resource",
                fields.pathOf("resource") + ": lastout does not read the fields of " + kube::toString(*type));
  if (type && !hasObjects(*type))
    fields.fail("resource", fields.pathOf("resource") + ": " + kube::toString(*type) + " cannot be listed");
  fields.requiredString("field");
  std::optional<kube::FieldPath> name = readPath(fields, "field");
  ReferenceCriterion criterion;
  criterion.metIfNotInstalled = metIfNotInstalled;
  criterion.reference.fields.namespaceName = readPath(fields, "namespaceField");
  criterion.reference.fields.kind = readPath(fields, "kindField");
  std::optional<Fields> target = fields.fields("target");
  std::optional<kube::ObjectKey> named;
  if (target)
    named = readObject(*target);
  else if (!service_.provider.name.empty())
    named = service_.provider;
  if (target) target->finish();
  if (named) criterion.reference.kind = readKind(fields, named->type);
  fields.finish();
  if (named && !kube::isPlainName(named->name))
    fields.fail("target", fields.path() + ": a name with control characters cannot be looked for");
  if (!type || !name || !named || !kube::isPlainName(named->name)) return std::nullopt;
  criterion.type = std::move(*type);
  criterion.reference.fields.name = std::move(*name);
  criterion.reference.target = std::move(*named);
  return criterion;
}

std::optional<kube::FieldPath> ServiceParser::readPath(Fields& fields, std::string_view key) {
  const std::optional<std::string> text = fields.string(key);
  if (!text || text->empty()) return std::nullopt;
  std::optional<kube::FieldPath> path = kube::parseFieldPath(*text);
  const bool isWhole = path && path->keys.size() <= kDeepestField && text->size() <= kLongestField &&
                       std::ranges::none_of(path->keys, isNoKey) && !hasOtherEscapes(*text) &&
                       std::ranges::none_of(*text, [](char c) {
                         return static_cast<unsigned char>(c) <= ' ' ||
                                std::string_view("[]*\"'").find(c) != std::string_view::npos;
                       });
  if (isWhole) return path;
  fields.fail(key, fields.pathOf(key) + " must be keys with dots between them, as in spec.vpcRef.name, not " +
                       kube::inQuotes(*text) + "; of a list, each item counts");
  return std::nullopt;
}

// Reads the kind by which objects name those of the type.
std::string ServiceParser::readKind(Fields& fields, const kube::GroupResource& target) {
  std::string kind = fields.string("kind").value_or("");
  const bool isAsked = !fields.string("kindField").value_or("").empty();
  const auto isAlphanumeric = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (!std::ranges::all_of(kind, isAlphanumeric)) {
    fields.fail("kind",
                fields.pathOf("kind") + ": " + kube::inQuotes(kind) + " is no kind, such as Deployment");
    kind.clear();
  }
  if (!kind.empty() && !isAsked)
    fields.fail("kind", fields.pathOf("kind") + " must be left out without kindField");
  const kube::ResourceType* known = types_.find(target);
  const bool isOfAny = kind.empty() && !isAsked;
  if (checked_ && known != nullptr && !isOfAny && !isNamedByKind(target.resource, kind, known->kind)) {
    const std::string_view field = kind.empty() ? "kindField" : "kind";
    fields.fail(field, fields.pathOf(field) + ": the kind of " + kube::toString(target) + " is " +
                           known->kind + "; write kind: " + known->kind);
  }
  // A kind that follows from the resource is left out, so that criteria with and without it are equal.
  return kube::isRegularPlural(target.resource, kind) ? std::string() : kind;
}

std::optional<Criterion> ServiceParser::readFinalizer(Fields fields, bool metIfNotInstalled) {
  std::optional<kube::GroupResource> type = readTypes(fields);
  std::string name = fields.requiredString("finalizerName");
  if (!name.empty() && !kube::isQualifiedName(name) && !kube::isValidFinalizerPattern(name)) {
    fields.fail(
        "finalizerName",
        fields.pathOf("finalizerName") + ": " + kube::inQuotes(name) +
            " is no finalizer's name, which looks like example.com/clean-up, or example.com/clean-* for "
            "all that begin so");
    name.clear();
  }
  kube::NamespaceScope scope = readScope(fields);
  fields.finish();
  if (!type || name.empty()) return std::nullopt;
  if (checked_) refuseUnwatched(fields, *type, name);
  if (checked_ && scope.kind != kube::NamespaceScope::Kind::All) refuseScope(fields, fieldOf(scope), *type);
  FinalizerCriterion criterion{std::move(*type), std::move(name), metIfNotInstalled};
  criterion.scope = std::move(scope);
  return criterion;
}

kube::NamespaceScope ServiceParser::readScope(Fields& fields) {
  const std::string& home = service_.provider.namespaceName;
  const bool excepts = fields.boolean(kExceptField).value_or(false);
  std::optional<Fields> namespaces = fields.fields(kNamespacesField);
  if (namespaces && excepts)
    fields.fail(kExceptField, fields.pathOf(kExceptField) + " does not go with " +
                                  fields.pathOf(kNamespacesField) + ": write one of the two");
  if (namespaces) return readNamespaces(std::move(*namespaces));
  if (checked_ && excepts && home.empty() && !service_.provider.name.empty())
    fields.fail(kExceptField,
                fields.pathOf(kExceptField) + " must be left out: the provider is in no namespace");
  return excepts && !home.empty() ? kube::NamespaceScope::outside(home) : kube::NamespaceScope();
}

kube::NamespaceScope ServiceParser::readNamespaces(Fields namespaces) {
  const std::string& home = service_.provider.namespaceName;
  const std::vector<std::string> listed = namespaces.strings("names");
  const bool isHome = namespaces.boolean("sameAsProvider").value_or(false);
  const kube::Value* selector = namespaces.any("selector");
  namespaces.finish();
  if (selector != nullptr) return readSelector(namespaces, *selector, isHome || !listed.empty());
  for (const std::string& name : listed) checkName(namespaces, "names", kube::kNamespaces, name);
  std::set<std::string> names(listed.begin(), listed.end());
  if (names.size() < listed.size())
    namespaces.fail("names", namespaces.pathOf("names") + " has a name twice");
  if (listed.size() > kMostNamespaces)
    namespaces.fail("names", namespaces.pathOf("names") + " has more than " +
                                 std::to_string(kMostNamespaces) + " namespaces");
  if (isHome) names.insert(home);
  if (listed.empty() && !isHome)
    namespaces.fail(
        "names", namespaces.path() + " says no namespace: give names, sameAsProvider: true, or a selector");
  if (isHome && home.empty() && !service_.provider.name.empty())
    namespaces.fail("sameAsProvider", namespaces.pathOf("sameAsProvider") +
                                          " must be left out: the provider is in no namespace");
  return kube::NamespaceScope::within(std::move(names));
}

// In the order of their texts, each requirement once, so that selectors that say the same are equal.
kube::NamespaceScope ServiceParser::readSelector(Fields& namespaces, const kube::Value& value, bool isNamed) {
  const std::string path = namespaces.pathOf("selector");
  if (isNamed)
    namespaces.fail("selector", path + " does not go with names or sameAsProvider: write one of them");
  auto selector = kube::parseSelector(value, "", path);
  if (!selector) {
    namespaces.fail("selector", selector.error().message);
    return {};
  }
  std::map<std::string, kube::SelectorRequirement> byText;
  size_t words = 0;
  for (kube::SelectorRequirement& one : selector->requirements) {
    const std::set<std::string> values(one.values.begin(), one.values.end());
    one.values.assign(values.begin(), values.end());
    words += 1 + one.values.size();
    byText.emplace(toString(kube::LabelSelector{{one}}), one);
  }
  if (byText.empty())
    namespaces.fail("selector", path + " selects all namespaces: leave namespaces out, or name a label");
  if (words > kMostSelectorWords)
    namespaces.fail("selector",
                    path + " has more than " + std::to_string(kMostSelectorWords) + " keys and values");
  kube::LabelSelector sorted;
  for (auto& [text, one] : byText) sorted.requirements.push_back(std::move(one));
  return kube::NamespaceScope::selectedBy(toString(sorted));
}

// Refuses a scope where the type's objects are in no namespace.
void ServiceParser::refuseScope(Fields& fields, std::string_view field, const kube::GroupResource& type) {
  const kube::ResourceType* known = types_.find(type);
  if (known == nullptr || known->namespaced || type == kube::kNamespaces) return;
  fields.fail(field,
              fields.pathOf(field) + " must be left out: " + kube::toString(type) + " are cluster-scoped");
}

// Finalizers that say nothing about a controller's clean-up, or are not where finalizers are looked for.
void ServiceParser::refuseUnwatched(Fields& fields, const kube::GroupResource& type,
                                    const std::string& finalizer) {
  std::string_view why;
  if (finalizer.starts_with(std::string(kube::kLastoutGroup) + "/")) {
    why = "is lastout's own, which comes and goes as criteria ask for it";
  } else if (type == kube::kNamespaces && finalizer == kube::kNamespaceSpecFinalizer) {
    why =
        "is in a Namespace's spec.finalizers, and criteria look at metadata.finalizers: name the Namespace "
        "in a "
        "SpecificResource";
  } else {
    return;
  }
  fields.fail("finalizerName",
              fields.pathOf("finalizerName") + ": " + kube::inQuotes(finalizer) + " " + std::string(why));
}

// Refuses a target that is neither the provider nor a listed dependency.
void ServiceParser::checkTargets(Fields& spec, const std::vector<std::optional<Criterion>>& criteria) {
  const std::vector<kube::ObjectKey>& listed = service_.dependencies.listed;
  const kube::Value* list = spec.value().find("criteria");
  for (size_t i = 0; i < criteria.size(); ++i) {
    const auto* reference = criteria[i] ? std::get_if<ReferenceCriterion>(&*criteria[i]) : nullptr;
    if (reference == nullptr) continue;
    const kube::ObjectKey& target = reference->reference.target;
    if (target == service_.provider || std::ranges::count(listed, target) > 0) continue;
    spec.failAt(list->asList()->at(i),
                spec.pathOf("criteria") + "[" + std::to_string(i) +
                    "].reference.target: " + kube::toString(target) + " must be the provider, or listed in " +
                    std::string(kDependenciesField) + ", so that it goes after the provider");
  }
}

void ServiceParser::refuseDuplicates(Fields& spec, const std::vector<std::optional<Criterion>>& criteria) {
  const kube::Value* list = spec.value().find("criteria");
  for (size_t i = 0; i < criteria.size(); ++i) {
    if (!criteria[i]) continue;
    const auto first = std::find(criteria.begin(), criteria.begin() + i, criteria[i]);
    if (first == criteria.begin() + i) continue;
    spec.failAt(list->asList()->at(i), spec.pathOf("criteria") + "[" + std::to_string(i) + "] repeats " +
                                           spec.pathOf("criteria") + "[" +
                                           std::to_string(first - criteria.begin()) + "]");
  }
}

// A criterion on something that itself waits for the provider, or for what the provider waits for, is never
// met.
void ServiceParser::refuseSelfBlocking(Fields& fields, const kube::ObjectKey& named) {
  const kube::ObjectKey& provider = service_.provider;
  const auto& crds = kube::kCustomResourceDefinitions;
  std::string_view why;
  if (provider.name.empty()) return;  // it was not readable, and has its own message
  if (named == provider) {
    why = "is the provider itself";
  } else if (named == keyOf(service_)) {
    why = "is this CriticalService, which stays until its provider is gone";
  } else if (named == kube::namespaceKey(provider.namespaceName)) {
    why = "is the namespace of the provider, which stays until the criteria hold";
  } else if (named == kube::ObjectKey{crds, "", kube::crdName(provider.type)}) {
    why = "is the CRD of the provider, which stays until the criteria hold";
  } else if (named == kube::ObjectKey{crds, "", kube::crdName(criticalServiceType())}) {
    why = "is the CRD of CriticalServices, which stays until this one may go";
  } else {
    return;
  }
  fields.fail("name", fields.path() + ": " + kube::toString(named) + " " + std::string(why) +
                          ", so this criterion could never be met");
}

// A dependency goes after the provider: that is nothing new for some, and can not be so of others.
void ServiceParser::refuseDependency(Fields& fields, const kube::ObjectKey& named) {
  const kube::ObjectKey& provider = service_.provider;
  const std::optional<std::string> whyNoType = whyNoDependency(named.type, types_);
  std::string_view why;
  if (named == provider) {
    why = "is the provider itself";
  } else if (named == keyOf(service_)) {
    why = "is this CriticalService, which stays until its provider is gone anyway";
  } else if (named == kube::namespaceKey(provider.namespaceName)) {
    why = "is the namespace of the provider, which is guarded anyway";
  } else if (whyNoType) {
    why = *whyNoType;
  } else if (std::ranges::any_of(service_.criteria, [&](const Criterion& criterion) {
               const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
               return specific != nullptr && specific->object == named;
             })) {
    why = "is what the provider waits for (spec.criteria), so it cannot go after the provider";
  } else {
    return;
  }
  fields.fail("name", fields.path() + ": " + kube::toString(named) + " " + std::string(why));
}

std::optional<kube::ObjectKey> ServiceParser::readObject(Fields& fields) {
  std::optional<kube::GroupResource> type = readType(fields);
  const std::optional<std::string> namespaceName = fields.string("namespace");
  std::string name = fields.requiredString("name");
  if (!type) return std::nullopt;
  if (!name.empty()) checkName(fields, "name", *type, name);
  if (namespaceName && !namespaceName->empty())
    checkName(fields, "namespace", kube::kNamespaces, *namespaceName);

  if (checked_) checkScope(fields, *type, namespaceName && !namespaceName->empty());
  if (name.empty()) return std::nullopt;
  return kube::ObjectKey{std::move(*type), namespaceName.value_or(""), std::move(name)};
}

void ServiceParser::checkScope(Fields& fields, const kube::GroupResource& type, bool hasNamespace) {
  const kube::ResourceType* known = types_.find(type);
  if (known == nullptr || known->namespaced == hasNamespace) return;
  const std::string field = fields.pathOf("namespace");
  fields.fail("namespace", field + (hasNamespace ? " must be left out: " : " is missing: ") +
                               kube::toString(type) +
                               (hasNamespace ? " are cluster-scoped" : " are namespaced"));
}

void ServiceParser::checkName(Fields& fields, std::string_view field, const kube::GroupResource& type,
                              const std::string& name) {
  if (const auto problem = kube::nameProblem(type, name)) {
    fields.fail(field, fields.pathOf(field) + ": " + kube::inQuotes(name) + " " + *problem);
  }
}

// A type, or all types of a group or of several.
std::optional<kube::GroupResource> ServiceParser::readTypes(Fields& fields) {
  const std::string group = fields.string("group").value_or("");
  const std::string resource = fields.string("resource").value_or("");
  if (resource != "*" && !kube::isGroupPattern(group)) return readType(fields);
  if (resource != "*") {
    fields.fail("resource", fields.pathOf("resource") + " must be \"*\": " + kube::inQuotes(group) +
                                " means several groups");
    return std::nullopt;
  }
  if (const std::string_view why = whyNoPattern(group); !why.empty()) {
    fields.fail("group", fields.pathOf("group") + ": " + kube::inQuotes(group) + " " + std::string(why));
    return std::nullopt;
  }
  return kube::GroupResource{group, resource};
}

// lastout has no right to read whatever Kubernetes itself has.
std::string_view ServiceParser::whyNoPattern(const std::string& group) const {
  const std::string_view domain =
      kube::isGroupPattern(group) ? std::string_view(group).substr(2) : std::string_view(group);
  if (!group.empty() && !kube::isDnsSubdomain(domain))
    return "is no name of an API group, nor \"*.\" and a domain";
  if (domain.find('.') == std::string_view::npos)
    return kube::isGroupPattern(group)
               ? "is too wide: the domain needs a dot, as in *.example.com"
               : "has types of Kubernetes' own: \"*\" is for groups of custom resources, which have a dot";
  if (kube::meansGroup(group, kube::kLastoutGroup))
    return "has lastout's own types: name a group without them";
  const auto isOfKubernetes = [&](const kube::ResourceType& type) {
    return type.builtIn && kube::meansGroup(group, type.type.group);
  };
  const auto& builtIn = kube::ResourceMap::builtIn().types();
  if (std::ranges::any_of(builtIn, isOfKubernetes))
    return "has types of Kubernetes' own: \"*\" is for groups of custom resources";
  return {};
}

std::optional<kube::GroupResource> ServiceParser::readType(Fields& fields) {
  const std::string group = fields.string("group").value_or("");
  const std::string resource = fields.requiredString("resource");
  if (group.find('/') != std::string::npos) {
    fields.fail("group", fields.pathOf("group") + " is written without a version: " +
                             kube::inQuotes(group.substr(0, group.find('/'))) + ", not " +
                             kube::inQuotes(group));
    return std::nullopt;
  }
  if (!group.empty() && !kube::isDnsSubdomain(group)) {
    fields.fail("group",
                fields.pathOf("group") + ": " + kube::inQuotes(group) + " is no name of an API group");
    return std::nullopt;
  }
  if (resource.empty()) return std::nullopt;
  return resolve(fields, group, resource);
}

// The type that the two words mean: a resource, or a kind in its place, as the document writes it: a built-in
// one, for a kind that a CRD brings means nothing without it. A type that nobody knows is taken as it stands
// if a CRD could still bring it.
std::optional<kube::GroupResource> ServiceParser::resolve(Fields& fields, const std::string& group,
                                                          const std::string& resource) {
  if (types_.find({group, resource}) != nullptr) return kube::GroupResource{group, resource};
  if (const kube::ResourceType* type = types_.findKind(group, resource); type != nullptr && type->builtIn)
    return type->type;
  const size_t errors = errors_.size();
  refuseType(fields, group, resource);
  if (errors_.size() > errors) return std::nullopt;
  return kube::GroupResource{group, resource};
}

// Unless a CRD could bring it.
void ServiceParser::refuseType(Fields& fields, const std::string& group, const std::string& resource) {
  if (!checked_ && kube::isDnsLabel(resource)) return;
  std::vector<std::string_view> sameGroup;
  const kube::ResourceType* meant = nullptr;  // by its kind, singular or short name, or in another group
  for (const kube::ResourceType& type : types_.types()) {
    if (type.type.group == group) sameGroup.push_back(type.type.resource);
    const bool otherName = type.kind == resource || type.singular == resource ||
                           std::ranges::count(type.shortNames, resource) > 0;
    if (type.type.group == group && otherName) meant = &type;
    if (group.empty() && meant == nullptr && (type.type.resource == resource || type.kind == resource))
      meant = &type;
  }
  const bool installable = group.find('.') != std::string::npos;  // a CRD's group has a dot
  if (installable && meant == nullptr && kube::isDnsLabel(resource)) return;

  std::string message = fields.pathOf("resource") + ": there is no type " + kube::inQuotes(resource) +
                        (group.empty() ? " in the core group" : " in group " + kube::inQuotes(group));
  if (meant != nullptr) {
    message += "; write resource: " + meant->type.resource;
    if (meant->type.group != group) message += " and group: " + meant->type.group;
  } else if (const std::string near = kube::didYouMean(resource, sameGroup); !near.empty()) {
    message += near;
  } else {
    message += ": a resource is the lower-case plural, as in `kubectl api-resources`";
  }
  fields.fail("resource", std::move(message));
}

}  // namespace

tl::expected<CriticalService, kube::Errors> parse(const kube::Object& object,
                                                  const kube::ResourceMap& types) {
  return ServiceParser(object, types, true).read();
}

tl::expected<CriticalService, kube::Errors> parseStanding(const kube::Object& object) {
  return ServiceParser(object, kube::ResourceMap::builtIn(), false).readStanding();
}

}  // namespace lastout::criticalservice
