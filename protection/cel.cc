#include "protection/cel.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "kube/value.h"
#include "kube/well_known.h"
#include "protection/cel_parts.h"
#include "protection/evaluate.h"
#include "protection/force_guard.h"
#include "protection/hold_finalizers.h"
#include "protection/message.h"
#include "protection/placement.h"

namespace lastout::protection {
namespace {

using kube::OrderedJson;

constexpr std::string_view kDeletes = "request.operation == 'DELETE'";
constexpr std::string_view kUpdates = "request.operation == 'UPDATE'";
constexpr std::string_view kOrphans =
    "request.options != null && ((has(request.options.propagationPolicy) && "
    "request.options.propagationPolicy == 'Orphan') || "
    "(has(request.options.orphanDependents) && request.options.orphanDependents == true))";
constexpr std::string_view kResource =
    "request.resource.resource + (request.resource.group == '' ? '' : '.' + request.resource.group)";

std::string celOf(const Case& one) {
  std::vector<std::string> parts;
  if (one.key) parts.push_back(celOf(*one.key, kOld));
  if (one.field) parts.push_back(celOf(*one.field));
  if (one.activity)
    parts.emplace_back(
        "has(oldObject.spec) && has(oldObject.spec.replicas) && oldObject.spec.replicas != null ? "
        "oldObject.spec.replicas > 0 : true");
  return allOf(parts);
}

std::string reasonOf(const Case* one) {
  if (one == nullptr) return celLiteral(kAlwaysReason);
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : " + ' and ' + ") + part; };
  if (one->key) {
    const std::string value = valueOf(kOld, *one->key);
    add(celLiteral(nameOf(*one->key)) + " + (" + value + " == '' ? ' is set' : ' is ' + " + value + ")");
  }
  if (one->field) add(celLiteral(reasonOfField(*one->field)));
  if (one->activity) add(celLiteral(kReplicasReason));
  return text;
}

std::string hasFinalizerOf(const std::vector<std::string>& finalizers) {
  return "has(oldObject.metadata.finalizers) && oldObject.metadata.finalizers.exists(f, " +
         isOneOf("f", finalizers) + ")";
}

std::string celOfNotHeldYet(const Hold& hold) {
  const std::string words = celLiteral(notHeldYet(hold));
  if (hold.finalizersOfOthers.empty()) return words;
  return "(" + hasFinalizerOf(hold.finalizersOfOthers) + " ? '' : " + words + ")";
}

std::string celOfMessage(const DeletionPolicy& policy, Block block, const Case* one) {
  using Kind = MessagePiece::Kind;
  // API servers do not show a message with a line break in it.
  const auto pieces = parseMessage(onOneLine(templateOf(policy, block)));
  std::string text;
  for (const MessagePiece& piece : *pieces) {
    if (!text.empty()) text += " + ";
    switch (piece.kind) {
      case Kind::Text:
        text += celLiteral(piece.text);
        break;
      case Kind::ObjectKind:
        text += "request.kind.kind";
        break;
      case Kind::Resource:
        text += kResource;
        break;
      case Kind::Name:
        text += celOfName(kOld);
        break;
      case Kind::Namespace:
        text += celOfNamespace(kOld);
        break;
      case Kind::InNamespace:
        text += "(" + celOfNamespace(kOld) + " == '' ? '' : ' in namespace \"' + " + celOfNamespace(kOld) +
                " + '\"')";
        break;
      case Kind::Reason:
        text += reasonOf(one);
        break;
      case Kind::ListerCount:
      case Kind::ListerName:
      case Kind::ListerNamespace:
      case Kind::Because:
        break;  // a policy with listedBy has no part here
    }
  }
  if (policy.hold) text += " + " + celOfNotHeldYet(*policy.hold);
  return text;
}

// What must not be so: the object is protected by the case, and the request takes it away.
std::string celOfBlock(const DeletionPolicy& policy, Block block, const Case* one) {
  const std::string holds = one == nullptr ? "" : celOf(*one);
  if (block != Block::Unprotect) {
    return allOf({std::string(kDeletes), block == Block::Orphan ? std::string(kOrphans) : "",
                  policy.overrides.empty() ? "" : negated(anyKey(policy.overrides, kOld)), holds});
  }
  // Whoever has the key must keep its value, and stay selected.
  std::vector<std::string> kept{celOfSelections(policy, kNew)};
  if (one != nullptr && one->key)
    kept.push_back(hasKey(kNew, one->key->place, one->key->key) + " && " + valueOf(kNew, *one->key) +
                   " == " + valueOf(kOld, *one->key));
  return allOf({std::string(kUpdates),
                policy.exemptions.empty() ? "" : negated(anyKey(policy.exemptions, kNew)), holds,
                negated(allOf(kept))});
}

// The blocks that count for themselves: who may not delete at all need not be told of Orphan.
std::vector<Block> blocksOf(const DeletionPolicy& policy) {
  std::vector<Block> blocks;
  if (policy.blocksAny(Block::Delete))
    blocks.push_back(Block::Delete);
  else if (policy.blocksAny(Block::Orphan))
    blocks.push_back(Block::Orphan);
  if (policy.blocksAny(Block::Unprotect)) blocks.push_back(Block::Unprotect);
  return blocks;
}

OrderedJson validationsOf(const DeletionPolicy& policy) {
  OrderedJson validations = OrderedJson::array();
  const auto add = [&](Block block, const Case* one) {
    validations.push_back({{"expression", negated(celOfBlock(policy, block, one))},
                           {"messageExpression", celOfMessage(policy, block, one)},
                           {"message", "deletion policy " + policy.meta.name + " protects this object"},
                           {"reason", "Forbidden"}});
  };
  for (const Block block : blocksOf(policy)) {
    const auto canBeMet = [&](const Case* one) {
      return block != Block::Unprotect || policy.keepsWhatProtects(one);
    };
    if (policy.when.empty() && canBeMet(nullptr)) add(block, nullptr);
    for (const Case& one : policy.when)
      if (one.isLocal() && canBeMet(&one)) add(block, &one);
  }
  return validations;
}

OrderedJson rulesOf(const DeletionPolicy& policy) {
  const bool deletes = policy.blocksAny(Block::Delete) || policy.blocksAny(Block::Orphan);
  OrderedJson rules = OrderedJson::array();
  std::set<std::pair<std::string, std::string>> seen;
  for (const Selection& selection : policy.objects) {
    for (const ResourcePattern& pattern : selection.resources) {
      if (!seen.emplace(pattern.group, pattern.resource).second) continue;
      const auto add = [&](const char* operation, OrderedJson resources) {
        rules.push_back({{"apiGroups", {pattern.group}},
                         {"apiVersions", {"*"}},
                         {"operations", {operation}},
                         {"resources", std::move(resources)},
                         {"scope", "*"}});
      };
      if (deletes) add("DELETE", {pattern.resource});
      if (!policy.blocksAny(Block::Unprotect)) continue;
      // Labels can be stripped through a subresource, too.
      if (pattern.resource == "*")
        add("UPDATE", {"*/*"});
      else
        add("UPDATE", {pattern.resource, pattern.resource + "/*"});
    }
  }
  return rules;
}

// The one label that every case needs; empty: there is none. It narrows what is evaluated at all.
std::string commonLabel(const DeletionPolicy& policy) {
  std::string label;
  for (const Case& one : policy.when) {
    if (!one.isLocal()) continue;
    if (!one.key || one.key->place != KeyTest::MetadataField::Label) return "";
    if (!label.empty() && label != one.key->key) return "";
    label = one.key->key;
  }
  return label;
}

OrderedJson conditionsOf(const DeletionPolicy& policy) {
  OrderedJson conditions = OrderedJson::array();
  const auto add = [&](const char* name, const std::string& expression) {
    if (!expression.empty()) conditions.push_back({{"name", name}, {"expression", expression}});
  };
  if (std::any_of(policy.objects.begin(), policy.objects.end(), [](const Selection& selection) {
        return std::any_of(
            selection.resources.begin(), selection.resources.end(),
            [](const ResourcePattern& pattern) { return pattern.matches(deletionPolicyType()); });
      }))
    add("is-no-deletion-policy",
        "!(request.resource.group == 'lastout.dev' && request.resource.resource == 'deletionpolicies')");
  add("is-selected", celOfSelections(policy, kOld));
  if (policy.skipTerminating) add("is-not-terminating", "!has(oldObject.metadata.deletionTimestamp)");
  if (policy.hold) add("is-not-held-instead", celOfNotHeld(*policy.hold));
  std::vector<std::string> exempt;
  if (!policy.exemptUsers.empty()) exempt.push_back(isOneOf("request.userInfo.username", policy.exemptUsers));
  if (!policy.exemptGroups.empty())
    exempt.push_back("has(request.userInfo.groups) && request.userInfo.groups.exists(g, " +
                     isOneOf("g", policy.exemptGroups) + ")");
  if (!exempt.empty()) add("is-not-exempt", negated(anyOf(exempt)));
  return conditions;
}

// What denies the requests that the policy blocks. null: nothing of it can run in an API server.
OrderedJson specOfBlocks(const DeletionPolicy& policy) {
  if (webhookPartOf(policy, PolicyMode::ApiServer) == CaseScope::All) return nullptr;
  OrderedJson validations = validationsOf(policy);
  if (validations.empty()) return nullptr;
  OrderedJson match{{"matchPolicy", "Equivalent"}, {"resourceRules", rulesOf(policy)}};
  if (const std::string label = commonLabel(policy); !label.empty())
    match["objectSelector"] = {{"matchExpressions", {{{"key", label}, {"operator", "Exists"}}}}};
  OrderedJson spec{{"failurePolicy", policy.failsClosed ? "Fail" : "Ignore"},
                   {"matchConstraints", std::move(match)}};
  if (OrderedJson conditions = conditionsOf(policy); !conditions.empty())
    spec["matchConditions"] = std::move(conditions);
  spec["validations"] = std::move(validations);
  return spec;
}

}  // namespace

std::string admissionPolicyName(const DeletionPolicy& policy) {
  return std::string(kAdmissionPolicyPrefix) + policy.meta.name;
}

std::string forceGuardName(const DeletionPolicy& policy) {
  return std::string(kForceGuardPrefix) + policy.meta.name;
}

std::string policyOfMade(std::string_view name) {
  for (const std::string_view prefix : {kAdmissionPolicyPrefix, kForceGuardPrefix})
    if (name.starts_with(prefix)) return std::string(name.substr(prefix.size()));
  return {};
}

std::string celOfNotHeld(const Hold& hold) {
  std::vector<std::string> any;
  if (!hold.finalizersOfOthers.empty()) any.push_back(hasFinalizerOf(hold.finalizersOfOthers));
  any.push_back(
      allOf({"!has(oldObject.metadata.deletionTimestamp)", negated(hasFinalizerOf({hold.finalizer}))}));
  return allOf({anyOf(any), hold.force ? negated(celOf(hold.force->key, kOld)) : ""});
}

std::vector<OrderedJson> withBinding(const DeletionPolicy& policy, const std::string& name,
                                     OrderedJson spec) {
  OrderedJson metadata{
      {"name", name},
      {"labels",
       {{"app.kubernetes.io/managed-by", "lastout"}, {std::string(kMadeOfLabel), policy.meta.name}}}};
  if (policy.hold)
    metadata["annotations"] = {{std::string(kHoldFinalizerAnnotation), policy.hold->finalizer}};
  return {{{"apiVersion", kube::kAdmissionRegistrationApiVersion},
           {"kind", "ValidatingAdmissionPolicy"},
           {"metadata", metadata},
           {"spec", std::move(spec)}},
          {{"apiVersion", kube::kAdmissionRegistrationApiVersion},
           {"kind", "ValidatingAdmissionPolicyBinding"},
           {"metadata", metadata},
           {"spec", {{"policyName", name}, {"validationActions", {"Deny"}}}}}};
}

std::vector<OrderedJson> admissionPoliciesOf(const DeletionPolicy& policy, PolicyMode mode) {
  std::vector<OrderedJson> made;
  if (OrderedJson spec = mode == PolicyMode::Webhook ? OrderedJson() : specOfBlocks(policy); !spec.is_null())
    made = withBinding(policy, admissionPolicyName(policy), std::move(spec));
  std::vector<OrderedJson> guard = forceGuardOf(policy);
  std::move(guard.begin(), guard.end(), std::back_inserter(made));
  return made;
}

}  // namespace lastout::protection
