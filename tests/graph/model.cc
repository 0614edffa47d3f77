#include "tests/graph/model.h"

#include <algorithm>

#include "graph/condition.h"
#include "kube/object_references.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::graph::test {

namespace {

bool carries(const kube::ObjectMeta& meta, std::string_view finalizer) {
  return std::count(meta.finalizers.begin(), meta.finalizers.end(), finalizer) > 0;
}

// "f*" is every finalizer that begins with f.
bool carriesMeant(const kube::ObjectMeta& meta, const std::string& named) {
  if (!named.ends_with('*')) return carries(meta, named);
  return std::ranges::any_of(meta.finalizers, [&](const std::string& one) {
    return one.compare(0, named.size() - 1, named, 0, named.size() - 1) == 0;
  });
}

// The object names the target of the wanted reference: by its name, and in its namespace or, where that is
// named nowhere, in any.
bool namesMeant(const kube::ObjectMeta& meta, const std::string& wanted) {
  const auto found = wantedTargets().find(wanted);
  return std::ranges::any_of(meta.references, [&](const std::string& one) {
    const Target& named = namedTargets().at(one);
    return found != wantedTargets().end() && named.name == found->second.name &&
           (named.namespaceName.empty() || named.namespaceName == found->second.namespaceName);
  });
}

// It is in the namespace, or the Namespace itself.
bool isPartOf(const kube::ObjectKey& key, const std::string& namespaceName) {
  return key.namespaceName == namespaceName || key == kube::ObjectKey{{"", "namespaces"}, "", namespaceName};
}

// By the words of the selectors that histories have.
bool isSelected(const std::string& selector, const std::string& name, const kube::Labels& labels) {
  const auto tenant = labels.find("tenant");
  if (selector == "tenant in (a)") return tenant != labels.end() && tenant->second == "a";
  if (selector == "!tenant") return tenant == labels.end();
  return name != "b";  // kubernetes.io/metadata.name notin (b)
}

// Every scope includes a cluster-scoped object that is no Namespace, and one of a namespace whose labels
// nobody knows, if it is by labels.
bool isInScope(const Model& model, const kube::ObjectKey& key, const kube::NamespaceScope& scope) {
  using Kind = kube::NamespaceScope::Kind;
  const bool isPlaced = !key.namespaceName.empty() || key.type == kube::kNamespaces;
  if (!scope.selector.empty()) {
    if (!isPlaced) return true;
    const std::string& space = key.namespaceName.empty() ? key.name : key.namespaceName;
    const auto found = model.objects.find({{"", "namespaces"}, "", space});
    return found == model.objects.end() || isSelected(scope.selector, space, found->second.labels);
  }
  const bool isNamed =
      std::ranges::any_of(scope.names, [&](const std::string& name) { return isPartOf(key, name); });
  return !isPlaced || scope.kind == Kind::All || (scope.kind == Kind::Within ? isNamed : !isNamed);
}

// For failures that can be read.
std::string shortened(const std::string& text) {
  return text.size() < 40 ? text : text.substr(0, 4) + "(" + std::to_string(text.size()) + ")";
}

}  // namespace

namespace {

kube::ReferenceFields fieldsOfTargets() {
  return {*kube::parseFieldPath("spec.name"), kube::parseFieldPath("spec.namespace"), std::nullopt};
}

const std::vector<Target>& allTargets() {
  static const std::vector<Target> kAll{{"a", "x"}, {"b", "x"}, {"a", "y"}, {"", "x"}};
  return kAll;
}

}  // namespace

const std::map<std::string, Target>& namedTargets() {
  static const std::map<std::string, Target> kNamed = [] {
    std::map<std::string, Target> named;
    for (const Target& target : allTargets()) {
      kube::Value::Map spec;
      spec.push_back({"name", {}, {target.name, {}}});
      spec.push_back({"namespace", {}, {target.namespaceName, {}}});
      kube::Value::Map object;
      object.push_back({"spec", {}, {std::move(spec), {}}});
      const kube::Value content{std::move(object), {}};
      named.emplace(kube::referencesIn(content, "", {fieldsOfTargets()}).front(), target);
    }
    return named;
  }();
  return kNamed;
}

const std::map<std::string, Target>& wantedTargets() {
  static const std::map<std::string, Target> kWanted = [] {
    std::map<std::string, Target> wanted;
    for (const Target& target : allTargets()) {
      if (target.namespaceName.empty()) continue;
      const kube::ObjectKey key{{"my.crd.group", "coolresources"}, target.namespaceName, target.name};
      wanted.emplace(kube::toText({fieldsOfTargets(), key, ""}), target);
    }
    return wanted;
  }();
  return kWanted;
}

std::string nameOf(const kube::ObjectKey& key) {
  return "o " + key.type.resource + "." + key.type.group + "/" + shortened(key.namespaceName) + "/" +
         shortened(key.name);
}

std::string nameOf(const Condition& condition) {
  const std::string type = condition.type.resource + "." + condition.type.group;
  switch (condition.kind) {
    case Condition::Kind::Finalizer:
      return "c finalizer " + condition.finalizer + " of " + type + kube::inWords(condition.scope, SIZE_MAX);
    case Condition::Kind::Object:
      return "c object " + type + "/" + shortened(condition.namespaceName) + "/" + shortened(condition.name) +
             " uid " + condition.uid;
    case Condition::Kind::NamespaceContent:
      return "c content of " + shortened(condition.name);
    case Condition::Kind::Instances:
      return "c instances of " + type;
  }
  return {};
}

// "*" is every resource of the group, "*.example.com" every group that ends so.
bool isMeant(const kube::GroupResource& type, const kube::GroupResource& named) {
  if (named.resource != "*") return type == named;
  return named.group[0] == '*' ? type.group.ends_with(named.group.substr(1)) : type.group == named.group;
}

Knowledge Model::knowledgeOf(const kube::GroupResource& named,
                             const std::vector<kube::GroupResource>& types) const {
  const auto own = knowledge.find(named);
  Knowledge known = own == knowledge.end() ? Knowledge::Unknown : own->second;
  if (named.resource != "*" || !believable(known)) return known;
  std::set<kube::GroupResource> meant(types.begin(), types.end());
  std::erase_if(meant, [&](const kube::GroupResource& type) { return !isMeant(type, named); });
  for (const Knowledge worst :
       {Knowledge::Forbidden, Knowledge::Unserved, Knowledge::Stale, Knowledge::Unknown}) {
    for (const kube::GroupResource& type : meant) {
      if (knowledgeOf(type, types) == worst) return worst;
    }
  }
  return known;
}

void Model::upsert(const kube::GroupResource& type, const kube::ObjectMeta& meta) {
  objects[{type, meta.namespaceName, meta.name}] = meta;
}

void Model::withdraw(const kube::ObjectKey& origin) {
  std::erase_if(requirements, [&](const Requirement& requirement) {
    return std::get<Origin>(requirement).object == origin;
  });
}

bool Model::isHolder(const kube::ObjectKey& key, const Condition& condition) const {
  const auto found = objects.find(key);
  if (found == objects.end()) return false;
  switch (condition.kind) {
    case Condition::Kind::Finalizer:
      return isMeant(key.type, condition.type) &&
             (carriesMeant(found->second, condition.finalizer) ||
              namesMeant(found->second, condition.finalizer)) &&
             isInScope(*this, key, condition.scope);
    case Condition::Kind::Object:
      return key == kube::ObjectKey{condition.type, condition.namespaceName, condition.name} &&
             (condition.uid.empty() || condition.uid == found->second.uid);
    case Condition::Kind::NamespaceContent:
      return key.namespaceName == condition.name;
    case Condition::Kind::Instances:
      return key.type == condition.type;
  }
  return false;
}

std::set<kube::ObjectKey> Model::holders(const Condition& condition) const {
  std::set<kube::ObjectKey> result;
  for (const auto& [key, meta] : objects) {
    if (isHolder(key, condition)) result.insert(key);
  }
  return result;
}

std::set<std::string> Model::leftOut(const Condition& condition) const {
  std::set<std::string> names;
  for (const auto& [key, meta] : objects) {
    if (key.type == kube::kNamespaces && key.namespaceName.empty() &&
        !isSelected(condition.scope.selector, key.name, meta.labels))
      names.insert(key.name);
  }
  return names;
}

std::set<Condition> Model::conditions() const {
  std::set<Condition> result;
  for (const Requirement& requirement : requirements) result.insert(std::get<Condition>(requirement));
  for (const auto& [condition, count] : holds) {
    if (count > 0) result.insert(condition);
  }
  return result;
}

std::set<kube::ObjectKey> Model::absent() const {
  std::set<kube::ObjectKey> result;
  for (const auto& [subject, condition, origin] : requirements) {
    result.insert(subject);
    result.insert(origin.object);
  }
  for (const Condition& condition : conditions()) {
    if (condition.kind != Condition::Kind::Object) continue;
    result.insert({condition.type, condition.namespaceName, condition.name});
  }
  std::erase_if(result, [&](const kube::ObjectKey& key) { return objects.contains(key); });
  return result;
}

std::set<kube::ObjectKey> Model::withUid(const std::string& uid) const {
  std::set<kube::ObjectKey> result;
  for (const auto& [key, meta] : objects) {
    if (!uid.empty() && meta.uid == uid) result.insert(key);
  }
  return result;
}

std::set<kube::ObjectKey> Model::dependents(const kube::ObjectKey& owner) const {
  std::set<kube::ObjectKey> result;
  const std::string& uid = objects.at(owner).uid;
  for (const auto& [key, meta] : objects) {
    for (const kube::OwnerReference& reference : meta.ownerReferences) {
      if (!uid.empty() && reference.uid == uid) result.insert(key);
    }
  }
  return result;
}

Edges Model::edges() const {
  Edges result;
  for (const auto& [subject, condition, origin] : requirements) {
    result.emplace(nameOf(subject), nameOf(condition), "requires");
  }
  addHolderEdges(result);
  addContainerEdges(result);
  addDependentEdges(result);
  return result;
}

void Model::addHolderEdges(Edges& edges) const {
  for (const Condition& condition : conditions()) {
    for (const kube::ObjectKey& key : holders(condition))
      edges.emplace(nameOf(condition), nameOf(key), "holder");
  }
}

void Model::addContainerEdges(Edges& edges) const {
  for (const auto& [container, unused] : objects) {
    if (!container.namespaceName.empty()) continue;
    for (const auto& [key, meta] : objects) {
      if (container.type == kube::GroupResource{"", "namespaces"} && !container.name.empty() &&
          container.name == key.namespaceName) {
        edges.emplace(nameOf(container), nameOf(key), "content");
      }
      if (container.type == kube::GroupResource{"apiextensions.k8s.io", "customresourcedefinitions"} &&
          container.name == key.type.resource + "." + key.type.group) {
        edges.emplace(nameOf(container), nameOf(key), "instance");
      }
    }
  }
}

void Model::addDependentEdges(Edges& edges) const {
  for (const auto& [owner, ownerMeta] : objects) {
    if (!ownerMeta.deletionTimestamp.has_value() || ownerMeta.uid.empty()) continue;
    const bool keeps = carries(ownerMeta, kube::kAppliedObjectsFinalizer);
    if (!keeps && !carries(ownerMeta, kube::kForegroundFinalizer)) continue;
    for (const auto& [key, meta] : objects) {
      for (const kube::OwnerReference& reference : meta.ownerReferences) {
        if (reference.uid != ownerMeta.uid || (!keeps && !reference.blockOwnerDeletion)) continue;
        edges.emplace(nameOf(owner), nameOf(key), "dependent");
      }
    }
  }
}

}  // namespace lastout::graph::test
