#include <gtest/gtest.h>

#include <vector>

#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

TEST(Yaml, ReadsAManifestInTheOrderOfItsText) {
  EXPECT_EQ(readYaml(R"(
apiVersion: apps/v1
kind: Deployment
metadata:
  name: finalizer-deployment
  finalizers: [a.example/b, "c"]
spec:
  replicas: 2
  paused: false
  template:
  - one
  -
    two: {}
    three: []
)"),
            R"({"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"finalizer-deployment",)"
            R"("finalizers":["a.example/b","c"]},"spec":{"replicas":2,"paused":false,)"
            R"("template":["one",{"two":{},"three":[]}]}})");
}

TEST(Yaml, ReadsDocumentsOneAfterAnother) {
  EXPECT_EQ(readYaml("--- a\n---\nb\n---\t# c\nc\n---"), "\"a\"\n\"b\"\n\"c\"");
}

TEST(Yaml, LeavesEmptyDocumentsOut) {
  EXPECT_EQ(readYaml(""), "");
  EXPECT_EQ(readYaml("# only a comment\n"), "");
  EXPECT_EQ(readYaml("---\n---\n# nothing\n---\na: 1\n---\nb: 2\n---\n"), "{\"a\":1}\n{\"b\":2}");
  EXPECT_EQ(readYaml("a: 1\n...\nb: 2\n"), "{\"a\":1}\n{\"b\":2}");
  EXPECT_EQ(readYaml("%YAML 1.2\n---\na: 1\n"), "{\"a\":1}");
  EXPECT_EQ(readYaml("\xEF\xBB\xBF"
                     "a: 1\n"),
            "{\"a\":1}");
}

TEST(Yaml, ReadsTheScalarsOfTheDesignDocumentsShorthand) {
  EXPECT_EQ(readYaml("kind: ManifestWork\nspec:\n  criticalservices/x\n  namespace/y\n"),
            R"({"kind":"ManifestWork","spec":"criticalservices/x namespace/y"})");
}

struct Scalar {
  std::string text;
  std::string json;
};

// YAML 1.2.2, 10.3.2 (core schema), and its examples of block scalars in 8.1.
TEST(Yaml, ResolvesPlainScalarsByTheCoreSchema) {
  const Scalar scalars[] = {
      {"~", "null"},
      {"null", "null"},
      {"Null", "null"},
      {"NULL", "null"},
      {"", "null"},
      {"nULL", "\"nULL\""},
      {"true", "true"},
      {"True", "true"},
      {"TRUE", "true"},
      {"false", "false"},
      {"False", "false"},
      {"FALSE", "false"},
      {"tRUE", "\"tRUE\""},
      {"yes", "\"yes\""},
      {"no", "\"no\""},
      {"on", "\"on\""},
      {"off", "\"off\""},
      {"y", "\"y\""},
      {"0", "0"},
      {"010", "10"},
      {"-7", "-7"},
      {"+12", "12"},
      {"-0", "0"},
      {"0o17", "15"},
      {"0o8", "\"0o8\""},
      {"0o", "\"0o\""},
      {"-0o7", "\"-0o7\""},
      {"0x1F", "31"},
      {"0xg", "\"0xg\""},
      {"0b1", "\"0b1\""},
      {"1_000", "\"1_000\""},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"9223372036854775808", "9.223372036854776e+18"},
      {"0xFFFFFFFFFFFFFFFF", "1.8446744073709552e+19"},
      {"1.5", "1.5"},
      {"-1.25e2", "-125.0"},
      {"1e3", "1000.0"},
      {"1E-1", "0.1"},
      {".5", "0.5"},
      {"5.", "5.0"},
      {"1e-999", "0.0"},
      {".", "\".\""},
      {"+", "\"+\""},
      {"-.", "\"-.\""},
      {"1e", "\"1e\""},
      {"1.2.3", "\"1.2.3\""},
      {"1:30", "\"1:30\""},
      {"2026-11-21", "\"2026-11-21\""},
      {"12e03x", "\"12e03x\""},
      {"'010'", "\"010\""},
      {"\"true\"", "\"true\""},
      {"''", "\"\""},
      {"!!str 010", "\"010\""},
      {"!!str", "\"\""},
      {"! 010", "\"010\""},
      {"!!int 010", "10"},
      {"!!int \"3\"", "3"},
      {"!!bool true", "true"},
      {"!!null ''", "null"},
      {"!!float 1.5", "1.5"},
      {"!!seq [1]", "[1]"},
      {"!!map {a: 1}", "{\"a\":1}"},
      {"it''s", "\"it''s\""},
      {"'it''s'", "\"it's\""},
      {R"("\t\n\"\\\x41\u00e9\U0001F600")", "\"\\t\\n\\\"\\\\A\xC3\xA9\xF0\x9F\x98\x80\""},
      {R"("\N\_\L\P")", "\"\xC2\x85\xC2\xA0\xE2\x80\xA8\xE2\x80\xA9\""},
      {"|\n    a\n     b\n\n", "\"a\\n b\\n\""},
      {"|-\n    a\n", "\"a\""},
      {"|+\n    a\n\n", "\"a\\n\\n\""},
      {">\n    a\n    b\n\n    c\n", "\"a b\\nc\\n\""},
      {"|\n    [[[ # {{{ \"\n", "\"[[[ # {{{ \\\"\\n\""},
      {"a # comment", "\"a\""},
      {"a#no comment", "\"a#no comment\""},
      {"\xC3\xA4 b", "\"\xC3\xA4 b\""},
  };
  for (const Scalar& scalar : scalars) {
    EXPECT_EQ(readYaml("v: " + scalar.text), "{\"v\":" + scalar.json + "}") << scalar.text;
  }
}

// As sigs.k8s.io/yaml makes JSON of it, and with it kubectl.
TEST(Yaml, ReadsANumberOrABooleanAsAKey) {
  const Value map = yaml("{0: a, -7: b, 0x10: c, 1.50: d, 1e21: e, true: f, False: g, 1.0.0: h}");
  std::vector<std::string> keys;
  for (const Member& member : *map.asMap()) keys.push_back(member.key);
  EXPECT_EQ(keys, (std::vector<std::string>{"0", "-7", "16", "1.5", "1e+21", "true", "false", "1.0.0"}));
  EXPECT_EQ(textAt(yaml("data: {on: x, 1: y}"), {"data", "1"}), "y");
}

TEST(Yaml, SaysWhichNumbersJsonCannotHold) {
  for (const std::string text : {".inf", "-.Inf", "+.INF", ".nan", ".NaN", "1e999", "-1e999"}) {
    EXPECT_EQ(readYaml("a: [" + text + "]"), "file:1:5: \"" + text +
                                                 "\" is no number that JSON can hold; put it in "
                                                 "quotes if it is a string");
  }
  EXPECT_EQ(readYaml("a: " + std::string(400, '9')),
            "file:1:4: \"" + std::string(300, '9') +
                "...\" is no number that JSON can hold; put it in quotes if it is a string");
}

TEST(Yaml, RemembersWhereEverythingStood) {
  const Value document =
      yaml("# comment\nspec:\n  \xC3\xA4\xC3\xB6: {key: value, list: [1,\n    2]}\n  last: |\n    text\n");
  const auto place = [](const Value* value) {
    return std::to_string(value->position.line) + ":" + std::to_string(value->position.column);
  };
  EXPECT_EQ(place(&document), "2:1");
  EXPECT_EQ(place(document.find("spec")), "3:3");
  const Value* inner = document.at({"spec", "\xC3\xA4\xC3\xB6"});
  EXPECT_EQ(place(inner), "3:7");  // columns count characters, not bytes
  EXPECT_EQ(place(inner->find("key")), "3:13");
  EXPECT_EQ(inner->asMap()->at(1).keyPosition, (Position{3, 20}));
  EXPECT_EQ(place(&inner->find("list")->asList()->at(1)), "4:5");
  EXPECT_EQ(place(document.at({"spec", "last"})), "5:9");
}

TEST(Yaml, CountsLinesOfEveryKindAndPlacesFarInside) {
  const Value document =
      yaml("a: 1\r\nb: 2\r\nc: 3\n" + std::string(1000, '\n') + std::string(500, ' ') + "\nd: 4\n");
  EXPECT_EQ(document.find("b")->position, (Position{2, 4}));
  EXPECT_EQ(document.find("c")->position, (Position{3, 4}));
  EXPECT_EQ(document.find("d")->position, (Position{1005, 4}));
}

struct Mistake {
  std::string text;
  std::string sentence;  // or its beginning
};

TEST(Yaml, SaysWhatIsWrongAndWhere) {
  const Mistake mistakes[] = {
      {"a: 1\nb:\n  c: 2\n  c: 3\n", R"(file:4:3: the key "c" is in this map twice; the first is in line 3)"},
      {"{a: 1, b: 2, \"a\": 3}", R"(file:1:14: the key "a" is in this map twice; the first is in line 1)"},
      {"a: *x\n", "file:1:4: this is no valid YAML: no anchor of this name stands above it in this document"},
      {"a: &x 1\n---\nb: *x\n",
       "file:3:4: this is no valid YAML: no anchor of this name stands above it in this document"},
      {"a: &x [1, *x]\n",
       "file:1:11: this alias stands inside the value of its own anchor, which would then have no end"},
      {"a: &x\n  b:\n    c: *x\n",
       "file:3:8: this alias stands inside the value of its own anchor, which would then have no end"},
      {"a: &x {<<: *x}\n",
       "file:1:12: this alias stands inside the value of its own anchor, which would then have no end"},
      {"a: &x [1]\n*x : 2\n", "file:2:1: a key must be a string, and this alias stands for something else"},
      {"<<: 1\n",
       "file:1:5: a merge key (<<) takes a map or a list of maps, as in <<: *a or <<: [*a, *b]; this is"},
      {"a: &x [b]\nc:\n  <<: *x\n", "file:1:8: a merge key (<<) takes a map or a list of maps"},
      {"<<: {a: 1}\nb: 2\n<<: {c: 3}\n",
       "file:3:1: the key \"<<\" is in this map twice; the first is in line 1: name several maps as"},
      {"a: &x {b: 1}\nc:\n  <<: *x\n  d: 2\n  d: 3\n",
       R"(file:5:3: the key "d" is in this map twice; the first is in line 4)"},
      {"a: &x \"open\n", "file:1:4: this is no valid YAML: a quote is not closed"},
      {"a: !foo 1\n",
       "file:1:4: the tag \"!foo\" does not fit here: only the core schema's are read, or none"},
      {"a: !!binary aGk=\n", "file:1:4: the tag \"!!binary\" does not fit here"},
      {"a: !!map [1]\n", "file:1:4: the tag \"!!map\" does not fit here"},
      {"a: !!seq {}\n", "file:1:4: the tag \"!!seq\" does not fit here"},
      {"a: !<tag:example.com,2026:x> 1\n", "file:1:4: the tag \"tag:example.com,2026:x\" does not fit here"},
      {"a: !!int x\n", "file:1:4: \"x\" is not what the tag before it says"},
      {"a: !!bool 1\n", "file:1:4: \"1\" is not what the tag before it says"},
      {"null: a\n", "file:1:1: a key may not be empty"},
      {"a: {1: b, \"1\": c}\n", R"(file:1:11: the key "1" is in this map twice; the first is in line 1)"},
      {"? [a, b]\n: c\n", "file:1:3: a key may not be empty, and no list or map"},
      {"{a: b}: c\n", "file:1:1: a key may not be empty, and no list or map"},
      {": a\n", "file:1:1: a key may not be empty"},
      {"~: a\n", "file:1:1: a key may not be empty"},
      {"a: [1, 2\n", "file:1:8: this is no valid YAML: a \"[\" or \"{\" is not closed"},
      {"a: {b: 1\n", "file:2:1: this is no valid YAML: a \"{\" is not closed"},
      {"a: [1, 2}\n", "file:1:9: this is no valid YAML: "},
      {"a: ]\n", "file:1:4: this is no valid YAML: "},
      {"a: \"open\n", "file:1:4: this is no valid YAML: a quote is not closed"},
      {"a: 'it''s open\n", "file:1:4: this is no valid YAML: a quote is not closed"},
      {"a: !!str \"\\\"\n", "file:1:4: this is no valid YAML: a quote is not closed"},
      {"a: [b, \"open]\n", "file:1:8: this is no valid YAML: a quote is not closed"},
      {"a: \"open", "file:1:9: this is no valid YAML: a quote is not closed"},
      {"a: b: c\n",
       "file:1:5: this is no valid YAML: a \":\" may not stand here; is the indentation right, by spaces "
       "alone? Text with \": \" in it needs quotes"},
      {"a: - b\n",
       "file:1:4: this is no valid YAML: a list item may not stand here; is the indentation right?"},
      {"a:\n\t- b\n",
       "file:2:2: this is no valid YAML: a list item may not stand here; is the indentation right?"},
      {"a:\n  - b\n c: d\n", "file:3:2: this is no valid YAML: what stands here does not belong to"},
      {"  a: 1\nb: 2\n",
       "file:2:1: this is no valid YAML: what stands here does not belong to the value above"},
      {"- a\nb: 1\n", "file:2:1: this is no valid YAML: what stands here does not belong to the value above"},
      {"\"a\" \"b\"\n",
       "file:1:5: this is no valid YAML: what stands here does not belong to the value above"},
      {"\"a\" ---b\n",
       "file:1:5: this is no valid YAML: what stands here does not belong to the value above"},
      {"\"a\"\n---b\n",
       "file:2:1: this is no valid YAML: what stands here does not belong to the value above"},
      {"a: @b\n", "file:1:4: this is no valid YAML: "},
      {"a: \"\\q\"\n", "file:1:7: this is no valid YAML: "},
      {"a: \"\\uD800\"\n", "file:1:"},
      {"%YAML 2.0\n---\na: 1\n", "file:1:1: this is no valid YAML: "},
  };
  for (const Mistake& mistake : mistakes) {
    EXPECT_EQ(readYaml(mistake.text).substr(0, mistake.sentence.size()), mistake.sentence) << mistake.text;
  }
}

// YAML 1.2.2, 7.1: an alias is its anchor's value once more, and of two anchors of one name the last one
// above.
TEST(Yaml, ReadsAnAliasAsACopyOfItsAnchorsValue) {
  EXPECT_EQ(readYaml("labels: &l {app: shop}\nselector: *l\n"),
            R"({"labels":{"app":"shop"},"selector":{"app":"shop"}})");
  EXPECT_EQ(readYaml("- &n 3\n- &s text\n- &e\n- [*n, *s, *e]\n"), R"([3,"text",null,[3,"text",null]])");
  EXPECT_EQ(readYaml("- &x 1\n- *x\n- &x 2\n- *x\n"), "[1,1,2,2]");
  EXPECT_EQ(readYaml("&k app: shop\nname: *k\nmore: {*k : 1}\n"),
            R"({"app":"shop","name":"app","more":{"app":1}})");
  EXPECT_EQ(readYaml("a: &o {b: &i [1]}\nc: *i\nd: *o\n"), R"({"a":{"b":[1]},"c":[1],"d":{"b":[1]}})");
  EXPECT_EQ(readYaml("&x \"a\"\n"), "\"a\"");
  // Its own place is the alias's; inside it, the anchor's: there it is mended.
  const Value document = yaml("a: &x\n  b: 1\nc: *x\n");
  EXPECT_EQ(document.find("c")->position, (Position{3, 4}));
  EXPECT_EQ(document.at({"c", "b"})->position, (Position{2, 6}));
}

// https://yaml.org/type/merge.html
TEST(Yaml, MergesMapsOfWhichTheNearestCounts) {
  const std::string anchors = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\n";
  const auto merged = [&anchors](const std::string& map) {
    const Value document = yaml(anchors + "m: " + map + "\n");
    return toSortedJson(*document.find("m")).dump();
  };
  EXPECT_EQ(merged("{<<: *a}"), R"({"x":1,"y":1})");
  EXPECT_EQ(merged("{<<: *a, y: 3}"), R"({"x":1,"y":3})");
  EXPECT_EQ(merged("{y: 3, <<: *a}"), R"({"x":1,"y":3})");
  EXPECT_EQ(merged("{<<: [*a, *b]}"), R"({"x":1,"y":1,"z":2})");
  EXPECT_EQ(merged("{<<: [*b, *a]}"), R"({"x":1,"y":2,"z":2})");
  EXPECT_EQ(merged("{<<: [*b, {w: 0, z: 0}], y: 3}"), R"({"w":0,"y":3,"z":2})");
  EXPECT_EQ(merged("{!!merge <<: *a}"), R"({"x":1,"y":1})");
  EXPECT_EQ(merged("{<<: []}"), "{}");
  EXPECT_EQ(merged("{'<<': *a}"), R"({"<<":{"x":1,"y":1}})");
  // A map that was merged into is what its own alias repeats.
  EXPECT_EQ(merged("[&m {<<: *a, w: 0}, {<<: *m}]"), R"([{"w":0,"x":1,"y":1},{"w":0,"x":1,"y":1}])");
}

TEST(Yaml, CountsWhatAliasesRepeatAgainstItsLimits) {
  const std::string twice = "a: &x [1, 2]\nb: *x\n";  // 5 values, 3 that the anchor keeps, 3 of the alias
  EXPECT_EQ(readYaml(twice, {.values = 10}), R"({"a":[1,2],"b":[1,2]})");
  EXPECT_EQ(readYaml(twice, {.values = 9}),
            "file:2:4: with what anchors keep and aliases repeat, this has more than 9 values");
  const std::string text = "a: &x 1234567890\nb: [*x, *x]\n";  // a number has no bytes, a string has
  EXPECT_EQ(readYaml(text, {.bytes = 32}), R"({"a":1234567890,"b":[1234567890,1234567890]})");
  EXPECT_EQ(readYaml("a: &x abcdefghijkl\nb: [*x, *x]\n", {.bytes = 35}),
            "file:2:9: what anchors keep and aliases repeat has more than 35 bytes");
  std::string nested = "- &a0 []\n";
  for (int i = 1; i <= 63; ++i) nested += "- &a" + std::to_string(i) + " [*a" + std::to_string(i - 1) + "]\n";
  EXPECT_EQ(readYaml(nested).substr(0, 10), "file:64:9:");
  EXPECT_TRUE(readYaml(nested).ends_with(
      "with what this alias repeats, lists and maps are nested more than 64 deep here"));
}

// "Billion laughs": nine lines that stand for a billion values.
TEST(Yaml, StopsAnAliasBomb) {
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i) {
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [";
    for (int j = 0; j < 10; ++j) bomb += (j == 0 ? "*a" : ", *a") + std::to_string(i - 1);
    bomb += "]\n";
  }
  EXPECT_EQ(readYaml(bomb).substr(0, 7), "file:6:");
  EXPECT_TRUE(readYaml(bomb).ends_with(
      "with what anchors keep and aliases repeat, this has more than 1000000 values"));
}

TEST(Yaml, TellsAHelmTemplateByItsFirstAction) {
  const std::string sentence = ": this is a Helm template: render it first (helm template)";
  const Mistake templates[] = {
      {"metadata:\n  name: {{ include \"shop.name\" . }}\n", "file:2:9"},
      {"metadata:\n  name: {{ .Release.Name }}-web\n", "file:2:9"},
      {"{{- if .Values.enabled }}\nkind: ConfigMap\n{{- end }}\n", "file:1:1"},
      {"kind: ConfigMap\ndata:\n  {{- toYaml .Values.data | nindent 2 }}\n", "file:3:3"},
      {"a:\n{{ range .Values.list }}\n- {{ . | quote }}\n{{ end }}\n", "file:2:1"},
      {"a:\n- {{ .Values.one }}\n", "file:2:3"},
      {"a: [1, {{ .Values.one }}]\n", "file:1:8"},
      {"{{ .Values.key }}: 1\n", "file:1:1"},
      {"# {{ no }}\na: 'x' # {{ no }}\nb: |\n  {{ no }}\nc: \"{{ no }}\"\nd: {{ yes }}\n", "file:6:4"},
      {"a:\n- b: >-\n    {{ no }}\n  c: {{ yes }}\n", "file:4:6"},
      {"{{/* A comment. */}}\nkind: ConfigMap\n", "file:1:1"},
  };
  for (const Mistake& one : templates) {
    EXPECT_EQ(readYaml(one.text), one.sentence + sentence) << one.text;
  }
}

TEST(Yaml, TakesBracesInTextForText) {
  EXPECT_EQ(readYaml("a: \"{{ x }}\"\nb: '{{ x }}'\nc: echo {{x}}\nd: |\n  {{ x }}\n# {{ x }}\n"),
            R"({"a":"{{ x }}","b":"{{ x }}","c":"echo {{x}}","d":"{{ x }}\n"})");
  // A mistake elsewhere is not taken for a template.
  EXPECT_EQ(readYaml("a: |\n  {{ x }}\nb: \"{{ x\n  {{ y }}\"\nc: d: e\n").substr(0, 30),
            "file:5:5: this is no valid YAM");
}

TEST(Yaml, TakesOnlyTextInUtf8) {
  EXPECT_EQ(readYaml("a: \xFF\n"), "file:1:4: the byte 0xff is not UTF-8; is this a text file?");
  EXPECT_EQ(readYaml("a: 1\nb: \xC3(\n"), "file:2:4: the byte 0xc3 is not UTF-8; is this a text file?");
  EXPECT_EQ(readYaml("\xC3\xA4: \xED\xA0\x80\n"),
            "file:1:4: the byte 0xed is not UTF-8; is this a text file?");
  EXPECT_EQ(readYaml("\xC0\x80"), "file:1:1: the byte 0xc0 is not UTF-8; is this a text file?");
  EXPECT_EQ(readYaml("\xF4\x90\x80\x80"), "file:1:1: the byte 0xf4 is not UTF-8; is this a text file?");
  EXPECT_EQ(readYaml("a: \xE2\x82"), "file:1:4: the byte 0xe2 is not UTF-8; is this a text file?");
  EXPECT_EQ(readYaml(std::string_view("a: b\0", 5)),
            "file:1:5: the byte 0x00 is a control character; is this a text file?");
  EXPECT_EQ(readYaml("a: b\x04\nc: d\n"),
            "file:1:5: the byte 0x04 is a control character; is this a text file?");
  EXPECT_EQ(readYaml("a: \xC2\x80"),
            "file:1:4: what stands here is a control character; is this a text file?");
  EXPECT_EQ(readYaml("\xFF\xFE"
                     "a\0"),
            "file:1:1: the byte 0xff is not UTF-8; is this a text file?");
}

TEST(Yaml, HoldsItsLimits) {
  const std::string deep = std::string(64, '[') + std::string(64, ']');
  EXPECT_EQ(readYaml(deep), deep);
  EXPECT_EQ(readYaml("[" + deep + "]"), "file:1:65: lists and maps are nested more than 64 deep here");
  std::string lines;
  for (size_t i = 0; i < 65; ++i) lines += std::string(i, ' ') + "a:\n";
  EXPECT_EQ(readYaml(lines), "file:65:65: lists and maps are nested more than 64 deep here");

  EXPECT_EQ(readYaml("[a, b]", {.values = 3}), R"(["a","b"])");
  EXPECT_EQ(readYaml("[a, b, c]", {.values = 3}), "file:1:8: this has more than 3 values");
  EXPECT_EQ(readYaml("--- a\n--- b\n--- c\n", {.values = 2}), "file:3:5: this has more than 2 values");
  EXPECT_EQ(readYaml("a: 12", {.bytes = 5}), R"({"a":12})");
  EXPECT_EQ(readYaml("a: 123", {.bytes = 5}), "file: the text has 6 bytes; at most 5 are read");
}

std::string repeated(std::string_view text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

// Each would cost yaml-cpp gigabytes before its first event.
TEST(Yaml, BoundsWhatIsReadAheadOfTheFirstEvent) {
  const std::string sentence =
      "too much stands in one line, or in one [...] or {...}, from here on: write it in lines, or as JSON";
#ifdef LASTOUT_SANITIZED  // a second for each; the fuzzer reads the others
  const std::vector<std::string_view> repetitions = {"{a: ", "[a,", "*a "};
  const std::vector<std::string_view> lines = {"---\n"};
#else
  const std::vector<std::string_view> repetitions = {"[", "{a: ", "[],", "[a,", "[\n", "! ", "*a ", "[? "};
  const std::vector<std::string_view> lines = {"a #\n", "---\n", "...\n"};
#endif
  for (const std::string_view text : repetitions) {
    EXPECT_EQ(readYaml(repeated(text, 1'100'000)), "file:1:1: " + sentence) << text;
  }
  for (const std::string_view text : lines) {
    EXPECT_EQ(readYaml("[\n" + repeated(text, 1'100'000)), "file:1:1: " + sentence) << text;
  }
  EXPECT_EQ(readYaml("%a" + repeated(" b", 1'100'000) + "\n---\nc"), "file:1:1: " + sentence);
}

// One flow collection may be as large as any object that a cluster takes.
TEST(Yaml, TakesALargeFlowCollection) {
  EXPECT_EQ(yaml("[" + repeated("\"1234\",", 200'000) + "]").asList()->size(), 200'000);
}

TEST(Yaml, StopsAtOnceWhereItIsTooDeep) {
  constexpr size_t kMany = 1'000'000;
  EXPECT_EQ(readYaml(repeated("- ", kMany)), "file:1:129: lists and maps are nested more than 64 deep here");
  EXPECT_EQ(readYaml(repeated("? ", kMany)).substr(0, 9), "file:1:3:");
  EXPECT_EQ(readYaml(repeated(": ", kMany)).substr(0, 9), "file:1:1:");
}

TEST(Yaml, TakesLongScalarsAndManyLines) {
  const std::string text(2'000'000, 'x');
  EXPECT_EQ(yaml("a: " + text).find("a")->asString()->size(), text.size());
  EXPECT_EQ(yaml("a: \"" + text + "\"").find("a")->asString()->size(), text.size());
  EXPECT_EQ(yaml("a: |\n  " + repeated("[{,}]\n  ", 100'000)).find("a")->asString()->size(), 600'000);
  EXPECT_EQ(yaml(repeated("- a\n", 100'000)).asList()->size(), 100'000);
}

}  // namespace
}  // namespace lastout::kube
