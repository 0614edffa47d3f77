#include "server/webhook/policy_entries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "kube/well_known.h"
#include "protection/cel.h"
#include "protection/implied.h"

namespace lastout::server {
namespace {

using nlohmann::json;
using protection::AncestorTest;
using protection::Block;
using protection::Case;
using protection::CaseScope;
using protection::DeletionPolicy;
using protection::KeyTest;
using protection::Selection;

json requirement(const std::string& key, std::string_view how, const std::vector<std::string>& values = {}) {
  json made = {{"key", key}, {"operator", how}};
  if (!values.empty()) made["values"] = values;
  return made;
}

json selectorOf(json requirements) {
  return requirements.empty() ? json::object() : json{{"matchExpressions", std::move(requirements)}};
}

void addLabels(json& requirements, const kube::LabelSelector& selector) {
  for (const kube::SelectorRequirement& one : selector.requirements)
    requirements.push_back(requirement(one.key, toString(one.op), one.values));
}

// The rules of one policy: what is done to objects of some types.
class PolicyRules {
 public:
  explicit PolicyRules(const DeletionPolicy& policy)
      : deletes_(policy.blocksAny(Block::Delete) || policy.blocksAny(Block::Orphan)),
        updates_(policy.blocksAny(Block::Unprotect)) {}

  void add(const std::string& group, const std::string& resource, const char* scope = "*") {
    if (deletes_) addRule("DELETE", group, json::array({resource}), scope);
    if (!updates_) return;
    // Labels and annotations can be taken away through subresources, too.
    addRule("UPDATE", group,
            resource == "*" ? json::array({"*/*"}) : json::array({resource, resource + "/*"}), scope);
  }
  const json& all() const { return rules_; }

 private:
  void addRule(const char* operation, const std::string& group, json resources, const char* scope) {
    rules_.push_back({{"operations", {operation}},
                      {"apiGroups", {group}},
                      {"apiVersions", {"*"}},
                      {"resources", std::move(resources)},
                      {"scope", scope}});
  }

  const bool deletes_;
  const bool updates_;
  json rules_ = json::array();
};

// All webhooks of all policies; those that ask the same are one.
class Entries {
 public:
  explicit Entries(const std::string& ownNamespace) : excluded_(unaskedNamespaces(ownNamespace)) {}

  struct Where {
    json objectSelector = json::array();     // requirements
    json namespaceSelector = json::array();  // requirements
    std::string condition = {};
  };
  void add(const DeletionPolicy& policy, const json& rules, Where where) {
    if (rules.empty()) return;
    json namespaces = std::move(where.namespaceSelector);
    namespaces.push_back(requirement(kube::kNamespaceNameLabel, "NotIn", excluded_));
    WebhookEntry entry{policy.webhookName, rules, selectorOf(std::move(namespaces)),
                       std::move(where.condition)};
    entry.objectSelector = selectorOf(std::move(where.objectSelector));
    entry.failsClosed = policy.failsClosed;
    if (std::ranges::find(all_, entry) == all_.end()) all_.push_back(std::move(entry));
  }
  std::vector<WebhookEntry> take() { return std::move(all_); }

 private:
  const std::vector<std::string> excluded_;
  std::vector<WebhookEntry> all_;
};

json namespacesIn(const std::vector<std::string>& names) {
  return names.empty() ? json::array() : json::array({requirement(kube::kNamespaceNameLabel, "In", names)});
}

// "oldObject.metadata.name in ['a','b']"; empty: any, or more than an expression may name.
std::string namesCondition(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + protection::celLiteral(name);
  if (text.empty() || text.size() > kMostConditionBytes) return "";
  return "oldObject.metadata.name in [" + text + "]";
}

PolicyRules rulesOf(const DeletionPolicy& policy, const Selection& selection, const char* scope = "*") {
  PolicyRules rules(policy);
  for (const protection::ResourcePattern& pattern : selection.resources)
    rules.add(pattern.group, pattern.resource, scope);
  return rules;
}

const std::string* labelsOf(const AncestorTest& test, size_t index) {
  const std::string* const labels[] = {&test.nameLabel, &test.kindLabel, &test.versionLabel,
                                       &test.groupLabel};
  return labels[index];
}

// Where the objects of a selection are.
struct Scope {
  const char* ofRules = "*";
  std::vector<std::string> namespaces = {};  // empty: any
};

// An empty name among the namespaces stands for what is cluster-scoped.
std::vector<Scope> scopesOf(const Selection& selection) {
  if (selection.namespaces.empty()) return {{}};
  std::vector<Scope> scopes;
  std::vector<std::string> named = selection.namespaces;
  if (std::erase(named, "") > 0) scopes.push_back({"Cluster"});
  if (!named.empty()) scopes.push_back({"Namespaced", std::move(named)});
  return scopes;
}

// One webhook for each of the four labels, of which one is enough; each object is asked about by one of them.
void addByAncestor(Entries& entries, const DeletionPolicy& policy, const Selection& selection,
                   const AncestorTest& test, const Entries::Where& where, const std::string& scope) {
  constexpr size_t kLabels = 4;
  const auto only = [&](json requirements, size_t which) {
    for (size_t i = 0; i < which; ++i)
      requirements.push_back(requirement(*labelsOf(test, i), "DoesNotExist"));
    requirements.push_back(requirement(*labelsOf(test, which), "Exists"));
    return requirements;
  };
  for (size_t which = 0; which < kLabels; ++which) {
    Entries::Where own = where;
    own.objectSelector = only(std::move(own.objectSelector), which);
    entries.add(policy, rulesOf(policy, selection, scope.c_str()).all(), std::move(own));
  }
  if (!test.orOfNamespace || scope == "Cluster") return;
  for (size_t which = 0; which < kLabels; ++which) {
    Entries::Where inNamespace = where;
    for (size_t i = 0; i < kLabels; ++i)
      inNamespace.objectSelector.push_back(requirement(*labelsOf(test, i), "DoesNotExist"));
    inNamespace.namespaceSelector = only(std::move(inNamespace.namespaceSelector), which);
    // What is in no namespace matches every selector by namespace.
    entries.add(policy, rulesOf(policy, selection, "Namespaced").all(), std::move(inNamespace));
  }
}

// The DELETE of what the policy's finalizer holds is accepted, also while lastout is down: what another
// operator deletes is asked about, and what has no finalizer yet.
std::string conditionFor(const DeletionPolicy& policy, const Selection& selection) {
  std::string names = namesCondition(selection.names);
  if (!policy.hold) return names;
  const std::string notHeld = protection::celOfNotHeld(*policy.hold);
  return names.empty() ? notHeld : "(" + names + ") && (" + notHeld + ")";
}

// nullptr: the policy protects at all times.
void addCase(Entries& entries, const DeletionPolicy& policy, const Selection& selection, const Case* one) {
  for (const Scope& scope : scopesOf(selection)) {
    Entries::Where where{json::array(), namespacesIn(scope.namespaces), conditionFor(policy, selection)};
    addLabels(where.objectSelector, selection.labels);
    if (one != nullptr && one->key && one->key->place == KeyTest::MetadataField::Label)
      where.objectSelector.push_back(
          requirement(one->key->key, one->key->values.empty() ? "Exists" : "In", one->key->values));
    if (one != nullptr && one->ancestor)
      addByAncestor(entries, policy, selection, *one->ancestor, where, scope.ofRules);
    else
      entries.add(policy, rulesOf(policy, selection, scope.ofRules).all(), std::move(where));
  }
}

// So many that the configuration stays small enough to be stored, whatever is listed.
constexpr size_t kMostListedSpaces = 64;

// The kinds that are listed, as far as is known, each in the namespaces where objects of it are.
void addListed(Entries& entries, const DeletionPolicy& policy, const kube::ResourceMap& types,
               const protection::FactIndex& facts) {
  std::map<kube::GroupResource, std::optional<std::set<std::string>>> listed;  // nullopt: in any namespace
  const auto add = [&](const kube::GroupResource& type, bool namespaced, const std::string& space) {
    auto& spaces = listed.try_emplace(type, std::set<std::string>()).first->second;
    if (spaces) spaces->insert(space);
    if (space.empty() || !namespaced || (spaces && spaces->size() > kMostListedSpaces)) spaces.reset();
  };
  for (const protection::ListedKind& kind : facts.listedKinds(*policy.listedBy).kinds) {
    if (kind.kind.empty()) add({"*", "*"}, true, kind.namespaceName);
    for (const kube::ResourceType& type : types.types())
      if (!kind.kind.empty() && kind.matches(type)) add(type.type, type.namespaced, kind.namespaceName);
  }
  for (const auto& [type, spaces] : listed) {
    PolicyRules rules(policy);
    rules.add(type.group, type.resource, spaces ? "Namespaced" : "*");
    Entries::Where where;
    if (spaces) where.namespaceSelector = namespacesIn({spaces->begin(), spaces->end()});
    entries.add(policy, rules.all(), std::move(where));
  }
}

json deletionOf(const kube::GroupResource& type) {
  return json::array({{{"operations", {"DELETE"}},
                       {"apiGroups", {type.group}},
                       {"apiVersions", {"*"}},
                       {"resources", {type.resource}},
                       {"scope", "Cluster"}}});
}

// What of the selection may be in a namespace.
bool isNamespaced(const Selection& selection, const kube::ResourceMap& types) {
  return std::ranges::any_of(selection.resources, [&](const protection::ResourcePattern& pattern) {
    const kube::ResourceType* type = types.find({pattern.group, pattern.resource});
    return type == nullptr || type->namespaced;
  });
}

// The Namespaces that may hold a protected object. A selector by namespace looks at a Namespace's own labels.
void addNamespaces(Entries& entries, const DeletionPolicy& policy, const kube::ResourceMap& types) {
  if (!protection::implies(policy, kube::kNamespaces)) return;
  if (policy.listedBy) return entries.add(policy, deletionOf(kube::kNamespaces), {});
  for (const Selection& selection : policy.objects)
    if (isNamespaced(selection, types))
      entries.add(policy, deletionOf(kube::kNamespaces),
                  {json::array(), namespacesIn(selection.namespaces), ""});
}

void addDefinitions(Entries& entries, const DeletionPolicy& policy, const kube::ResourceMap& types) {
  if (!protection::implies(policy, kube::kCustomResourceDefinitions)) return;
  std::vector<std::string> names;
  bool isAny = policy.listedBy.has_value();
  for (const Selection& selection : policy.objects) {
    for (const protection::ResourcePattern& pattern : selection.resources) {
      const kube::GroupResource type{pattern.group, pattern.resource};
      const kube::ResourceType* known = types.find(type);
      if (known != nullptr && known->builtIn) continue;
      isAny = isAny || pattern.group == "*" || pattern.resource == "*";
      names.push_back(kube::crdName(type));
    }
  }
  if (!isAny && names.empty()) return;
  entries.add(policy, deletionOf(kube::kCustomResourceDefinitions),
              {json::array(), json::array(), isAny ? "" : namesCondition(names)});
}

}  // namespace

std::vector<WebhookEntry> policyEntries(const std::vector<DeletionPolicy>& policies,
                                        protection::PolicyMode mode, const kube::ResourceMap& types,
                                        const protection::FactIndex& facts, const std::string& ownNamespace) {
  Entries entries(ownNamespace);
  for (const DeletionPolicy& policy : policies) {
    const bool isAll = webhookPartOf(policy, mode) == CaseScope::All;
    if (policy.listedBy) addListed(entries, policy, types, facts);
    for (const Selection& selection : policy.objects) {
      if (isAll && policy.when.empty()) addCase(entries, policy, selection, nullptr);
      for (const Case& one : policy.when)
        if (isAll || !one.isLocal()) addCase(entries, policy, selection, &one);
    }
    addNamespaces(entries, policy, types);
    addDefinitions(entries, policy, types);
  }
  return entries.take();
}

}  // namespace lastout::server
