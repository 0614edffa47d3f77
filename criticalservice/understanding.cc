#include "criticalservice/understanding.h"

#include <algorithm>
#include <set>
#include <utility>

#include "criticalservice/provider_types.h"
#include "kube/messages.h"
#include "kube/patterns.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

constexpr std::string_view kMissing = "never seen: ";

std::string nameOf(const kube::GroupResource& type) { return kube::toString(type); }

class Understanding {
 public:
  Understanding(CriticalService& service, const KnownCriterionTypes& types)
      : service_(service), types_(types) {}

  void understand() {
    remember();
    for (Criterion& criterion : service_.criteria) {
      if (auto* finalizer = std::get_if<FinalizerCriterion>(&criterion))
        finalizer->doubt = doubtOfType(finalizer->type, finalizer->metIfNotInstalled);
      if (auto* specific = std::get_if<SpecificResourceCriterion>(&criterion))
        specific->doubt = doubtOfObject(criterion, *specific);
      if (auto* reference = std::get_if<ReferenceCriterion>(&criterion))
        reference->doubt = doubtOfReference(*reference);
    }
    service_.providerDoubt = doubtOfScope(service_.provider);
    service_.dependencyDoubts.clear();
    const std::vector<kube::ObjectKey>& listed = service_.dependencies.listed;
    for (size_t i = 0; i < listed.size(); ++i) {
      if (std::string doubt = doubtOfScope(listed[i]); !doubt.empty())
        service_.dependencyDoubts.emplace(i, std::move(doubt));
    }
  }

 private:
  // What is not defined by a CRD does not go: whoever starts after it was served must not take it for gone.
  void remember() {
    std::set<kube::GroupResource> named;
    for (const Criterion& criterion : service_.criteria) {
      if (std::holds_alternative<InstancesCriterion>(criterion)) continue;
      const auto defined = definedBy(criterion);
      named.insert(defined ? *defined : typeOf(criterion));
    }
    std::set<kube::GroupResource>& seen = service_.seenTypes;
    std::erase_if(seen, [&](const kube::GroupResource& type) {
      return std::ranges::none_of(named, [&](const auto& one) { return kube::coversTypes(one, type); });
    });
    for (const kube::GroupResource& type : named) {
      if (types_.isDefined(type)) rememberOne(type);
    }
    for (const kube::GroupResource& type : named) {
      if (kube::isTypePattern(type)) rememberMeant(type);
    }
  }

  void rememberMeant(const kube::GroupResource& pattern) {
    for (const kube::GroupResource& type : types_.all()) {
      if (kube::meansType(pattern, type) && types_.isDefined(type)) rememberOne(type);
    }
  }

  // As many as a status has room for.
  void rememberOne(const kube::GroupResource& type) {
    if (service_.seenTypes.size() < kMostSeenTypes) service_.seenTypes.insert(type);
  }

  bool isUnseen(const kube::GroupResource& type) const {
    return !types_.isThere(type) && !types_.wasThere(type) &&
           std::ranges::none_of(service_.seenTypes, [&](const kube::GroupResource& seen) {
             return kube::coversTypes(type, seen);
           });
  }
  bool isStrange(const kube::GroupResource& type) const { return isUnseen(type) && types_.isCertain(type); }

  std::string doubtOfType(const kube::GroupResource& type, bool metIfNotInstalled) const {
    if (!isStrange(type)) return {};
    if (!kube::isTypePattern(type) && types_.isServed(type.group)) {
      return "there is no type " + kube::inQuotes(type.resource) +
             (type.group.empty() ? " in the core group" : " in group " + kube::inQuotes(type.group)) +
             nearest(type, true, nameOf);
    }
    if (metIfNotInstalled) return {};
    return std::string(kMissing) + kube::toString(type) + " are not installed" +
           (kube::isTypePattern(type) ? nearestGroup(type.group) : nearest(type, false, nameOf));
  }

  // By a wrong kind no object would ever be meant.
  std::string doubtOfReference(const ReferenceCriterion& criterion) const {
    if (std::string doubt = doubtOfType(criterion.type, criterion.metIfNotInstalled); !doubt.empty())
      return doubt;
    const kube::WantedReference& wanted = criterion.reference;
    const kube::GroupResource& type = wanted.target.type;
    if (!wanted.fields.kind || !types_.isThere(type)) return {};
    const std::string kind = types_.kindOf(type);
    if (kind.empty()) return "it is not known yet of which kind " + kube::toString(type) + " are";
    if (isNamedByKind(type.resource, wanted.kind, kind)) return {};
    return "the kind of " + kube::toString(type) + " is " + kind + ": write kind: " + kind;
  }

  std::string doubtOfScope(const kube::ObjectKey& object) const {
    const bool hasNamespace = !object.namespaceName.empty();
    if (!types_.isThere(object.type) ||
        types_.isNamespaced(object.type).value_or(hasNamespace) == hasNamespace)
      return {};
    return kube::toString(object.type) + (hasNamespace ? " are cluster-scoped: leave the namespace out"
                                                       : " are namespaced: the namespace is missing");
  }

  std::string doubtOfObject(const Criterion& criterion, const SpecificResourceCriterion& specific) const {
    const kube::GroupResource& type = specific.object.type;
    if (std::string doubt = doubtOfType(type, specific.metIfNotInstalled); !doubt.empty()) return doubt;
    if (std::string doubt = doubtOfScope(specific.object); !doubt.empty()) return doubt;
    const auto defined = definedBy(criterion);
    if (!defined) return {};
    if (defined->group.empty())
      return "no CRD is called " + kube::inQuotes(specific.object.name) +
             ": that is the resource, a dot, and the group";
    // Which CRDs there are is known, whether or not the API server can say what it serves of the group.
    if (!isUnseen(*defined) || !types_.isCertain(kube::kCustomResourceDefinitions)) return {};
    if (types_.isServed(defined->group))
      return "there is no CRD " + kube::inQuotes(specific.object.name) +
             nearest(*defined, true, kube::crdName);
    if (specific.metIfNotInstalled) return {};
    return std::string(kMissing) + "CRD " + kube::inQuotes(specific.object.name) + " is not installed" +
           nearest(*defined, false, kube::crdName);
  }

  std::string nearestGroup(const std::string& group) const {
    std::vector<std::string> groups;
    for (const kube::GroupResource& known : types_.all()) {
      if (std::ranges::count(groups, known.group) == 0) groups.push_back(known.group);
    }
    return kube::didYouMean(group, {groups.begin(), groups.end()});
  }

  // "; did you mean ...?", where some type is called so, of the same group if it is to be.
  template <class Words>
  std::string nearest(const kube::GroupResource& type, bool inGroup, Words words) const {
    std::vector<std::string> names;
    for (const kube::GroupResource& known : types_.all()) {
      if (!inGroup || known.group == type.group) names.push_back(words(known));
    }
    return kube::didYouMean(words(type), {names.begin(), names.end()});
  }

  CriticalService& service_;
  const KnownCriterionTypes& types_;
};

}  // namespace

KnownCriterionTypes knownTypes(const kube::ResourceMap& types) {
  const auto isAny = [&types](const kube::GroupResource& type, bool orBuiltIn) {
    return std::ranges::any_of(types.types(), [&](const kube::ResourceType& known) {
      return kube::meansType(type, known.type) && (orBuiltIn || !known.builtIn);
    });
  };
  return {.isThere = [isAny](const kube::GroupResource& type) { return isAny(type, true); },
          .wasThere = [](const kube::GroupResource&) { return false; },
          .isDefined = [isAny](const kube::GroupResource& type) { return isAny(type, false); },
          .isCertain = [](const kube::GroupResource&) { return true; },
          .isNamespaced = [&types](const kube::GroupResource& type) -> std::optional<bool> {
            const kube::ResourceType* known = types.find(type);
            return known == nullptr ? std::nullopt : std::optional(known->namespaced);
          },
          .isServed =
              [&types](std::string_view group) {
                return std::ranges::any_of(
                    types.types(), [&](const kube::ResourceType& type) { return type.type.group == group; });
              },
          .all =
              [&types] {
                std::vector<kube::GroupResource> all;
                for (const kube::ResourceType& type : types.types()) all.push_back(type.type);
                return all;
              },
          .kindOf =
              [&types](const kube::GroupResource& type) {
                const kube::ResourceType* known = types.find(type);
                return known == nullptr ? std::string() : known->kind;
              }};
}

void understand(CriticalService& service, const KnownCriterionTypes& types) {
  if (service.notUnderstood.empty()) Understanding(service, types).understand();
}

bool namesGroup(const CriticalService& service, std::string_view group) {
  const auto isOfGroup = [&](const kube::ObjectKey& object) { return object.type.group == group; };
  if (isOfGroup(service.provider) || std::ranges::any_of(service.dependencies.listed, isOfGroup)) return true;
  return std::ranges::any_of(service.criteria, [&](const Criterion& criterion) {
    const auto* specific = std::get_if<SpecificResourceCriterion>(&criterion);
    const bool isOfCrd = specific != nullptr && specific->object.type == kube::kCustomResourceDefinitions;
    return kube::meansGroup(typeOf(criterion).group, group) ||
           (isOfCrd && specific->object.name.ends_with(group));
  });
}

bool isOfMissingType(std::string_view doubt) { return doubt.starts_with(kMissing); }

}  // namespace lastout::criticalservice
