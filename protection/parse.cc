// parsePolicy(): a DeletionPolicy's manifest; every finding names its field.
#include "kube/parse.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/well_known.h"
#include "protection/policy.h"
#include "protection/read_parts.h"

namespace lastout::protection {
namespace {

constexpr Block kBlocks[] = {Block::Delete, Block::Orphan, Block::Unprotect};
constexpr size_t kLongestName = 63;  // of a policy, in characters: it is the value of a label

using kube::Fields;

// Reads one manifest; errors gather in errors_.
class PolicyParser {
 public:
  explicit PolicyParser(const kube::Object& object) : object_(object) {}

  tl::expected<DeletionPolicy, kube::Errors> read();

 private:
  void readSpec(Fields spec);
  void readBlocks(Fields& spec);
  void readWhat(Fields& spec);
  void readAnswer(Fields& spec);
  void readExempt(Fields exempt);
  LabelUpkeep labels(Fields fields);
  Label label(Fields fields);
  void readEnforcement(Fields& spec);
  std::vector<Selection> selections(Fields& spec, std::string_view key);
  Selection selection(Fields& fields);
  std::vector<Case> cases(Fields& spec);
  Case oneCase(Fields& fields);
  FieldTest fieldTest(Fields fields);
  AncestorTest ancestor(Fields fields);
  ChildrenTest children(Fields& fields);
  ListedBy listedBy(Fields fields);
  std::string labelKey(Fields& fields, std::string_view key);
  void refuseLabelsOfAnyType(Fields& spec);

  const kube::Object& object_;
  kube::Errors errors_;
  DeletionPolicy policy_;
};

tl::expected<DeletionPolicy, kube::Errors> PolicyParser::read() {
  Fields document(object_.content, object_.file, "", errors_);
  document.allow({"apiVersion", "kind", "metadata", "status"});
  if (object_.apiVersion != kube::kLastoutApiVersion || object_.kind != kPolicyKind) {
    document.fail("apiVersion", "apiVersion and kind must be " + std::string(kube::kLastoutApiVersion) +
                                    " and " + std::string(kPolicyKind) + ", not " +
                                    kube::inQuotes(object_.apiVersion) + " and " +
                                    kube::inQuotes(object_.kind));
    return tl::unexpected(std::move(errors_));  // its other fields are those of another kind
  }
  policy_.meta = object_.meta;
  if (policy_.meta.name.size() > kLongestName)
    document.fail("metadata", "metadata.name has " + std::to_string(policy_.meta.name.size()) +
                                  " characters; at most " + std::to_string(kLongestName) +
                                  " may be, as objects that are made of the policy carry it as a label");
  if (std::optional<Fields> spec = document.requiredFields("spec")) readSpec(std::move(*spec));
  document.finish();
  if (!errors_.empty()) return tl::unexpected(std::move(errors_));
  return std::move(policy_);
}

void PolicyParser::readSpec(Fields spec) {
  readWhat(spec);
  policy_.when = cases(spec);
  readBlocks(spec);
  if (policy_.listedBy && policy_.listedBy->replay && !policy_.blocksAny(Block::Delete))
    spec.fail("blocks", spec.pathOf("blocks") + " must list Delete: " + spec.pathOf("listedBy") +
                            ".replay is about deletions that are denied");
  readEnforcement(spec);
  policy_.overrides = readKeyTests(spec, "overrides");
  policy_.exemptions = readKeyTests(spec, "exemptions");
  if (std::optional<Fields> exempt = spec.fields("exempt")) readExempt(std::move(*exempt));
  if (std::optional<Fields> upkeep = spec.fields("labels")) policy_.labels = labels(std::move(*upkeep));
  policy_.cleansUpOnShutdown = spec.boolean("cleanupOnShutdown").value_or(false);
  policy_.skipTerminating = spec.boolean("skipTerminating").value_or(false);
  const auto namespaces = spec.oneOf("namespaces", {"Imply", "Ignore", "Strict"});
  if (namespaces == "Ignore") policy_.namespaces = Implication::Ignore;
  if (namespaces == "Strict") policy_.namespaces = Implication::Strict;
  if (spec.oneOf("crds", {"Imply", "Ignore"}) == "Ignore") policy_.crds = Implication::Ignore;
  readAnswer(spec);
  if (errors_.empty()) {
    if (const std::string trap = trapIn(policy_); !trap.empty())
      spec.fail("objects", spec.pathOf("objects") + " " + trap);
  }
  if (policy_.labels) refuseLabelsOfAnyType(spec);
  spec.finish();
}

// After a mistake it is as if the field were absent, so that nothing else is said of it.
void PolicyParser::readBlocks(Fields& spec) {
  std::vector<Block> blocks;
  bool isKnown = true;
  for (const std::string& word : readStrings(spec, "blocks")) {
    const auto meant = std::ranges::find_if(kBlocks, [&](Block block) { return word == toString(block); });
    if (meant == std::end(kBlocks)) {
      isKnown = false;
      spec.fail("blocks", spec.pathOf("blocks") + " must list Delete, Orphan or Unprotect, not " +
                              kube::inQuotes(word));
    } else if (std::ranges::find(blocks, *meant) == blocks.end()) {
      blocks.push_back(*meant);
    }
  }
  const kube::Value* given = spec.any("blocks");
  if (given != nullptr && given->asList() != nullptr && given->asList()->empty())
    spec.fail("blocks", spec.pathOf("blocks") + " is empty: leave it out for Delete");
  if (isKnown && !blocks.empty()) policy_.blocks = std::move(blocks);
}

void PolicyParser::readWhat(Fields& spec) {
  policy_.objects = selections(spec, "objects");
  policy_.exceptObjects = selections(spec, "exceptObjects");
  if (std::optional<Fields> list = spec.fields("listedBy")) policy_.listedBy = listedBy(std::move(*list));
  if (policy_.objects.empty() == !policy_.listedBy)
    spec.fail("objects", policy_.listedBy
                             ? spec.pathOf("objects") + " and " + spec.pathOf("listedBy") +
                                   " are both given: one of them says what is protected"
                             : spec.pathOf("objects") + " is missing: say which objects the policy is about");
}

void PolicyParser::readAnswer(Fields& spec) {
  policy_.message = readMessage(spec, "message", policy_.listedBy.has_value());
  policy_.unprotectMessage = readMessage(spec, "unprotectMessage", policy_.listedBy.has_value());
  const int64_t code = spec.integer("code").value_or(403);
  if (code != 403 && code != 409)
    spec.fail("code", spec.pathOf("code") + " must be 403 or 409, not " + std::to_string(code));
  policy_.code = static_cast<int>(code);
  policy_.webhookName = spec.string("webhookName").value_or("");
  if (!policy_.webhookName.empty() &&
      (!kube::isDnsSubdomain(policy_.webhookName) ||
       std::count(policy_.webhookName.begin(), policy_.webhookName.end(), '.') < 2 ||
       policy_.webhookName.ends_with(".lastout.dev")))
    spec.fail("webhookName", spec.pathOf("webhookName") +
                                 " must be a DNS name of three labels at least, as in "
                                 "\"protect.example.com\", and not of lastout.dev, whose names are those of "
                                 "lastout's own webhooks; it is " +
                                 kube::inQuotes(policy_.webhookName));
  policy_.failsClosed = spec.oneOf("failurePolicy", {"Fail", "Ignore"}) != "Ignore";
}

void PolicyParser::readExempt(Fields exempt) {
  policy_.exemptUsers = readStrings(exempt, "users");
  policy_.exemptGroups = readStrings(exempt, "groups");
  exempt.finish();
}

LabelUpkeep PolicyParser::labels(Fields fields) {
  LabelUpkeep made;
  if (std::optional<Fields> one = fields.requiredFields("protection"))
    made.protection = label(std::move(*one));
  if (std::optional<Fields> one = fields.requiredFields("exemption")) made.exemption = label(std::move(*one));
  made.isProtected = fields.boolean("protected").value_or(true);
  made.isExempt = fields.boolean("exempt").value_or(false);
  made.repairAfter = readPause(fields, "repairAfter", made.repairAfter);
  if (!made.protection.key.empty() && made.protection.key == made.exemption.key)
    fields.fail("exemption", fields.pathOf("exemption") + " has the key of " + fields.pathOf("protection") +
                                 ": one label cannot say both");
  fields.finish();
  return made;
}

Label PolicyParser::label(Fields fields) {
  Label made{labelKey(fields, "key"), fields.requiredString("value")};
  if (!kube::isLabelValue(made.value))
    fields.fail("value", fields.pathOf("value") + " is no value of a label: " + kube::inQuotes(made.value));
  fields.finish();
  return made;
}

void PolicyParser::readEnforcement(Fields& spec) {
  const bool holds = spec.oneOf("enforcement", {"Deny", "Hold"}) == "Hold";
  std::optional<Fields> hold = spec.fields("hold");
  if (hold) policy_.hold = readHold(std::move(*hold));
  if (holds != policy_.hold.has_value())
    spec.fail("hold", holds ? spec.pathOf("hold") + " is missing: enforcement Hold needs a finalizer there"
                            : spec.pathOf("hold") + " goes with enforcement: Hold alone");
  if (!policy_.hold) return;
  if (policy_.blocks != std::vector<Block>{Block::Delete})
    spec.fail("blocks", spec.pathOf("blocks") + " must be Delete alone where enforcement is Hold");
  if (policy_.when.empty())
    spec.fail("when", spec.pathOf("when") + " is missing: enforcement Hold needs to know until when");
  if (policy_.listedBy)
    spec.fail("listedBy", spec.pathOf("listedBy") + " does not go with enforcement: Hold; give objects");
  for (const Case& one : policy_.when) {
    Case alone;
    alone.children = one.children;
    if (one.isLocal() || one == alone) continue;
    spec.fail("when", spec.pathOf("when") + (one.children.empty()
                                                 ? " asks of other objects, which enforcement Hold does for "
                                                   "children alone"
                                                 : " has children together with something else, which "
                                                   "enforcement Hold does not know: make two cases of it"));
  }
  for (const Selection& selection : policy_.objects)
    for (const ResourcePattern& pattern : selection.resources)
      if (pattern.group == "*" || pattern.resource == "*")
        spec.fail("objects", spec.pathOf("objects") + " must name each type where enforcement is Hold: " +
                                 "lastout sets a finalizer on all of their objects");
}

std::vector<Selection> PolicyParser::selections(Fields& spec, std::string_view key) {
  std::vector<Selection> made;
  for (Fields& one : readItems(spec, key)) made.push_back(selection(one));
  return made;
}

Selection PolicyParser::selection(Fields& fields) {
  Selection made;
  for (Fields& one : readItems(fields, "resources")) {
    ResourcePattern pattern{one.string("group").value_or(""), one.requiredString("resource")};
    if (pattern.resource.find('/') != std::string::npos)
      one.fail("resource", one.pathOf("resource") +
                               " names a subresource: name the resource alone; updates " +
                               "of its subresources are looked at, too");
    one.finish();
    made.resources.push_back(std::move(pattern));
  }
  if (made.resources.empty())
    fields.fail("resources",
                fields.pathOf("resources") + R"( is missing or empty: name a group and a resource, or "*")");
  made.namespaces = readStrings(fields, "namespaces");
  made.names = readStrings(fields, "names");
  if (const kube::Value* selector = fields.map("labelSelector")) {
    auto parsed = kube::parseSelector(*selector, fields.file(), fields.pathOf("labelSelector"));
    if (parsed)
      made.labels = std::move(*parsed);
    else
      errors_.push_back(std::move(parsed.error()));
  }
  fields.finish();
  return made;
}

std::vector<Case> PolicyParser::cases(Fields& spec) {
  std::vector<Case> made;
  for (Fields& one : readItems(spec, "when")) made.push_back(oneCase(one));
  if (spec.has("when") && made.empty() && errors_.empty())
    spec.fail("when", spec.pathOf("when") + " is empty: leave it out to protect the objects at all times");
  return made;
}

Case PolicyParser::oneCase(Fields& fields) {
  Case made;
  if (fields.has("label") || fields.has("annotation")) made.key = readKeyTest(fields);
  if (std::optional<Fields> field = fields.fields("field")) made.field = fieldTest(std::move(*field));
  if (std::optional<Fields> of = fields.fields("ancestor")) made.ancestor = ancestor(std::move(*of));
  for (Fields& one : readItems(fields, "children")) made.children.push_back(children(one));
  if (const auto word = fields.oneOf("active", {"Pods", "BoundClaims", "Instances", "Replicas"}))
    made.activity = *word == "Pods"          ? Activity::Pods
                    : *word == "BoundClaims" ? Activity::BoundClaims
                    : *word == "Instances"   ? Activity::Instances
                                             : Activity::Replicas;
  if (made == Case() && errors_.empty())
    fields.failAt(fields.value(), fields.path() +
                                      " says nothing: give a label, an annotation, a field, an ancestor, "
                                      "children or active");
  fields.finish();
  return made;
}

FieldTest PolicyParser::fieldTest(Fields fields) {
  FieldTest test;
  test.path = readRequiredPath(fields, "path");
  if (const kube::Value* value = fields.any("equals")) {
    if (value->asBool())
      test.equals = *value->asBool();
    else if (value->asInteger())
      test.equals = *value->asInteger();
    else if (value->asString())
      test.equals = *value->asString();
    else
      fields.fail("equals", fields.pathOf("equals") + " must be true, false, a whole number or a string");
  }
  test.whenAbsent = fields.oneOf("whenAbsent", {"Protected", "Unprotected"}) == "Protected";
  fields.finish();
  return test;
}

AncestorTest PolicyParser::ancestor(Fields fields) {
  AncestorTest test;
  test.groupLabel = labelKey(fields, "groupLabel");
  test.versionLabel = labelKey(fields, "versionLabel");
  test.kindLabel = labelKey(fields, "kindLabel");
  test.nameLabel = labelKey(fields, "nameLabel");
  test.orOfNamespace = fields.boolean("orOfNamespace").value_or(true);
  test.cluster = fields.string("cluster").value_or("");
  if (fields.has("cluster") && !kube::isDnsLabel(test.cluster))
    fields.fail("cluster", fields.pathOf("cluster") + " must be a DNS label, the name that " +
                               "lastout serve --policy-cluster gives the cluster, not " +
                               kube::inQuotes(test.cluster));
  if (std::optional<Fields> field = fields.requiredFields("field")) test.field = fieldTest(std::move(*field));
  fields.finish();
  return test;
}

ChildrenTest PolicyParser::children(Fields& fields) {
  ChildrenTest test;
  test.type = {fields.string("group").value_or(""), fields.requiredString("resource")};
  const bool byField = fields.has("field");
  const bool byLabel = fields.has("label");
  const bool byOwner = fields.boolean("ownerReference").value_or(false);
  if (byField + byLabel + byOwner != 1)
    fields.failAt(fields.value(), fields.path() +
                                      " must have exactly one of field, label and ownerReference: true: how "
                                      "children refer to the object");
  if (byField) test.name = readRequiredPath(fields, "field");
  if (byLabel) test.label = labelKey(fields, "label");
  test.by = byField   ? ChildrenTest::By::Field
            : byLabel ? ChildrenTest::By::Label
                      : ChildrenTest::By::OwnerReference;
  test.namespaceName = readPath(fields, "namespaceField");
  if (test.namespaceName && !byField)
    fields.fail("namespaceField", fields.pathOf("namespaceField") + " goes with field alone");
  fields.finish();
  return test;
}

ListedBy PolicyParser::listedBy(Fields fields) {
  ListedBy made;
  made.type = {fields.string("group").value_or(""), fields.requiredString("resource")};
  made.entries = readPath(fields, "entries").value_or(FieldPath());
  made.selectors = readPath(fields, "selectors").value_or(FieldPath());
  made.apiVersion = readRequiredPath(fields, "apiVersion");
  made.kind = readRequiredPath(fields, "kind");
  made.namespaceName = readPath(fields, "namespace");
  made.name = readPath(fields, "name");
  made.names = readPath(fields, "names");
  made.matchLabels = readPath(fields, "matchLabels");
  made.matchNamespace = readPath(fields, "matchNamespace");
  made.matchController = readPath(fields, "matchController");
  const auto in = fields.oneOf("in", {"AnyNamespace", "OwnUnlessNamed", "OwnNamespace"});
  if (in == "OwnUnlessNamed") made.in = ListedIn::OwnUnlessNamed;
  if (in == "OwnNamespace") made.in = ListedIn::OwnNamespace;
  made.because = readFieldSentences(fields, "because");
  made.replay = readPath(fields, "replay");
  fields.finish();
  return made;
}

std::string PolicyParser::labelKey(Fields& fields, std::string_view key) {
  std::string label = fields.requiredString(key);
  if (!label.empty() && !kube::isQualifiedName(label))
    fields.fail(key, fields.pathOf(key) + " is no key of a label: " + kube::inQuotes(label));
  return label;
}

// To label objects of any type would be to write all that there is in the cluster.
void PolicyParser::refuseLabelsOfAnyType(Fields& spec) {
  const auto isAny = [](const ResourcePattern& one) { return one.group == "*" || one.resource == "*"; };
  const bool isNamed =
      !policy_.objects.empty() &&
      std::none_of(policy_.objects.begin(), policy_.objects.end(), [&](const Selection& selection) {
        return std::any_of(selection.resources.begin(), selection.resources.end(), isAny);
      });
  if (!isNamed)
    spec.fail("labels", spec.pathOf("labels") + " are kept on objects of types that " +
                            spec.pathOf("objects") + " name: give group and resource, without \"*\"");
}

}  // namespace

tl::expected<DeletionPolicy, kube::Errors> parsePolicy(const kube::Object& object) {
  return PolicyParser(object).read();
}

tl::expected<std::vector<PolicyManifest>, kube::Errors> parsePolicyManifests(
    std::vector<kube::Value> documents, std::string_view file) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  auto objects = kube::parseObjects(std::move(documents), file, types);
  if (!objects) return tl::unexpected(kube::Errors{std::move(objects.error())});
  std::vector<PolicyManifest> policies;
  kube::Errors errors;
  for (kube::Object& object : *objects) {
    auto policy = parsePolicy(object);
    if (policy)
      policies.push_back({std::move(object), std::move(*policy)});
    else
      errors.insert(errors.end(), policy.error().begin(), policy.error().end());
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return policies;
}

tl::expected<std::vector<DeletionPolicy>, kube::Errors> parsePolicies(std::string_view yaml,
                                                                      std::string_view file) {
  auto documents = kube::parseYaml(yaml, file);
  if (!documents) return tl::unexpected(kube::Errors{std::move(documents.error())});
  auto manifests = parsePolicyManifests(std::move(*documents), file);
  if (!manifests) return tl::unexpected(std::move(manifests.error()));
  std::vector<DeletionPolicy> policies;
  for (PolicyManifest& one : *manifests) policies.push_back(std::move(one.policy));
  return policies;
}

}  // namespace lastout::protection
