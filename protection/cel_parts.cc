#include "protection/cel_parts.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "kube/encoding.h"
#include "protection/cel.h"

namespace lastout::protection {
namespace {

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

std::string listOf(const std::vector<std::string>& values) {
  std::string text = "[";
  for (const std::string& value : values) text += (text.size() > 1 ? ", " : "") + celLiteral(value);
  return text + "]";
}

std::string mapOf(std::string_view object, KeyTest::MetadataField place) {
  return std::string(object) +
         (place == KeyTest::MetadataField::Label ? ".metadata.labels" : ".metadata.annotations");
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

std::string celOf(const kube::SelectorRequirement& requirement, std::string_view object) {
  using Operator = kube::SelectorRequirement::Operator;
  const KeyTest test{KeyTest::MetadataField::Label, requirement.key,
                     requirement.op == Operator::In || requirement.op == Operator::NotIn
                         ? requirement.values
                         : std::vector<std::string>()};
  const bool isNegated = requirement.op == Operator::NotIn || requirement.op == Operator::DoesNotExist;
  return isNegated ? negated(celOf(test, object)) : celOf(test, object);
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
  if (!selection.namespaces.empty()) parts.push_back(isOneOf(celOfNamespace(object), selection.namespaces));
  if (!selection.names.empty()) parts.push_back(isOneOf(celOfName(object), selection.names));
  for (const kube::SelectorRequirement& requirement : selection.labels.requirements)
    parts.push_back(celOf(requirement, object));
  return allOf(parts);
}

}  // namespace

std::string allOf(const std::vector<std::string>& parts) { return joined(parts, " && "); }
std::string anyOf(const std::vector<std::string>& parts) { return joined(parts, " || "); }
std::string negated(const std::string& part) { return part.empty() ? "false" : "!(" + part + ")"; }

std::string isOneOf(const std::string& what, const std::vector<std::string>& values) {
  return values.size() == 1 ? what + " == " + celLiteral(values.front()) : what + " in " + listOf(values);
}

std::string celOfName(std::string_view object) { return std::string(object) + ".metadata.name"; }

std::string celOfNamespace(std::string_view object) {
  const std::string field = std::string(object) + ".metadata.namespace";
  return "(has(" + field + ") ? " + field + " : '')";
}

std::string hasKey(std::string_view object, KeyTest::MetadataField place, const std::string& key) {
  const std::string map = mapOf(object, place);
  return "has(" + map + ") && " + celLiteral(key) + " in " + map;
}

std::string valueOf(std::string_view object, const KeyTest& test) {
  return mapOf(object, test.place) + "[" + celLiteral(test.key) + "]";
}

std::string celOf(const KeyTest& test, std::string_view object) {
  std::string text = hasKey(object, test.place, test.key);
  return test.values.empty() ? text : text + " && " + isOneOf(valueOf(object, test), test.values);
}

std::string anyKey(const std::vector<KeyTest>& tests, std::string_view object) {
  std::vector<std::string> parts;
  parts.reserve(tests.size());
  for (const KeyTest& test : tests) parts.push_back(celOf(test, object));
  return anyOf(parts);
}

std::string celOf(const FieldTest& test) {
  const auto [isThere, value] = presence(test.path);
  return "(" + isThere + ") ? " + value + " == " + literalOf(test.equals) + " : " +
         (test.whenAbsent ? "true" : "false");
}

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

std::string celLiteral(std::string_view text) {
  constexpr char kFirstPrintable = ' ';
  constexpr char kDelete = '\x7f';
  std::string literal = "'";
  for (const char character : text) {
    const auto code = static_cast<unsigned char>(character);
    if (character == '\'' || character == '\\') {
      (literal += '\\') += character;
    } else if (code < kFirstPrintable || character == kDelete) {
      (literal += "\\u00") += kube::hexOf(code);
    } else {
      literal += character;
    }
  }
  return literal + "'";
}

}  // namespace lastout::protection
