// The CRD that is shipped and the parser agree about the fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "kube/parse.h"
#include "kube/well_known.h"
#include "protection/policy.h"
#include "protection/profiles.h"
#include "tests/protection/policies.h"
#include "tests/support/crd_schema.h"
#include "tests/support/manifests.h"

namespace lastout::protection {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSubsetOf;
using ::testing::UnorderedElementsAreArray;

kube::Object crd() { return testing::crdOf("deploy/crd/deletionpolicies.yaml"); }

const kube::Value& version(const kube::Object& crd) {
  return crd.content.at({"spec", "versions"})->asList()->at(0);
}

const kube::Value& specSchema(const kube::Object& crd) {
  return *version(crd).at({"schema", "openAPIV3Schema", "properties", "spec"});
}

// Every field that a policy can have; some exclude others, so there are several policies.
constexpr const char* kWithObjects = R"(  objects: []
  exceptObjects:
  - resources: [{group: apps, resource: deployments}]
    namespaces: [a]
    names: [a]
    labelSelector: {matchLabels: {}, matchExpressions: [{key: a, operator: In, values: [b]}]}
  when:
  - label: a/b
    values: [c]
    field: {path: spec.a, equals: true, whenAbsent: Protected}
    ancestor:
      groupLabel: a/g
      versionLabel: a/v
      kindLabel: a/k
      nameLabel: a/n
      cluster: c
      orOfNamespace: false
      field: {path: spec.a, equals: 3, whenAbsent: Unprotected}
    children:
    - {group: a.b, resource: cs, field: spec.a, namespaceField: spec.b}
    - {resource: pods, label: a/b}
    - {resource: pods, ownerReference: true}
    active: Replicas
  - {annotation: a/b}
  blocks: [Delete, Orphan, Unprotect]
  overrides: [{label: a/b, values: [c]}, {annotation: a/b}]
  exemptions: [{label: a/b, values: [c]}, {annotation: a/b}]
  exempt: {users: [a], groups: [b]}
  labels:
    protection: {key: a/b, value: c}
    protected: false
    exemption: {key: a/d, value: c}
    exempt: true
    repairAfter: 30s
  cleanupOnShutdown: true
  skipTerminating: true
  namespaces: Ignore
  crds: Ignore
  message: "{kind}"
  unprotectMessage: "{name}"
  code: 409
  webhookName: a.b.c
  failurePolicy: Ignore
)";

constexpr const char* kListed = R"(  listedBy:
    group: a.b
    resource: cs
    entries: spec.a
    selectors: b
    apiVersion: c
    kind: d
    namespace: e
    name: f
    names: g
    matchLabels: h
    matchNamespace: i
    matchController: j
    replay: k
    in: OwnNamespace
    because: ["by {k.l}"]
)";

constexpr const char* kEveryHold = R"(  objects: [{resources: [{group: a.b, resource: cs}]}]
  when: [{label: a/b}]
  enforcement: Hold
  hold:
    finalizer: a.b/c
    finalizersOfOthers: [a.b/d]
    pauses: [{label: a/b, values: [c]}, {annotation: a/b}]
    force: {annotation: a/b, values: [c], starts: Always, requires: Delete}
    confirmAnnotation: a/b
    external: {field: spec.a, default: Keep, allowed: [Keep], reportedBy: {condition: a}}
    status:
      phaseField: status.a
      messageField: status.b
      confirmationField: status.c
      condition: Ready
      phases: {blocked: a, pending: b, deleting: c}
    reasons: {protected: a, children: b, pending: c, cascading: d, event: e}
    messages: {protected: a, pending: b}
    lookAgain: 1s
    retryAfter: 1s
)";

constexpr const char* kHoldByAnnotation = R"(  objects: [{resources: [{group: a.b, resource: cs}]}]
  when: [{label: a/b}]
  enforcement: Hold
  hold: {finalizer: a.b/c, external: {annotation: a/b, default: Keep, reportedBy: {annotation: a/c}}}
)";

// `objects` has the fields of `exceptObjects`.
std::string withObjects() {
  std::string text(kWithObjects);
  const std::string anchor = "  objects: []\n";
  const size_t begin = text.find("  - resources:");
  const std::string selection = text.substr(begin, text.find("  when:") - begin);
  return "  objects:\n" + selection + text.substr(anchor.size());
}

std::set<std::string> fieldsOfSpec(std::string_view policy) {
  const auto documents = kube::parseYaml(policy, "");
  std::set<std::string> fields;
  for (const kube::Value& document : *documents) fields.merge(testing::fieldsOf(*document.find("spec")));
  return fields;
}

TEST(DeletionPolicyCrd, DefinesTheTypeThatIsBuiltIn) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  const kube::ResourceType before = *types.find(deletionPolicyType());
  const auto added = types.addCrd(crd().content, "deploy/crd/deletionpolicies.yaml");
  ASSERT_TRUE(added) << kube::toString(added.error());
  EXPECT_EQ(added->type, deletionPolicyType());
  EXPECT_EQ(added->kind, kPolicyKind);
  EXPECT_EQ(added->type.group + "/" + added->version, kube::kLastoutApiVersion);
  EXPECT_FALSE(added->namespaced);
  EXPECT_EQ(added->singular, before.singular);
  EXPECT_EQ(added->shortNames, before.shortNames);
}

TEST(DeletionPolicyCrd, ItsSchemaHasTheFieldsThatAreReadAndNoOthers) {
  std::set<std::string> read;
  for (const std::string& spec :
       {withObjects(), std::string(kListed), std::string(kEveryHold), std::string(kHoldByAnnotation)}) {
    const auto policies = parsePolicies(policyText(spec), "");
    ASSERT_TRUE(policies) << testing::lines(policies.error());
    read.merge(fieldsOfSpec(policyText(spec)));
  }
  EXPECT_THAT(testing::propertiesOf(specSchema(crd())), UnorderedElementsAreArray(read));
}

TEST(DeletionPolicyCrd, HasWhateverAProfileSays) {
  const std::set<std::string> inSchema = testing::propertiesOf(specSchema(crd()));
  for (const Profile& one : profiles()) EXPECT_THAT(fieldsOfSpec(one.text), IsSubsetOf(inSchema)) << one.name;
}

std::vector<std::string> words(const kube::Value& schema) {
  std::vector<std::string> all;
  for (const kube::Value& word : *schema.find("enum")->asList()) all.push_back(*word.asString());
  return all;
}

TEST(DeletionPolicyCrd, ItsDefaultsAreTheParsers) {
  const kube::Object object = crd();
  const kube::Value& properties = *specSchema(object).find("properties");
  const DeletionPolicy none = policyOf("  objects: [{resources: [{resource: pods}]}]\n");
  EXPECT_THAT(words(*properties.at({"blocks", "items"})),
              ElementsAre(toString(Block::Delete), toString(Block::Orphan), toString(Block::Unprotect)));
  EXPECT_THAT(none.blocks, ElementsAre(Block::Delete));
  EXPECT_EQ(*properties.at({"blocks", "default"})->asList()->at(0).asString(), "Delete");
  EXPECT_EQ(*properties.at({"code", "default"})->asInteger(), none.code);
  for (const char* field : {"namespaces", "crds"}) {
    EXPECT_EQ(*properties.at({field, "default"})->asString(), "Imply");
  }
  EXPECT_THAT(words(*properties.find("namespaces")), ElementsAre("Imply", "Ignore", "Strict"));
  EXPECT_THAT(words(*properties.find("crds")), ElementsAre("Imply", "Ignore"))
      << "a CRD is kept whenever it is not known what its instances are";
  EXPECT_EQ(none.namespaces, Implication::Imply);
  EXPECT_EQ(none.crds, Implication::Imply);
  EXPECT_EQ(*properties.at({"failurePolicy", "default"})->asString(), "Fail");
  EXPECT_TRUE(none.failsClosed);
}

TEST(DeletionPolicyCrd, ItsBoundsAreTheParsers) {
  const kube::Object object = crd();
  const int64_t entries = *specSchema(object).at({"properties", "when", "maxItems"})->asInteger();
  const int64_t names = *specSchema(object)
                             .at({"properties", "objects", "items", "properties", "names", "maxItems"})
                             ->asInteger();
  const auto problems = [](int64_t cases, int64_t count) {
    std::string spec = "  objects: [{resources: [{resource: pods}], names: [";
    for (int64_t i = 0; i < count; ++i) spec += (i == 0 ? "a" : ", a") + std::to_string(i);
    spec += "]}]\n  when:\n";
    for (int64_t i = 0; i < cases; ++i) spec += "  - {label: a/b}\n";
    const auto read = parsePolicies(policyText(spec), "");
    return read ? std::string() : testing::lines(read.error());
  };
  EXPECT_EQ(problems(entries, names), "");
  EXPECT_THAT(problems(entries + 1, names), HasSubstr("spec.when has"));
  EXPECT_THAT(problems(entries, names + 1), HasSubstr(".names has"));
}

TEST(DeletionPolicyCrd, StatusIsASubresource) {
  const kube::Object object = crd();
  EXPECT_NE(version(object).at({"subresources", "status"}), nullptr);
  const std::set<std::string> inSchema =
      testing::propertiesOf(*version(object).at({"schema", "openAPIV3Schema", "properties", "status"}));
  EXPECT_EQ(inSchema.count("conditions[].type"), 1U);
  EXPECT_EQ(inSchema.count("observedGeneration"), 1U);
}

TEST(DeletionPolicyCrd, PrinterColumnsShowFieldsThatExist) {
  EXPECT_THAT(testing::columnsWithoutField(version(crd())), IsEmpty());
}

}  // namespace
}  // namespace lastout::protection
