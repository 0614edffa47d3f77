#include "protection/cel.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "protection/evaluate.h"
#include "protection/force_guard.h"
#include "protection/message.h"
#include "protection/placement.h"

namespace lastout::protection {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kOld = "oldObject";
constexpr std::string_view kNew = "object";
constexpr std::string_view kDeletes = "request.operation == 'DELETE'";
constexpr std::string_view kUpdates = "request.operation == 'UPDATE'";
constexpr std::string_view kOrphans =
    "request.options != null && ((has(request.options.propagationPolicy) && "
    "request.options.propagationPolicy == 'Orphan') || "
    "(has(request.options.orphanDependents) && request.options.orphanDependents == true))";
constexpr std::string_view kNamespaceName =
    "(has(oldObject.metadata.namespace) ? oldObject.metadata.namespace : '')";
constexpr std::string_view kResource =
    "request.resource.resource + (request.resource.group == '' ? '' : '.' + request.resource.group)";

// Joins what is not empty; each in parentheses where there are several. Empty: there is none, which is true
// for " && ".
std::string joined(const std::vector<std::string>& parts, std::string_view by) {
  const auto some =
      std::count_if(parts.begin(), parts.end(), [](const std::string& part) { return !part.empty(); });
  std::string text;
  for (const std::string& part : parts) {
    if (part.empty()) continue;
    if (!text.empty()) text += by;
    text += some > 1 ? "(" + part + ")" : part;
  }
  return text;
}

std::string allOf(const std::vector<std::string>& parts) { return joined(parts, " && "); }
std::string anyOf(const std::vector<std::string>& parts) { return joined(parts, " || "); }
std::string negated(const std::string& part) { return part.empty() ? "false" : "!(" + part + ")"; }

std::string listOf(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values) text += (text.size() > 1 ? ", " : "") + celLiteral(value);
  return text + "]";
}

std::string isOneOf(const std::string& what, const std::vector<std::string>& values) {
  return values.size() == 1 ? what + " == " + celLiteral(values.front()) : what + " in " + listOf(values);
}

std::string mapOf(std::string_view object, KeyTest::Place place) {
  return std::string(object) +
         (place == KeyTest::Place::Label ? ".metadata.labels" : ".metadata.annotations");
}

std::string hasKey(std::string_view object, KeyTest::Place place, const std::string& key) {
  const std::string map = mapOf(object, place);
  return "has(" + map + ") && " + celLiteral(key) + " in " + map;
}

std::string valueOf(std::string_view object, const KeyTest& test) {
  return mapOf(object, test.place) + "[" + celLiteral(test.key) + "]";
}

std::string anyKey(const std::vector<KeyTest>& tests, std::string_view object) {
  std::vector<std::string> parts;
  for (const KeyTest& test : tests) parts.push_back(celOfKey(test, object));
  return anyOf(parts);
}

bool isIdentifier(const std::string& key) {
  static const std::set<std::string, std::less<>> kReserved{
      "as",  "break", "const", "continue", "else",      "false",  "for",  "function", "if",   "import", "in",
      "let", "loop",  "null",  "package",  "namespace", "return", "true", "var",      "void", "while"};
  const auto isWord = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  return std::isdigit(static_cast<unsigned char>(key.front())) == 0 &&
         std::all_of(key.begin(), key.end(), isWord) && kReserved.find(key) == kReserved.end();
}

// "has(oldObject.spec) && has(oldObject.spec.x)", and what the whole path is called.
std::pair<std::string, std::string> presence(const FieldPath& path) {
  std::string at(kOld);
  std::vector<std::string> parts;
  for (const std::string& key : path.keys) {
    if (isIdentifier(key)) {
      at += "." + key;
      parts.push_back("has(" + at + ")");
    } else {
      parts.push_back(celLiteral(key) + " in " + at);
      at += "[" + celLiteral(key) + "]";
    }
  }
  parts.push_back(at + " != null");
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : " && ") + part;
  return {text, at};
}

std::string literalOf(const FieldTest::Wanted& wanted) {
  if (const bool* truth = std::get_if<bool>(&wanted)) return *truth ? "true" : "false";
  if (const int64_t* number = std::get_if<int64_t>(&wanted)) return std::to_string(*number);
  return celLiteral(std::get<std::string>(wanted));
}

std::string celOf(const FieldTest& test) {
  const auto [isThere, value] = presence(test.path);
  return "(" + isThere + ") ? " + value + " == " + literalOf(test.equals) + " : " +
         (test.whenAbsent ? "true" : "false");
}

std::string celOf(const kube::SelectorRequirement& requirement, std::string_view object) {
  using Operator = kube::SelectorRequirement::Operator;
  const KeyTest test{KeyTest::Place::Label, requirement.key,
                     requirement.op == Operator::In || requirement.op == Operator::NotIn
                         ? requirement.values
                         : std::vector<std::string>()};
  const bool isNegated = requirement.op == Operator::NotIn || requirement.op == Operator::DoesNotExist;
  return isNegated ? negated(celOfKey(test, object)) : celOfKey(test, object);
}

std::string celOf(const ResourcePattern& pattern) {
  return allOf(
      {pattern.group == "*" ? "" : "request.resource.group == " + celLiteral(pattern.group),
       pattern.resource == "*" ? "" : "request.resource.resource == " + celLiteral(pattern.resource)});
}

bool isAnything(const ResourcePattern& pattern) { return pattern.group == "*" && pattern.resource == "*"; }

std::string celOf(const Selection& selection, std::string_view object) {
  std::vector<std::string> types;
  for (const ResourcePattern& pattern : selection.resources) types.push_back(celOf(pattern));
  if (std::any_of(selection.resources.begin(), selection.resources.end(), isAnything)) types.clear();
  std::vector<std::string> parts{anyOf(types)};
  if (!selection.namespaces.empty())
    parts.push_back(isOneOf(std::string(kNamespaceName), selection.namespaces));
  if (!selection.names.empty()) parts.push_back(isOneOf("oldObject.metadata.name", selection.names));
  for (const kube::SelectorRequirement& requirement : selection.labels.requirements)
    parts.push_back(celOf(requirement, object));
  return allOf(parts);
}

// Whether the policy is about the object. Empty: it is about all that its rules match.
std::string celOfSelections(const DeletionPolicy& policy, std::string_view object) {
  std::vector<std::string> selected;
  for (const Selection& selection : policy.objects) {
    selected.push_back(celOf(selection, object));
    if (!selected.back().empty()) continue;
    selected.clear();
    break;
  }
  std::vector<std::string> parts{anyOf(selected)};
  for (const Selection& excluded : policy.exceptObjects) parts.push_back(negated(celOf(excluded, object)));
  return allOf(parts);
}

std::string celOf(const Case& one) {
  std::vector<std::string> parts;
  if (one.key) parts.push_back(celOfKey(*one.key, kOld));
  if (one.field) parts.push_back(celOf(*one.field));
  if (one.activity)
    parts.emplace_back(
        "has(oldObject.spec) && has(oldObject.spec.replicas) && oldObject.spec.replicas != null ? "
        "oldObject.spec.replicas > 0 : true");
  return allOf(parts);
}

std::string reasonOf(const Case* one) {
  if (one == nullptr) return "''";
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

// API servers do not show a message with a line break in it.
std::string onOneLine(std::string text) {
  std::string line;
  for (const char character : text) {
    const bool isBreak = character == '\n';
    if (isBreak && (line.empty() || line.back() == ' ')) continue;
    line += isBreak ? ' ' : character;
  }
  return line;
}

std::string celOfMessage(const DeletionPolicy& policy, Block block, const Case* one) {
  using Kind = MessagePiece::Kind;
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
        text += "oldObject.metadata.name";
        break;
      case Kind::Namespace:
        text += kNamespaceName;
        break;
      case Kind::InNamespace:
        text += "(" + std::string(kNamespaceName) + " == '' ? '' : ' in namespace \"' + " +
                std::string(kNamespaceName) + " + '\"')";
        break;
      case Kind::Reason:
        text += reasonOf(one);
        break;
    }
  }
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

// An update can take an object out of the policy's selections.
bool selectsByLabels(const DeletionPolicy& policy) {
  const auto byLabels = [](const Selection& selection) { return !selection.labels.requirements.empty(); };
  return std::any_of(policy.objects.begin(), policy.objects.end(), byLabels) ||
         std::any_of(policy.exceptObjects.begin(), policy.exceptObjects.end(), byLabels);
}

Json validationsOf(const DeletionPolicy& policy) {
  Json validations = Json::array();
  const auto add = [&](Block block, const Case* one) {
    validations.push_back({{"expression", negated(celOfBlock(policy, block, one))},
                           {"messageExpression", celOfMessage(policy, block, one)},
                           {"message", "deletion policy " + policy.meta.name + " protects this object"},
                           {"reason", "Forbidden"}});
  };
  for (const Block block : blocksOf(policy)) {
    if (policy.when.empty() && (block != Block::Unprotect || selectsByLabels(policy))) add(block, nullptr);
    for (const Case& one : policy.when)
      if (one.isLocal()) add(block, &one);
  }
  return validations;
}

Json rulesOf(const DeletionPolicy& policy) {
  const bool deletes = policy.blocksAny(Block::Delete) || policy.blocksAny(Block::Orphan);
  Json rules = Json::array();
  std::set<std::pair<std::string, std::string>> seen;
  for (const Selection& selection : policy.objects) {
    for (const ResourcePattern& pattern : selection.resources) {
      if (!seen.emplace(pattern.group, pattern.resource).second) continue;
      const auto add = [&](const char* operation, Json resources) {
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
    if (!one.key || one.key->place != KeyTest::Place::Label) return "";
    if (!label.empty() && label != one.key->key) return "";
    label = one.key->key;
  }
  return label;
}

// The object carries a finalizer of another operator's, and nothing forces its deletion.
std::string celOfAnotherOperator(const Hold& hold) {
  std::vector<std::string> parts{
      "has(oldObject.metadata.finalizers) && oldObject.metadata.finalizers.exists(f, " +
      isOneOf("f", hold.finalizersOfOthers) + ")"};
  if (hold.force) parts.push_back(negated(celOfKey(hold.force->key, kOld)));
  return allOf(parts);
}

Json conditionsOf(const DeletionPolicy& policy) {
  Json conditions = Json::array();
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
  if (policy.hold) add("is-not-held-instead", celOfAnotherOperator(*policy.hold));
  if (policy.skipTerminating) add("is-not-terminating", "!has(oldObject.metadata.deletionTimestamp)");
  std::vector<std::string> exempt;
  if (!policy.exemptUsers.empty()) exempt.push_back(isOneOf("request.userInfo.username", policy.exemptUsers));
  if (!policy.exemptGroups.empty())
    exempt.push_back("has(request.userInfo.groups) && request.userInfo.groups.exists(g, " +
                     isOneOf("g", policy.exemptGroups) + ")");
  if (!exempt.empty()) add("is-not-exempt", negated(anyOf(exempt)));
  return conditions;
}

}  // namespace

std::string admissionPolicyName(const DeletionPolicy& policy) { return "lastout-policy-" + policy.meta.name; }

std::vector<Json> withBinding(const DeletionPolicy& policy, const std::string& name, Json spec) {
  constexpr const char* kApiVersion = "admissionregistration.k8s.io/v1";
  const Json metadata{
      {"name", name},
      {"labels",
       {{"app.kubernetes.io/managed-by", "lastout"}, {std::string(kMadeOfLabel), policy.meta.name}}}};
  return {{{"apiVersion", kApiVersion},
           {"kind", "ValidatingAdmissionPolicy"},
           {"metadata", metadata},
           {"spec", std::move(spec)}},
          {{"apiVersion", kApiVersion},
           {"kind", "ValidatingAdmissionPolicyBinding"},
           {"metadata", metadata},
           {"spec", {{"policyName", name}, {"validationActions", {"Deny"}}}}}};
}

std::vector<Json> admissionPoliciesOf(const DeletionPolicy& policy) {
  if (!runsAt(policy, PolicyMode::ApiServer, Place::ApiServer)) return {};
  std::vector<Json> guard = forceGuardOf(policy);
  Json validations = validationsOf(policy);
  if (validations.empty() || (policy.hold && policy.hold->finalizersOfOthers.empty())) return guard;
  Json match{{"matchPolicy", "Equivalent"}, {"resourceRules", rulesOf(policy)}};
  if (const std::string label = commonLabel(policy); !label.empty())
    match["objectSelector"] = {{"matchExpressions", {{{"key", label}, {"operator", "Exists"}}}}};
  Json spec{{"failurePolicy", policy.failsClosed ? "Fail" : "Ignore"},
            {"matchConstraints", std::move(match)}};
  if (Json conditions = conditionsOf(policy); !conditions.empty())
    spec["matchConditions"] = std::move(conditions);
  spec["validations"] = std::move(validations);
  std::vector<Json> made = withBinding(policy, admissionPolicyName(policy), std::move(spec));
  std::move(guard.begin(), guard.end(), std::back_inserter(made));
  return made;
}

std::string celOfKey(const KeyTest& test, std::string_view object) {
  std::string text = hasKey(object, test.place, test.key);
  return test.values.empty() ? text : text + " && " + isOneOf(valueOf(object, test), test.values);
}

std::string celLiteral(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr char kFirstPrintable = ' ';
  constexpr char kDelete = '\x7f';
  std::string literal = "'";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '\'' || character == '\\') {
      (literal += '\\') += character;
    } else if (code < kFirstPrintable || character == kDelete) {
      ((literal += "\\u00") += kHex[code >> 4U]) += kHex[code & 15U];
    } else {
      literal += character;
    }
  }
  return literal + "'";
}

}  // namespace lastout::protection
