// What is refused of built-in types, of a CRD's schema, and by the rules of that schema.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/well_known.h"
#include "simulator/builtin_checks.h"
#include "simulator/schema_rules.h"

namespace lastout::simulator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> fieldsOf(const std::vector<StatusCause>& causes) {
  std::vector<std::string> fields;
  fields.reserve(causes.size());
  for (const StatusCause& cause : causes) fields.push_back(cause.reason.substr(10) + " " + cause.field);
  return fields;
}

std::vector<std::string> wrongIn(const kube::GroupResource& type, const char* object) {
  return fieldsOf(fieldProblems(type, Json::parse(object)));
}

Json deployment(const char* change) {
  Json object = Json::parse(R"({"spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
      "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}}})");
  object.merge_patch(Json::parse(change));
  return object;
}

TEST(FieldRules, OfAWorkloadWithAPodTemplate) {
  const auto with = [](const char* change) {
    return fieldsOf(fieldProblems(kube::kDeployments, deployment(change)));
  };
  EXPECT_THAT(with("{}"), IsEmpty());
  EXPECT_THAT(with(R"({"spec": {"selector": {"matchLabels": {"a": "c"}}}})"),
              ElementsAre("Invalid spec.template.metadata.labels"));
  EXPECT_THAT(with(R"({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}}})"),
              ElementsAre("Invalid spec.strategy.rollingUpdate.maxUnavailable"));
  EXPECT_THAT(with(R"({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}})"),
              IsEmpty());
  const std::string containers = "spec.template.spec.containers";
  const auto withContainer = [&with](const std::string& container) {
    return with((R"({"spec": {"template": {"spec": {"volumes": [{"name": "v"}], "containers": [)" +
                 container + "]}}}}")
                    .c_str());
  };
  EXPECT_THAT(withContainer(""), ElementsAre("Required " + containers));
  EXPECT_THAT(withContainer(R"({"name": "c"})"), ElementsAre("Required " + containers + "[0].image"));
  EXPECT_THAT(withContainer(
                  R"({"name": "c", "image": "i", "ports": [{}, {"containerPort": 70000, "name": "a--b"}]})"),
              ElementsAre("Required " + containers + "[0].ports[0].containerPort",
                          "Invalid " + containers + "[0].ports[1].containerPort",
                          "Invalid " + containers + "[0].ports[1].name"));
  EXPECT_THAT(withContainer(R"({"name": "c", "image": "i", "volumeMounts": [{"name": "v"}, {"name": "w"}]})"),
              ElementsAre("NotFound " + containers + "[0].volumeMounts[1].name"));
  EXPECT_THAT(withContainer(R"({"name": "c", "image": "i", "readinessProbe": {"httpGet": {}}})"), IsEmpty());
  EXPECT_THAT(fieldsOf(fieldProblems(kube::kStatefulSets,
                                     deployment(R"({"spec": {"template": {"spec": {"containers": [
      {"name": "c", "image": "i", "volumeMounts": [{"name": "claimed"}]}]}}}})"))),
              IsEmpty());
  EXPECT_THAT(wrongIn(kube::kDeployments, R"({"spec": {"replicas": 1}})"), IsEmpty())
      << "it is taken as it is";
}

TEST(FieldRules, OfOtherTypes) {
  EXPECT_THAT(wrongIn(kube::kServices, R"({"spec": {"ports": [], "clusterIP": "None"}})"), IsEmpty());
  EXPECT_THAT(wrongIn(kube::kServices, R"({"spec": {"ports": [{"name": "8080--of-a-long-name", "port": 1},
      {"port": 2, "protocol": "HTTP"}], "type": "Node"}})"),
              ElementsAre("NotSupported spec.type", "Required spec.ports[1].name",
                          "NotSupported spec.ports[1].protocol"));
  EXPECT_THAT(wrongIn(kube::kServices, R"({"spec": {"ports": [{"port": 0, "targetPort": "-"}]}})"),
              ElementsAre("Invalid spec.ports[0].port", "Invalid spec.ports[0].targetPort",
                          "Invalid spec.ports[0].targetPort"));
  EXPECT_THAT(
      wrongIn(kube::kPodDisruptionBudgets, R"({"spec": {"maxUnavailable": -1, "minAvailable": "5"}})"),
      ElementsAre("Invalid spec", "Invalid spec.minAvailable", "Invalid spec.maxUnavailable"));
  const kube::GroupResource networkPolicies{"networking.k8s.io", "networkpolicies"};
  EXPECT_THAT(wrongIn(networkPolicies, R"({"spec": {"egress": [{"to": [{"ipBlock": {"cidr": "10.0.0.0/33"}},
      {"podSelector": {}}, {"podSelector": {}, "ipBlock": {"cidr": "::/0"}}, {}], "ports": [{"endPort": 1}]}]}})"),
              ElementsAre("Invalid spec.egress[0].ports[0].endPort", "Required spec.egress[0].to[3]",
                          "Forbidden spec.egress[0].to[2]", "Invalid spec.egress[0].to[0].ipBlock.cidr"));
  EXPECT_THAT(wrongIn(kube::kRoles, R"({"rules": [{"nonResourceURLs": ["/a"], "verbs": ["get"]},
      {"resources": ["pods"], "verbs": []}]})"),
              ElementsAre("Required rules[1].verbs", "Required rules[1].apiGroups",
                          "Invalid rules[0].nonResourceURLs"));
  EXPECT_THAT(wrongIn(kube::kClusterRoles, R"({"rules": [
      {"nonResourceURLs": [], "apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]})"),
              IsEmpty());
  const char* binding =
      R"({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"},
      {"kind": "ServiceAccount", "name": "s"}]})";
  EXPECT_THAT(wrongIn(kube::kRoleBindings, binding), IsEmpty());
  EXPECT_THAT(wrongIn(kube::kClusterRoleBindings, binding),
              ElementsAre("NotSupported roleRef.kind", "Required subjects[1].namespace"));
  EXPECT_THAT(wrongIn(kube::kSecrets, R"({"type": "kubernetes.io/tls", "data": {"tls.crt": "", "a/b": ""}})"),
              ElementsAre("Invalid data[a/b]", "Required data[tls.key]"));
  EXPECT_THAT(wrongIn(kube::kPods, R"({"spec": {"containers": []}})"), IsEmpty());
  EXPECT_THAT(wrongIn(kube::kRoles, R"({"rules": 1})"), IsEmpty()) << "whatever it is, it is not read";
  EXPECT_THAT(wrongIn(kube::kServices, R"({"spec": {"ports": [1, null, [], {"port": {}}]}})"),
              ElementsAre("Required spec.ports[3].name"));
}

std::vector<std::string> wrongWith(const char* property) {
  Json schema = {{"type", "object"}, {"properties", {{"a", Json::parse(property)}}}};
  auto fields = fieldsOf(structureProblems(schema, "s"));
  for (std::string& field : fields) field.replace(field.find("s.properties[a]"), 15, "a");
  return fields;
}

TEST(SchemaStructure, IsThatOfAStructuralSchema) {
  EXPECT_THAT(wrongWith(R"({"type": "string", "pattern": "^a$", "default": "a"})"), IsEmpty());
  EXPECT_THAT(wrongWith(R"({"x-kubernetes-int-or-string": true})"), IsEmpty());
  EXPECT_THAT(wrongWith(R"({"type": "list"})"), ElementsAre("NotSupported a.type"));
  EXPECT_THAT(wrongWith(R"({"type": "array"})"), ElementsAre("Required a.items"));
  EXPECT_THAT(wrongWith(R"({"type": "array", "items": {}})"), ElementsAre("Required a.items.type"));
  EXPECT_THAT(wrongWith(R"({"type": "array", "x-kubernetes-list-type": "map", "items": {"type": "object"}})"),
              ElementsAre("Required a.x-kubernetes-list-map-keys"));
  for (const char* taken :
       {R"({"type": "object", "properties": {}, "additionalProperties": {"type": "string"}})",
        R"({"type": "object", "properties": {"b": {"type": "string"}}, "additionalProperties": true})"})
    EXPECT_THAT(wrongWith(taken), IsEmpty()) << taken;
  EXPECT_THAT(wrongWith(R"({"type": "object", "properties": {"b": {"type": "string"}},
                            "additionalProperties": {"type": "string"}})"),
              ElementsAre("Forbidden a.additionalProperties"));
  EXPECT_THAT(
      wrongWith(R"({"type": "object", "properties": {"b": {"type": "integer"}}, "default": {"b": "c"}})"),
      ElementsAre("TypeInvalid a.default.b"));
  EXPECT_THAT(wrongWith(R"-({"type": "object", "additionalProperties": {"type": "integer"},
      "x-kubernetes-validations": [{"rule": "self.all(k, self[k] > 0)"}, {"rule": "self.all(k, k > 0)"},
      {"rule": ""}]})-"),
              ElementsAre("Invalid a.x-kubernetes-validations[1].rule",
                          "Required a.x-kubernetes-validations[2].rule"));
  EXPECT_THAT(wrongWith(R"({"type": "string", "x-kubernetes-validations": [{"rule": "self == 'a'",
      "messageExpression": "1"}]})"),
              ElementsAre("Invalid a.x-kubernetes-validations[0].messageExpression"));
}

// Names of fields are escaped for rules; keys of maps are not.
TEST(SchemaRules, FindKeysOfMapsAsTheyAre) {
  const Json schema = Json::parse(R"({"type": "object", "properties": {"m": {"type": "object",
      "additionalProperties": {"type": "string"}, "x-kubernetes-validations": [
      {"rule": "'app.kubernetes.io/name' in self && 'namespace' in self", "message": "both"}]}}})");
  const Json with = Json::parse(R"({"m": {"app.kubernetes.io/name": "a", "namespace": "b"}})");
  EXPECT_THAT(fieldsOf(ruleProblems(schema, with, nullptr)), IsEmpty());
  EXPECT_THAT(fieldsOf(ruleProblems(schema, Json::parse(R"({"m": {"namespace": "b"}})"), nullptr)),
              ElementsAre("Invalid m"));
}

TEST(SchemaRules, HoldForEachValueThatHasThem) {
  const Json schema = Json::parse(R"({"type": "object", "properties": {"list": {"type": "array", "items": {
      "type": "object", "properties": {"namespace": {"type": "string"}, "a-b": {"type": "integer"}},
      "x-kubernetes-validations": [{"rule": "!has(self.__namespace__) || self.a__dash__b > 1", "message": "more"}]}},
      "fixed": {"type": "string", "x-kubernetes-validations": [{"rule": "self == oldSelf", "reason": "FieldValueForbidden"}]}}})");
  EXPECT_THAT(structureProblems(schema, "s"), IsEmpty());
  const Json object = Json::parse(
      R"({"list": [{"namespace": "n", "a-b": 2}, {"a-b": 1}, {"namespace": "n", "a-b": 1}], "fixed": "x"})");
  const auto causes = ruleProblems(schema, object, nullptr);
  EXPECT_THAT(fieldsOf(causes), ElementsAre("Invalid list[2]"));
  EXPECT_EQ(causes[0].message, "Invalid value: \"object\": more");
  const Json old = {{"fixed", "y"}};
  EXPECT_THAT(fieldsOf(ruleProblems(schema, {{"fixed", "x"}}, &old)), ElementsAre("Forbidden fixed"));
  EXPECT_THAT(ruleProblems(schema, {{"fixed", "y"}}, &old), IsEmpty());
  EXPECT_THAT(ruleProblems(Json(), object, &old), IsEmpty()) << "no schema";
}

}  // namespace
}  // namespace lastout::simulator
