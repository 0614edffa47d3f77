// fieldProblems(): a table of rules for fields of built-in types.
#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/well_known.h"
#include "simulator/builtin_checks.h"
#include "simulator/field_error.h"

namespace lastout::simulator {
namespace {

// A field that a rule looks at; `value` is null where there is none.
struct RuledField {
  const Json& parent;
  const Json& value;
  std::string path;
  std::string_view words;  // the rule's: what it says, or what may stand there
  std::vector<StatusCause>& causes;

  void add(StatusCause cause) const { causes.push_back(std::move(cause)); }
  void wrong(std::string_view why) const { add(invalidField(path, value, why)); }
  std::string_view text() const { return stringAt(value, {}); }
};

bool isUnset(const Json& value) {
  return value.is_null() || value == "" || value == 0 || value == false ||
         (value.is_array() && value.empty());
}

std::vector<std::string> choicesIn(std::string_view words) {
  std::vector<std::string> choices;
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    choices.emplace_back(words.substr(0, end));
    words.remove_prefix(std::min(words.size(), end + 1));
  }
  return choices;
}

void isRequired(const RuledField& field) {
  if (isUnset(field.value)) field.add(requiredField(field.path, field.words));
}

void isNotEmpty(const RuledField& field) {
  if (!field.value.is_null()) isRequired(field);
}

void isForbidden(const RuledField& field) {
  if (!isUnset(field.value)) field.add(forbiddenField(field.path, field.words));
}

void isInvalid(const RuledField& field) {
  if (!field.value.is_null()) field.wrong(field.words);
}

void isOneOf(const RuledField& field) {
  const auto choices = choicesIn(field.words);
  if (field.value.is_string() && std::ranges::find(choices, field.text()) == choices.end())
    field.add(notSupported(field.path, field.value, choices));
}

// The names of members, and behind ":" what to say when there is none of them.
void hasOneOf(const RuledField& field) {
  const size_t colon = field.words.find(':');
  const auto members = choicesIn(field.words.substr(0, colon));
  if (field.value.is_object() &&
      std::ranges::none_of(members, [&](const std::string& one) { return field.value.contains(one); }))
    field.add(requiredField(field.path, field.words.substr(colon + 2)));
}

void hasKeys(const RuledField& field) {
  for (const std::string& key : choicesIn(field.words))
    if (at(field.value, {key}) == nullptr) field.add(requiredField(field.path + "[" + key + "]"));
}

void isNotNegative(const RuledField& field) {
  if (field.value.is_number() && field.value < 0) field.wrong("must be greater than or equal to 0");
}

void isPositive(const RuledField& field) {
  if (!field.value.is_number() || field.value <= 0) field.wrong("must be greater than zero");
}

void isDnsLabelField(const RuledField& field) {
  if (isUnset(field.value)) return;
  for (const std::string& problem : dnsLabelProblems(field.text())) field.wrong(problem);
}

// The API server's name for the field leaves metadata out.
void hasTemplateLabels(const RuledField& field) {
  addLabelProblems("spec.template.labels", field.value, field.causes);
}

void isSelector(const RuledField& field) { addSelectorProblems(field.path, field.value, field.causes); }

// A number, or a name as IANA has them for services.
void isPort(const RuledField& field) {
  if (field.value.is_number() && (field.value < 1 || field.value > 65535))
    field.wrong("must be between 1 and 65535, inclusive");
  const std::string_view name = field.text();
  if (name.empty()) return;
  const auto isLetter = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto isWritten = [&](char c) { return isLetter(c) || (c >= '0' && c <= '9') || c == '-'; };
  if (name.size() > 15) field.wrong("must be no more than 15 characters");
  if (!std::ranges::all_of(name, isWritten))
    field.wrong("must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
  if (!std::ranges::any_of(name, isLetter)) field.wrong("must contain at least one letter (a-z)");
  if (name.find("--") != std::string_view::npos) field.wrong("must not contain consecutive hyphens");
  if (name.front() == '-' || name.back() == '-') field.wrong("must not begin or end with a hyphen");
}

// One port needs no name.
void areNamed(const RuledField& field) {
  for (size_t i = 0; field.value.is_array() && field.value.size() > 1 && i < field.value.size(); ++i)
    if (field.value[i].is_object() && stringAt(field.value[i], {"name"}).empty())
      field.add(requiredField(field.path + "[" + std::to_string(i) + "].name"));
}

void isCountOrPercent(const RuledField& field) {
  isNotNegative(field);
  if (!field.value.is_string()) return;
  const std::string_view text = field.text();
  const char* const last = text.data() + text.size();
  int percent = -1;
  const auto [end, error] = std::from_chars(text.data(), last, percent);
  if (error != std::errc() || percent < 0 || std::string_view(end, last) != "%")
    field.wrong(
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
        "regex used for validation is '[0-9]+%')");
  else if (percent > 100 && !field.path.ends_with("maxSurge"))
    field.wrong("must not be greater than 100%");
}

void isCidr(const RuledField& field) {
  const std::string_view text = field.text();
  const size_t slash = std::min(text.find('/'), text.size());
  const std::string address(text.substr(0, slash));
  std::array<unsigned char, 16> parsed{};
  const bool isOld = inet_pton(AF_INET, address.c_str(), parsed.data()) == 1;
  const bool isNew = inet_pton(AF_INET6, address.c_str(), parsed.data()) == 1;
  int bits = -1;
  if (slash < text.size()) std::from_chars(text.data() + slash + 1, text.data() + text.size(), bits);
  if ((!isOld && !isNew) || bits < 0 || bits > (isOld ? 32 : 128))
    field.wrong("must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
}

void hasConfigKeys(const RuledField& field) {
  if (!field.value.is_object()) return;
  const auto isWritten = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  };
  for (const auto& [key, value] : field.value.items())
    if (key.empty() || key.size() > 253 || !std::ranges::all_of(key, isWritten))
      field.add(
          invalidField(field.path + "[" + key + "]", key,
                       "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. "
                       "'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is "
                       "'[-._a-zA-Z0-9]+')"));
}

// A workload's selector selects the Pods that it makes.
void matchesTemplate(const RuledField& field) {
  static const Json kNone = Json::object();
  const Json* labels = at(field.parent, {"template", "metadata", "labels"});
  const Json* wanted = at(field.value, {"matchLabels"});
  const Json& each = wanted == nullptr || !wanted->is_object() ? kNone : *wanted;
  const bool isMatched = field.value.is_object() && std::ranges::all_of(each.items(), [&](const auto& one) {
                           const Json* has = labels == nullptr ? nullptr : at(*labels, {one.key()});
                           return has != nullptr && *has == one.value();
                         });
  if (field.value.is_null()) field.add(requiredField(field.path));
  isSelector(field);
  if (field.value.is_object() && field.value.empty()) field.wrong("empty selector is invalid for deployment");
  if (!isMatched)
    field.add(invalidField("spec.template.metadata.labels", labels == nullptr ? kNone : *labels,
                           "`selector` does not match template `labels`"));
}

// `value` is a list of containers, whose mounts name volumes of their Pod.
void mountsVolumes(const RuledField& field) {
  const Json* volumes = at(field.parent, {"volumes"});
  for (size_t i = 0; field.value.is_array() && i < field.value.size(); ++i) {
    const Json* mounts = at(field.value[i], {"volumeMounts"});
    for (size_t j = 0; mounts != nullptr && mounts->is_array() && j < mounts->size(); ++j) {
      const std::string_view name = stringAt((*mounts)[j], {"name"});
      const auto isIt = [name](const Json& volume) { return stringAt(volume, {"name"}) == name; };
      if (volumes == nullptr || std::ranges::none_of(*volumes, isIt))
        field.add({"FieldValueNotFound", "Not found: " + goQuoted(name),
                   field.path + "[" + std::to_string(i) + "].volumeMounts[" + std::to_string(j) + "].name"});
    }
  }
}

// --- The table.

struct FieldRule {
  std::string_view path;  // "[]" stands for each item of a list
  void (*check)(const RuledField& field);
  std::string_view words = {};
  // What must hold of other fields: "name" is set, "!name" is not, "name=value", "name!=value". They stand
  // beside it, with "." within it, with "/" at the top.
  std::string_view when = {};
};

constexpr std::string_view kProtocols = "SCTP TCP UDP";

constexpr FieldRule kWorkloadRules[] = {
    {"spec.selector", matchesTemplate},
    {"spec.template.metadata.labels", hasTemplateLabels},
    {"spec.template.spec.volumes[].name", isDnsLabelField},
    {"spec.template.spec.containers", isRequired},
    {"spec.template.spec.containers[].name", isRequired},
    {"spec.template.spec.containers[].name", isDnsLabelField},
    {"spec.template.spec.containers[].image", isRequired},
    {"spec.template.spec.containers[].ports[].containerPort", isRequired},
    {"spec.template.spec.containers[].ports[].containerPort", isPort, "", "containerPort"},
    {"spec.template.spec.containers[].ports[].name", isPort},
    {"spec.template.spec.containers[].ports[].protocol", isOneOf, kProtocols},
    {"spec.template.spec.containers[].livenessProbe", hasOneOf,
     "exec grpc httpGet tcpSocket: must specify a handler type"},
    {"spec.template.spec.containers[].readinessProbe", hasOneOf,
     "exec grpc httpGet tcpSocket: must specify a handler type"},
    {"spec.template.spec.topologySpreadConstraints[].maxSkew", isPositive},
    {"spec.template.spec.topologySpreadConstraints[].topologyKey", isRequired, "can not be empty"},
    {"spec.strategy.rollingUpdate.maxUnavailable", isCountOrPercent},
    {"spec.strategy.rollingUpdate.maxSurge", isCountOrPercent},
    {"spec.strategy.rollingUpdate.maxUnavailable", isInvalid, "may not be 0 when `maxSurge` is 0",
     "maxUnavailable=0 maxSurge=0"},
    {"spec.strategy.rollingUpdate", isForbidden, "may not be specified when strategy `type` is 'Recreate'",
     "type=Recreate"},
};

// A StatefulSet's Pods also mount what its volumeClaimTemplates make.
constexpr FieldRule kMountRules[] = {
    {"spec.template.spec.containers", mountsVolumes},
    {"spec.template.spec.initContainers", mountsVolumes},
};

constexpr FieldRule kServiceRules[] = {
    {"spec.ports", isNotEmpty, "", "clusterIP!=None"},
    {"spec.externalName", isRequired, "", "type=ExternalName"},
    {"spec.type", isOneOf, "ClusterIP ExternalName LoadBalancer NodePort"},
    {"spec.ports", areNamed},
    {"spec.ports[].name", isDnsLabelField},
    {"spec.ports[].protocol", isOneOf, kProtocols},
    {"spec.ports[].port", isPort},
    {"spec.ports[].targetPort", isPort},
};

constexpr std::string_view kPeers = "ipBlock podSelector namespaceSelector: must specify a peer";
constexpr std::string_view kTwoPeers = "may not specify both ipBlock and another peer";
constexpr std::string_view kNoPort = "may not be specified when `port` is not specified";

constexpr FieldRule kNetworkPolicyRules[] = {
    {"spec.podSelector", isSelector},
    {"spec.ingress[].ports[].port", isPort},
    {"spec.ingress[].ports[].endPort", isInvalid, kNoPort, "!port"},
    {"spec.ingress[].from[]", hasOneOf, kPeers},
    {"spec.ingress[].from[]", isForbidden, kTwoPeers, ".ipBlock .podSelector"},
    {"spec.ingress[].from[]", isForbidden, kTwoPeers, ".ipBlock .namespaceSelector"},
    {"spec.ingress[].from[].ipBlock.cidr", isCidr},
    {"spec.egress[].ports[].port", isPort},
    {"spec.egress[].ports[].endPort", isInvalid, kNoPort, "!port"},
    {"spec.egress[].to[]", hasOneOf, kPeers},
    {"spec.egress[].to[]", isForbidden, kTwoPeers, ".ipBlock .podSelector"},
    {"spec.egress[].to[]", isForbidden, kTwoPeers, ".ipBlock .namespaceSelector"},
    {"spec.egress[].to[].ipBlock.cidr", isCidr},
    {"spec.policyTypes[]", isOneOf, "Ingress Egress"},
};

constexpr FieldRule kBudgetRules[] = {
    {"spec", isInvalid, "minAvailable and maxUnavailable cannot be both set",
     ".minAvailable .maxUnavailable"},
    {"spec.minAvailable", isCountOrPercent},
    {"spec.maxUnavailable", isCountOrPercent},
    {"spec.selector", isSelector},
};

constexpr FieldRule kRoleRules[] = {
    {"rules[].verbs", isRequired, "verbs must contain at least one value"},
    {"rules[].nonResourceURLs", isInvalid,
     "rules cannot apply to both regular resources and non-resource URLs", "nonResourceURLs resources"},
    {"rules[].apiGroups", isRequired, "resource rules must supply at least one api group",
     "!nonResourceURLs"},
    {"rules[].resources", isRequired, "resource rules must supply at least one resource", "!nonResourceURLs"},
};

constexpr FieldRule kNamespacedRoleRules[] = {{"rules[].nonResourceURLs", isInvalid,
                                               "namespaced rules cannot apply to non-resource URLs",
                                               "nonResourceURLs"}};

constexpr FieldRule kBindingRules[] = {
    {"roleRef.apiGroup", isOneOf, kube::kRbacGroup},
    {"roleRef.name", isRequired},
    {"subjects[].name", isRequired},
    {"subjects[].kind", isOneOf, "ServiceAccount User Group"},
    {"subjects[].apiGroup", isOneOf, kube::kRbacGroup, "kind!=ServiceAccount"},
};
constexpr FieldRule kClusterRoleBindingRules[] = {
    {"roleRef.kind", isOneOf, "ClusterRole"},
    {"subjects[].namespace", isRequired, "", "kind=ServiceAccount"}};
constexpr FieldRule kRoleBindingRules[] = {{"roleRef.kind", isOneOf, "Role ClusterRole"}};

constexpr FieldRule kFlowSchemaRules[] = {
    {"spec.priorityLevelConfiguration.name", isRequired, "must reference a priority level"},
    {"spec.rules[].resourceRules[].verbs", isRequired},
    {"spec.rules[].resourceRules[].apiGroups", isRequired},
    {"spec.rules[].resourceRules[].resources", isRequired},
    {"spec.rules[].resourceRules[].namespaces", isRequired,
     "resource rules that are not cluster scoped must supply at least one namespace", "!clusterScope"},
};

constexpr FieldRule kDataRules[] = {
    {"data", hasConfigKeys},
    {"data", hasKeys, "tls.crt tls.key", "/type=kubernetes.io/tls"},
    {"metadata.annotations", hasKeys, "kubernetes.io/service-account.name",
     "/type=kubernetes.io/service-account-token"},
};

struct RuledTypes {
  std::string_view resources;
  std::span<const FieldRule> rules;
};

constexpr RuledTypes kRuledTypes[] = {
    {"daemonsets deployments replicasets statefulsets", kWorkloadRules},
    {"daemonsets deployments replicasets", kMountRules},
    {"services", kServiceRules},
    {"networkpolicies", kNetworkPolicyRules},
    {"poddisruptionbudgets", kBudgetRules},
    {"clusterroles roles", kRoleRules},
    {"roles", kNamespacedRoleRules},
    {"clusterrolebindings rolebindings", kBindingRules},
    {"clusterrolebindings", kClusterRoleBindingRules},
    {"rolebindings", kRoleBindingRules},
    {"flowschemas", kFlowSchemaRules},
    {"configmaps secrets", kDataRules},
};

class FieldRules {
 public:
  explicit FieldRules(const Json& object) : object_(object) {}

  std::vector<StatusCause> causes;

  // Calls the rule for each field that `rest` leads to from `parent`, whose path is `path`.
  void apply(const FieldRule& rule, std::string_view rest, const Json& parent, const std::string& path) {
    static const Json kNone;
    const size_t dot = std::min(rest.find('.'), rest.size());
    std::string_view name = rest.substr(0, dot);
    const bool isEach = name.ends_with("[]");
    if (isEach) name.remove_suffix(2);
    const Json* found = at(parent, {name});
    const Json& value = found == nullptr ? kNone : *found;
    const std::string here = path + (path.empty() ? "" : ".") + std::string(name);
    const auto visit = [&](const Json& one, const std::string& place) {
      if (dot < rest.size() && one.is_object()) apply(rule, rest.substr(dot + 1), one, place);
      if (dot == rest.size() && isMeant(rule, parent, one))
        rule.check({parent, one, place, rule.words, causes});
    };
    if (!isEach) return visit(value, here);
    for (size_t i = 0; value.is_array() && i < value.size(); ++i)
      visit(value[i], here + "[" + std::to_string(i) + "]");
  }

 private:
  bool isMeant(const FieldRule& rule, const Json& parent, const Json& value) const {
    return std::ranges::all_of(choicesIn(rule.when), [&](std::string_view one) {
      const bool isTop = one.starts_with('/');
      const bool isWithin = one.starts_with('.');
      if (isTop || isWithin) one.remove_prefix(1);
      const bool isNot = one.starts_with('!') || one.find("!=") != std::string_view::npos;
      if (one.starts_with('!')) one.remove_prefix(1);
      const size_t equals = std::min(one.find('='), one.size());
      const std::string_view name = one.substr(0, one.find_first_of("!="));
      const Json* other = at(isTop ? object_ : isWithin ? value : parent, {name});
      if (equals == one.size()) return (other != nullptr && !isUnset(*other)) != isNot;
      const std::string text = other == nullptr     ? ""
                               : other->is_string() ? other->get<std::string>()
                                                    : other->dump();
      return (text == one.substr(equals + 1)) != isNot;
    });
  }

  const Json& object_;
};

}  // namespace

std::vector<StatusCause> fieldProblems(const kube::GroupResource& type, const Json& object) {
  FieldRules all(object);
  for (const RuledTypes& types : kRuledTypes) {
    const auto resources = choicesIn(types.resources);
    if (std::ranges::find(resources, type.resource) == resources.end()) continue;
    if (types.rules.data() == kWorkloadRules && at(object, {"spec", "template", "spec"}) == nullptr) continue;
    for (const FieldRule& rule : types.rules) all.apply(rule, rule.path, object, "");
  }
  return std::move(all.causes);
}

}  // namespace lastout::simulator
