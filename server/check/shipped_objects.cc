#include "server/check/shipped_objects.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "criticalservice/granted_rights.h"
#include "criticalservice/role_rules.h"
#include "kube/difference.h"
#include "kube/invariant.h"
#include "kube/messages.h"
#include "kube/parse.h"
#include "kube/well_known.h"

namespace lastout::server {
namespace {

constexpr std::string_view kComponents = "deploy/components/";
constexpr std::string_view kAdmissionPolicies = "deploy/validating-admission-policies.yaml";
constexpr std::string_view kRolesOption = "--roles=";

// How objects of a kind are compared.
struct KindRules {
  bool isExact = false;                     // what is not shipped must not be there, but for defaults
  std::vector<std::string_view> free = {};  // members that are not compared, at any depth
  std::string_view condition = {};          // that has to be True; empty: none
};

const KindRules& rulesOf(const kube::Object& shipped) {
  static const std::map<std::string, KindRules> kRules{
      {"CustomResourceDefinition", {false, {}, "Established"}},
      {"Deployment",
       {false,
        {"replicas", "image", "args", "resources", "priorityClassName", "tolerations",
         "topologySpreadConstraints"},
        "Available"}},
      {"FlowSchema", {false, {"spec"}}},
      {"NetworkPolicy", {false, {"spec"}}},
      {"PodDisruptionBudget", {false, {"spec"}}},
      {"PriorityLevelConfiguration", {false, {"spec"}}}};
  static const KindRules kOfRights{true};
  static const KindRules kOthers;
  const std::string& group = shipped.key.type.group;
  if (group == kube::kRbacGroup || group == kube::kAdmissionRegistrationGroup) return kOfRights;
  const auto found = kRules.find(shipped.kind);
  return found == kRules.end() ? kOthers : found->second;
}

// Returns true of a member that may stand although it is not shipped: an API server adds it, or, as `rules`,
// the controller that aggregates ClusterRoles.
bool mayBeAdded(const kube::Member& more) {
  constexpr std::array<std::string_view, 3> kElsewhere{"metadata", "rules", "status"};
  if (std::ranges::find(kElsewhere, more.key) != kElsewhere.end()) return true;
  const std::string text = kube::toJson(more.value).dump();
  return text == "{}" || text == "[]" || text == "null" || text == "\"\"" ||
         (more.key == "matchPolicy" && text == "\"Equivalent\"") || (more.key == "scope" && text == "\"*\"");
}

void leaveOut(kube::Value& value, const std::vector<std::string_view>& members) {
  if (auto* map = std::get_if<kube::Value::Map>(&value.data)) {
    std::erase_if(
        *map, [&](const kube::Member& one) { return std::ranges::find(members, one.key) != members.end(); });
    for (kube::Member& one : *map) leaveOut(one.value, members);
  } else if (auto* list = std::get_if<kube::Value::List>(&value.data)) {
    for (kube::Value& one : *list) leaveOut(one, members);
  }
}

// The argument of a Deployment's first container that says its role.
std::string roleIn(const kube::Value& deployment) {
  const auto& containers = kube::listAt(deployment, {"spec", "template", "spec", "containers"});
  if (containers.empty()) return {};
  for (const kube::Value& argument : kube::listAt(containers.front(), {"args"})) {
    if (argument.asString() != nullptr && argument.asString()->starts_with(kRolesOption))
      return *argument.asString();
  }
  return {};
}

std::vector<ShippedFile> parseAll() {
  std::vector<ShippedFile> files;
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  for (const kube::CompiledText& compiled : deployTexts()) {
    auto documents = kube::parseYaml(compiled.text, compiled.file);
    LASTOUT_INVARIANT(documents);
    auto objects = kube::parseObjects(std::move(*documents), compiled.file, types);
    LASTOUT_INVARIANT(objects);
    const bool isOptional = compiled.file.starts_with(kComponents) || compiled.file == kAdmissionPolicies;
    files.push_back({compiled.file, isOptional, std::move(*objects)});
  }
  return files;
}

}  // namespace

const std::vector<ShippedFile>& shippedFiles() {
  static const std::vector<ShippedFile> kFiles = parseAll();
  return kFiles;
}

std::string conditionText(const kube::Value& condition) {
  return kube::printable(kube::textAt(condition, {"type"}) + " is " + kube::textAt(condition, {"status"}) +
                         " (" + kube::textAt(condition, {"reason"}) +
                         "): " + kube::textAt(condition, {"message"}));
}

const kube::Object& shippedObject(const kube::ObjectKey& key) {
  const kube::Object* found = nullptr;
  for (const ShippedFile& file : shippedFiles())
    for (const kube::Object& one : file.objects)
      if (one.key == key) found = &one;
  LASTOUT_INVARIANT(found != nullptr);
  return *found;
}

std::string problemWith(const kube::Object& shipped, const kube::Value& standing) {
  if (!kube::textAt(standing, {"metadata", "deletionTimestamp"}).empty()) return "is being deleted";
  kube::Value wanted = shipped.content;
  const KindRules& rules = rulesOf(shipped);
  leaveOut(wanted, rules.free);
  std::string difference = kube::differenceFrom(standing, wanted);
  if (difference.empty() && rules.isExact) {
    leaveOut(wanted, {"metadata"});
    difference = kube::differenceFrom(standing, wanted, mayBeAdded);
  }
  if (!difference.empty()) return difference + kApplyAgain;
  if (const std::string role = roleIn(shipped.content); role != roleIn(standing))
    return "does not run lastout serve with " + role + kApplyAgain;
  for (const kube::Value& warning : kube::listAt(standing, {"status", "typeChecking", "expressionWarnings"}))
    return "the API server warns about " + kube::printable(kube::textAt(warning, {"fieldRef"})) + ": " +
           kube::printable(kube::textAt(warning, {"warning"}));
  if (rules.condition.empty()) return {};
  const kube::Value* condition = kube::statusCondition(standing, rules.condition);
  if (condition == nullptr) return "has no condition " + std::string(rules.condition) + " yet";
  if (kube::textAt(*condition, {"status"}) == "True") return {};
  const std::string& space = shipped.key.namespaceName;
  return conditionText(*condition) + "; kubectl describe " + toString(shipped.key.type) + "/" +
         shipped.key.name + (space.empty() ? "" : " -n " + space);
}

std::set<admission::NeededRight> rightsOf(const std::string& account,
                                          const std::vector<const ShippedFile*>& files) {
  const criticalservice::GrantedRights::Account subject{kInstalledNamespace, account};
  const std::vector<std::string> anyName{""};
  std::set<admission::NeededRight> rights;
  std::vector<const kube::Object*> objects;
  for (const ShippedFile* file : files)
    for (const kube::Object& one : file->objects) objects.push_back(&one);
  for (const kube::Object* binding : objects) {
    const auto isIt = [&](const kube::Value& one) { return criticalservice::accountOf(one) == subject; };
    if (std::ranges::none_of(kube::listAt(binding->content, {"subjects"}), isIt)) continue;
    const kube::ObjectKey key = criticalservice::roleOfBinding(*binding);
    const auto named = std::ranges::find(objects, key, &kube::Object::key);
    if (named == objects.end()) continue;
    const criticalservice::RoleContent content = criticalservice::contentOf(**named);
    for (const kube::Object* role : objects) {
      const bool isPart = role->key.type == kube::kClusterRoles && collects(content, role->meta.labels);
      if (role->key != key && !isPart) continue;
      for (const criticalservice::RoleRule& rule : criticalservice::rulesOf(*role))
        for (const std::string& group : rule.groups)
          for (const std::string& resource : rule.resources)
            for (const std::string& verb : rule.verbs)
              for (const std::string& name : rule.objects.empty() ? anyName : rule.objects)
                rights.insert({verb, {{group, resource}, binding->key.namespaceName, name}});
    }
  }
  return rights;
}

}  // namespace lastout::server
