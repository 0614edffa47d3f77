// CEL: what is compiled, what is refused, and what it comes to.
#include "apiserver/cel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lastout::apiserver {
namespace {

using ::testing::HasSubstr;

const Json kOldObject = Json::parse(
    R"({"metadata": {"name": "a", "namespace": "app", "labels": {"team": "blue"}, "finalizers": ["x", "y"]}, "n": 1})");
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
}

TEST(Cel, WhatItDoesNotEvaluateIsRefused) {
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
      {"namespaceObject.metadata.name == 'a'", "undeclared reference to 'namespaceObject'"},
      {"request.uid == 'a'", "undefined field 'uid' at 1:8"},
      {"request.resource.kind == 'a'", "undefined field 'kind'"},
      {"request.name.a == 'a'", "type 'string' at 1:13 does not support field selection"},
      {"'a' == true", "found no matching overload for '_==_' applied to '(string, bool)'"},
      {"'a' + true == 'a'", "found no matching overload for '_+_'"},
      {"'a' && true", "found no matching overload for '_&&_'"},
      {"!'a'", "found no matching overload for '!_'"},
      {"true in ['a']", "found no matching overload for '@in'"},
      {"'a' in 'ab'", "found no matching overload for '@in'"},
      {"has(oldObject)", "invalid argument to has() macro"},
      {"size(oldObject.a) == 'a'", "the function \"size\" at 1:1 is not supported"},
      {"oldObject.a.startsWith('b')", "the function \"startsWith\" at 1:12 is not supported"},
      {"oldObject.n == 1", "\"1\" at 1:16 is not supported"},
      {"oldObject.a ? true : false", "\"?\" at 1:13 is not supported"},
      {"r'a' == 'a'", "a string with a prefix"},
      {"'''a''' == 'a'", "a string in three quotes"},
      {"['a'] + ['b'] == ['a']", "a sum of lists"},
  };
  for (const auto& [text, words] : cases) {
    const auto expression = CelExpression::compile(text);
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
  std::string names = "oldObject.metadata.name in ['a'";
  while (names.size() < 90'000) names += ",'namespace-" + std::to_string(names.size()) + "/name'";
  EXPECT_EQ(evaluated(names + "]"), "true");
}

}  // namespace
}  // namespace lastout::apiserver
