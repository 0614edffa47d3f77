// CEL: what is compiled, what is refused, and what it comes to.
#include "simulator/cel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace lastout::simulator {
namespace {

using ::testing::HasSubstr;

const Json kOldObject = Json::parse(
    R"({"metadata": {"name": "a", "namespace": "app", "labels": {"team": "blue"}, "finalizers": ["x", "y"]}, "n": 1, "most": 9223372036854775807})");
const Json kAttributes =
    Json::parse(R"({"operation": "DELETE", "resource": {"group": "", "resource": "pods"}})");

// "true", "false", or why not.
std::string evaluated(const std::string& text) {
  const auto expression = CelExpression::compile(text);
  if (!expression) return "compile: " + expression.error();
  const auto holds = expression->test({nullptr, &kOldObject, &kAttributes});
  if (!holds) return holds.error().substr(holds.error().find("resulted in error: "));
  return *holds ? "true" : "false";
}

TEST(Cel, EvaluatesThePartThatIsNamed) {
  for (const char* holds : {"true",
                            "!false",
                            "oldObject.metadata.name == 'a'",
                            "oldObject.metadata.name != \"b\"",
                            "oldObject.metadata.name in ['b', 'a']",
                            "!(oldObject.metadata.name in [])",
                            "(oldObject.metadata.namespace + '/' + oldObject.metadata.name) in ['app/a']",
                            "oldObject.metadata.name in ['b', oldObject.metadata.name]",
                            "'x' in oldObject.metadata.finalizers",
                            "'team' in oldObject.metadata.labels",
                            "has(oldObject.metadata.labels)",
                            "!has(oldObject.metadata.uid)",
                            "object == null && oldObject != null",
                            "request.operation == 'DELETE'",
                            "request.resource.group == ''",
                            "false || true && true",
                            "(false || true) && !(true && false)",
                            "[true] == [true]",
                            "size(oldObject.metadata.finalizers) == 2",
                            "oldObject.metadata.name.size() == 1",
                            "size(oldObject.metadata.labels) <= 1",
                            "size('ä') == 1",
                            "oldObject.n == 1",
                            "1 + oldObject.n + 1 == 3",
                            "oldObject.n < 2 && oldObject.n >= 1 && !(oldObject.n > 1)",
                            "'a' < 'b' && false < true && -1 < 0",
                            "[1, 2].exists_one(n, n > 1) && ![1, 2].exists_one(n, n > 0)",
                            R"(r'\n' == '\\n' && """a"b""" == 'a"b' // a comment)",
                            "0x10 == 16 && -9223372036854775808 < 0",
                            "oldObject.metadata.finalizers[1] == 'y'",
                            "oldObject.metadata.labels['team'] == 'blue'",
                            "oldObject.metadata.finalizers + ['z'] == ['x', 'y', 'z']",
                            "oldObject.metadata.name == 'a' ? true : false",
                            "(has(oldObject.spec) ? oldObject.spec : 'none') == 'none'",
                            "oldObject.metadata.labels.team.startsWith('bl')",
                            "'blue'.endsWith('ue') && 'blue'.contains('lu') && !'blue'.contains('x')",
                            "oldObject.metadata.finalizers.all(f, f in ['x', 'y'])",
                            "oldObject.metadata.finalizers.exists(f, f == 'y')",
                            "oldObject.metadata.labels.all(key, key == 'team')",
                            "oldObject.metadata.finalizers.filter(f, f != 'x') == ['y']",
                            "oldObject.metadata.finalizers.map(f, f + '!') == ['x!', 'y!']",
                            "['a', 'b'].all(a, ['a', 'b'].exists(b, a == b))",
                            "[[oldObject]].map(all, all[0].metadata.name)[0] == 'a'",
                            R"('it\'s \\ "one"\n' == "it's \\ \"one\"\n")",
                            R"('\x41\u00e4' == 'Aä')"})
    EXPECT_EQ(evaluated(holds), "true") << holds;
  for (const char* fails :
       {"false", "oldObject.metadata.name in ['b']", "oldObject.metadata.finalizers == ['x']",
        "oldObject.metadata.labels in ['a']", "oldObject.metadata.name == null", "object != null"})
    EXPECT_EQ(evaluated(fails), "false") << fails;
}

// As in CEL the side that decides does so whatever the other side's error is.
TEST(Cel, ErrorsAreThoseOfTheApiServer) {
  EXPECT_EQ(evaluated("oldObject.metadata.uid == 'a'"), "resulted in error: no such key: uid");
  EXPECT_EQ(evaluated("request.name == 'a'"), "resulted in error: no such key: name");
  EXPECT_EQ(evaluated("object.metadata.name == 'a'"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("oldObject.metadata.name + oldObject.n == 'a'"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("'a' in oldObject.metadata.name"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("oldObject.metadata.name && true"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("has(object.metadata.name)"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("object.a == 'a' && false"), "false");
  EXPECT_EQ(evaluated("true || object.a == 'a'"), "true");
  EXPECT_EQ(evaluated("object.a == 'a' || false"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("oldObject.metadata.labels['a'] == 'a'"), "resulted in error: no such key: a");
  EXPECT_EQ(evaluated("oldObject.metadata.finalizers[2] == 'a'"),
            "resulted in error: index out of bounds: 2");
  EXPECT_EQ(evaluated("size(oldObject.n) == 1"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("oldObject.n < 'a'"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("oldObject.n.startsWith('a')"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("oldObject.n.all(x, true)"), "resulted in error: no such overload");
  EXPECT_EQ(evaluated("oldObject.metadata.finalizers.all(x, x.a == 'a')"),
            "resulted in error: no such overload");
  EXPECT_EQ(evaluated("[oldObject, 'a'].exists(x, x.metadata.name == 'a')"), "true") << "the first decides";
  EXPECT_EQ(evaluated("['a', oldObject].all(x, x.metadata.name == 'b')"), "false") << "the second decides";
  EXPECT_EQ(evaluated("oldObject.metadata.finalizers.filter(x, x.a) == []"),
            "resulted in error: no such overload");
  EXPECT_EQ(evaluated("oldObject.most + 1 == 0"), "resulted in error: integer overflow");
  EXPECT_EQ(evaluated("oldObject.most + 0 == oldObject.most"), "true");
}

TEST(Cel, WhatDoesNotCompileIsRefused) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "Syntax error: the end at 1:1 is not expected"},
      {"true true", "Syntax error: \"true\" at 1:6 is not expected"},
      {"true &&\n ]", "Syntax error: \"]\" at 2:2 is not expected"},
      {"'a", "Syntax error: the string at 1:1 does not end"},
      {R"('\q')", "Syntax error: the escape at 1:2"},
      {R"('\ud800' == '')", "the escape at 1:2 is no character"},
      {R"('\x4')", "the escape at 1:2 is no character"},
      {"'a'", "must evaluate to bool"},
      {"oldObject.spec", "must evaluate to bool"},
      {"variables.a", "undeclared reference to 'variables' at 1:1"},
      {"request.uid == 'a'", "undefined field 'uid' at 1:8"},
      {"request.resource.kind == 'a'", "undefined field 'kind'"},
      {"request.name.a == 'a'", "type 'string' does not support field selection at 1:13"},
      {"'a' == true", "found no matching overload for '_==_' applied to '(string, bool)'"},
      {"'a' + true == 'a'", "found no matching overload for '_+_'"},
      {"'a' && true", "found no matching overload for '_&&_'"},
      {"!'a'", "found no matching overload for '!_'"},
      {"true in ['a']", "found no matching overload for '@in'"},
      {"'a' in 'ab'", "found no matching overload for '@in'"},
      {"has(oldObject)", "invalid argument to has() macro"},
      {"size(oldObject.a) == 'a'", "found no matching overload for '_==_' applied to '(int, string)'"},
      {"true ? 'a' : true", "found no matching overload for '_?_:_' applied to '(bool, string, bool)'"},
      {"'a' ? true : false", "found no matching overload for '_?_:_' applied to '(string, bool, bool)'"},
      {"'a' <= 1", "found no matching overload for '_<=_'"},
      {"size(true) == 1", "found no matching overload for 'size' applied to '(bool)'"},
      {"'a'.startsWith(1)", "found no matching overload for 'startsWith' applied to 'string.(int)'"},
      {"'a'.startsWith()", "found no matching overload for 'startsWith' applied to 'string.()'"},
      {"'a'.exists(x, x == 'a')", "expression of type 'string' cannot be range of a comprehension"},
      {"oldObject.a.exists(x)", "undeclared reference to 'exists' at 1:12"},
      {"oldObject.a.exists('x', true)", "argument must be a simple name at 1:20"},
      {"oldObject.a.all(x, 'a')", "found no matching overload for '@all' applied to 'dyn.(string)'"},
      {"oldObject.a.all(x, true) && x", "undeclared reference to 'x' at 1:29"},
      {"['a']['b'] == 'a'", "found no matching overload for '_[_]' applied to '(list(string), string)'"},
      {"['a'] + 'b' == ['a']", "found no matching overload for '_+_' applied to '(list(string), string)'"},
  };
  for (const auto& [text, words] : cases) {
    const auto expression = CelExpression::compile(text);
    ASSERT_FALSE(expression) << text;
    EXPECT_THAT(expression.error(), HasSubstr(words)) << text;
  }
}

// What API servers compile is accepted, whether or not it is evaluated here.
TEST(Cel, WhatIsNotEvaluatedIsAccepted) {
  const Json object = {{"a", "b"}};
  const CelNames variables = {{"n", CelKind::Integer}};
  for (const char* text : {"oldObject.a.matches('b')",
                           "int(oldObject.a) == 1",
                           "oldObject.n == 1.5",
                           "oldObject.n == 1u",
                           "oldObject.n * 2 - 1 == 3 / 1 % 2",
                           "{'a': 1}.a == 1",
                           "{'a': 1}['a'] == 1",
                           "-oldObject.n == 1",
                           "oldObject.?a.orValue('') == 'b'",
                           "oldObject[?'a'].hasValue()",
                           "namespaceObject.metadata.name == 'a'",
                           "authorizer.path('/a').check('get').errored()",
                           "oldObject.a.map(x, true, x) == []",
                           "oldObject.labels.all(k, v, k != v)",
                           "[1, 2].transformList(i, v, i > 0, v + 1) == [3]",
                           "{'a': 'b'}.transformMap(k, v, v.size()) == {'a': 1}",
                           "[1].transformMapEntry(i, v, {v: i}) == {1: 0}",
                           "oldObject.?a.optMap(x, x + 'c').value() == 'bc'",
                           "[?oldObject.?a, 'b'].size() == 2",
                           "{?'a': oldObject.?a} == {}",
                           "'a b'.split(' ').join('-') == 'a-b'",
                           "type(1) == int",
                           "oldObject.allowed()",
                           "oldObject.a.path('/x').check('get').allowed()",
                           "b'a' == bytes('a')",
                           "duration('1h30m') < duration('2h')",
                           "timestamp('2026-01-01T00:00:00Z').getFullYear() == 2026",
                           "quantity('1Gi').add(1).asInteger() > 0",
                           "ip('::1').family() == 6 && ip.isCanonical('::1')",
                           "cidr('10.0.0.0/8').containsIP('10.1.1.1')",
                           "url('https://a/b').getHost() == 'a'",
                           "semver('1.2.3').isLessThan(semver('2.0.0'))",
                           "sets.intersects([1], [2])",
                           "format.named('uuid').hasValue()",
                           "'%d'.format([1]) == '1'",
                           "[1, 2].sum() == 3 && ['b'].isSorted()",
                           "namespaceObject == null || has(request.userInfo.extra)",
                           "variables.n - 1 == 0",
                           "optional.of(1).or(optional.none()) == optional.of(1)"}) {
    const auto expression =
        CelExpression::compile(text, {.hasAuthorizer = true, .hasParameters = true, .variables = &variables});
    ASSERT_TRUE(expression) << text << ": " << expression.error();
    EXPECT_NE(expression->beyond(), "") << text;
    EXPECT_THAT(expression->test({.oldObject = &object}).error(),
                HasSubstr("lastout up does not evaluate this expression: "))
        << text;
  }
  EXPECT_EQ(CelExpression::compile("oldObject.a == 'b'")->beyond(), "");
}

// Each is refused for what a type of CEL cannot do, although nothing is evaluated.
TEST(Cel, TypesAreChecked) {
  const CelNames variables = {{"n", CelKind::Integer}, {"names", CelType::list(CelKind::Text)}};
  const std::pair<const char*, const char*> cases[] = {
      {"foo(object)", "undeclared reference to 'foo' at 1:1"},
      {"object.foo()", "undeclared reference to 'foo'"},
      {"cel.bind(x, 1, x == 1)", "undeclared reference to 'bind'"},
      {"namespace == 'a'", "reserved identifier: namespace at 1:1"},
      {"object.in == 1", "\"in\" at 1:8 is not expected"},
      {"params.x == 1", "undeclared reference to 'params'"},
      {"variables.m == 1", "undefined field 'm'"},
      {"variables.n == 'a'", "'_==_' applied to '(int, string)'"},
      {"variables.names[0] == 1", "'_==_' applied to '(string, int)'"},
      {"variables.names.exists(x, x > 1)", "'_>_' applied to '(string, int)'"},
      {"variables.names == null", "'_==_' applied to '(list(string), null)'"},
      {"namespaceObject.metadata.uid == 'a'", "undefined field 'uid'"},
      {"namespaceObject.metadata.labels.a == 1", "'_==_' applied to '(string, int)'"},
      {"request.userInfo.groups.exists(g, g == 1)", "'_==_' applied to '(string, int)'"},
      {"has(request.uid)", "undefined field 'uid'"},
      {"'a'.matches('(')", "invalid matches argument at 1:13"},
      {"'a'.find('[') == ''", "invalid find argument"},
      {"duration('1 hour') == duration('1h')", "invalid duration argument"},
      {"timestamp('2026-13-01T00:00:00Z') == timestamp(0)", "invalid timestamp argument"},
      {"[1, 'a'].size() == 2", "expected type 'int' but found 'string' at 1:5"},
      {"{'a': 1, 'b': 'c'}.size() == 2", "expected type 'int' but found 'string'"},
      {"1 + 'a' == 2", "'_+_' applied to '(int, string)'"},
      {"1 - 'a' == 2", "'_-_' applied to '(int, string)'"},
      {"1 == 1.0", "'_==_' applied to '(int, double)'"},
      {"-'a' == ''", "'-_' applied to '(string)'"},
      {"quantity('1').isGreaterThan(1)", "applied to 'kubernetes.Quantity.(int)'"},
      {"sets.contains(['a'], [1])", "'sets.contains' applied to '(list(string), list(int))'"},
      {"optional.of('a').orValue(1) == 'a'", "applied to 'optional_type(string).(int)'"},
      {"'a'.reverse() == 'a'", "applied to 'string.()'"},
      {"[1].all(i, v, v == 'a')", "'_==_' applied to '(int, string)'"},
      {"[1].transformMapEntry(i, v, v) == {}", "found no matching overload for '@transformMapEntry'"},
      {"[?'a'].size() == 1", "found no matching overload for '@?' applied to '(string)'"},
      {"Foo{a: 1} == null", "\"{\" at 1:4 is not expected"},
      {"authorizer.group('').check('get').allowed()",
       "applied to 'kubernetes.authorization.GroupCheck.(string)'"},
      {"9223372036854775808 == 1", "invalid int literal"},
      {"object.a // and\n == ]", "\"]\" at 2:5 is not expected"},
      {"size(object)", "must evaluate to bool but got int"},
      {"object", "must evaluate to bool but got dyn"},
  };
  for (const auto& [text, words] : cases) {
    const auto expression = CelExpression::compile(text, {.hasAuthorizer = true, .variables = &variables});
    ASSERT_FALSE(expression) << text;
    EXPECT_THAT(expression.error(), HasSubstr(words)) << text;
  }
}

TEST(Cel, IsBounded) {
  const auto error = [](const std::string& text) {
    const auto expression = CelExpression::compile(text);
    return expression ? std::string() : expression.error();
  };
  const std::string many(100'000, '!');
  EXPECT_THAT(error(many + "true"), HasSubstr("size: 100004, limit 100000"));
  EXPECT_THAT(error(std::string(50'000, '!') + "true"), HasSubstr("recursion limit"));
  EXPECT_THAT(error(std::string(50'000, '(') + "true"), HasSubstr("recursion limit"));
  EXPECT_THAT(error(std::string(50'000, '[')), HasSubstr("recursion limit"));
  std::string fields = "oldObject";
  std::string relations = "true";
  std::string both = "true";
  for (int i = 0; i < 10'000; ++i) {
    fields += ".a";
    relations += "==true";
    both += "&&true";
  }
  EXPECT_THAT(error(fields + " == 'a'"), HasSubstr("recursion limit"));
  EXPECT_THAT(error(relations), HasSubstr("recursion limit"));
  EXPECT_EQ(error(both), "") << "a chain is not deep";
  std::string maps = "[1]";
  for (int i = 0; i < 60; ++i) maps += ".map(x, {x: x})";
  EXPECT_EQ(error(maps + " == []"), "") << "its type does not double at each step";
  std::string names = "oldObject.metadata.name in ['a'";
  while (names.size() < 90'000) names += ",'namespace-" + std::to_string(names.size()) + "/name'";
  EXPECT_EQ(evaluated(names + "]"), "true");
}

// --- as policies use it

// Remembers what was asked, and allows what is asked about "mine".
struct Questions {
  std::vector<std::string> questions;
  bool answer(const AccessAttributes& wanted) {
    questions.push_back(wanted.verb + " " + wanted.path + wanted.resource + "." + wanted.group + "/" +
                        wanted.subresource + " " + wanted.namespaceName + "/" + wanted.name);
    return wanted.name == "mine" || wanted.path == "/mine";
  }
};

std::string decided(const std::string& text, Questions& asked) {
  const auto expression = CelExpression::compile(text, {.hasAuthorizer = true});
  if (!expression) return "compile: " + expression.error();
  const CelAuthorizer authorizer{[&asked](const AccessAttributes& wanted) { return asked.answer(wanted); },
                                 {"", "apps", "deployments", "scale", "app", "mine", ""}};
  const auto holds = expression->test({nullptr, &kOldObject, &kAttributes, &authorizer});
  if (!holds) return holds.error().substr(holds.error().find("resulted in error: "));
  return *holds ? "true" : "false";
}

TEST(CelAuthorizer, AsksWhatIsBuiltUp) {
  Questions asked;
  EXPECT_EQ(decided("authorizer.group('apps').resource('deployments').subresource('status').namespace('app')"
                    ".name('mine').check('patch').allowed()",
                    asked),
            "true");
  EXPECT_EQ(decided("authorizer.group('').resource('nodes').check('delete').allowed()", asked), "false");
  EXPECT_EQ(decided("authorizer.path('/mine').check('get').allowed()", asked), "true");
  EXPECT_EQ(decided("authorizer.requestResource.check('delete').allowed()", asked), "true");
  EXPECT_EQ(asked.questions,
            (std::vector<std::string>{"patch deployments.apps/status app/mine", "delete nodes./ /",
                                      "get /mine./ /", "delete deployments.apps/scale app/mine"}));
}

// Kubernetes: each costs 350,000, and an expression 1,000,000 at most.
TEST(CelAuthorizer, IsAskedTwiceInAnExpressionAtMost) {
  const std::string mine = "authorizer.group('').resource('pods').name('mine').check('get').allowed()";
  Questions asked;
  EXPECT_EQ(decided(mine + " && " + mine, asked), "true");
  EXPECT_EQ(decided(mine + " && " + mine + " && " + mine, asked),
            "resulted in error: operation cancelled: actual cost limit exceeded");
  EXPECT_EQ(decided("true || " + mine + " || " + mine + " || " + mine, asked), "true");
}

TEST(CelAuthorizer, StepsAreOfTheirOwnTypes) {
  Questions asked;
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"authorizer.check('get').allowed()",
            "found no matching overload for 'check' applied to "
            "'kubernetes.authorization.Authorizer.(string)'"},
           {"authorizer.group('').check('get').allowed()", "applied to 'kubernetes.authorization.GroupCheck"},
           {"authorizer.group('').resource('pods').allowed()", "'kubernetes.authorization.ResourceCheck.()'"},
           {"authorizer.group('').resource('pods').check('get')", "must evaluate to bool"},
           {"authorizer == authorizer",
            "the use of kubernetes.authorization.Authorizer at 1:12 is not supported"},
           {"authorizer == 'a'", "found no matching overload for '_==_'"},
           {"[authorizer] == []", "the use of kubernetes.authorization.Authorizer at 1:1 is not supported"},
           {"authorizer.serviceAccount('a', 'b').path('/').check('get').allowed()",
            "the function \"serviceAccount\" at 1:11 is not supported"},
           {"authorizer.group('').resource('pods').check('get').reason() == ''",
            "the function \"reason\" at 1:51 is not supported"}})
    EXPECT_THAT(decided(text, asked), HasSubstr(words)) << text;
}

}  // namespace
}  // namespace lastout::simulator
