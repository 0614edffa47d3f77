#include "protection/read_parts.h"

#include <algorithm>
#include <utility>

#include "kube/field_path.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "protection/message.h"

namespace lastout::protection {
namespace {

constexpr size_t kMostEntries = 64;       // of each list in a policy
constexpr size_t kMostStrings = 256;      // of each list of strings
constexpr size_t kLongestMessage = 1024;  // bytes of a message with its placeholders
constexpr size_t kDeepestPath = 16;       // keys of a field path
constexpr std::chrono::seconds kLongestPause{3'600};

using kube::Fields;

// The path that `text` is, which stands in the field `key`.
FieldPath pathIn(Fields& fields, std::string_view key, std::string_view text) {
  const std::string_view rest = text.substr(text.starts_with('.') ? 1 : 0);
  const auto path = kube::parseFieldPath(rest);
  const bool hasOthers = rest.find_first_of("[]()*'\"\\ ") != std::string_view::npos;
  if (path && !hasOthers && path->keys.size() <= kDeepestPath) return {path->keys};
  fields.fail(key, fields.pathOf(key) +
                       " must be keys with dots between them, as in "
                       "\"spec.deletionProtection\", at most " +
                       std::to_string(kDeepestPath) + " of them, not " + kube::inQuotes(text));
  return {};
}

}  // namespace

std::vector<Fields> readItems(Fields& fields, std::string_view key) {
  std::vector<Fields> list = fields.items(key);
  if (list.size() <= kMostEntries) return list;
  fields.fail(key, fields.pathOf(key) + " has " + std::to_string(list.size()) + " entries; " +
                       std::to_string(kMostEntries) + " are the most");
  return {};
}

std::vector<std::string> readStrings(Fields& fields, std::string_view key) {
  std::vector<std::string> list = fields.strings(key);
  if (list.size() <= kMostStrings) return list;
  fields.fail(key, fields.pathOf(key) + " has " + std::to_string(list.size()) + " entries; " +
                       std::to_string(kMostStrings) + " are the most");
  return {};
}

std::optional<FieldPath> readPath(Fields& fields, std::string_view key) {
  const std::optional<std::string> text = fields.string(key);
  return text ? std::optional(pathIn(fields, key, *text)) : std::nullopt;
}

FieldPath readRequiredPath(Fields& fields, std::string_view key) {
  fields.requiredString(key);
  return readPath(fields, key).value_or(FieldPath());
}

std::chrono::seconds readPause(Fields& fields, std::string_view key, std::chrono::seconds byDefault) {
  const auto given = fields.duration(key);
  if (!given) return byDefault;
  const auto whole = std::chrono::duration_cast<std::chrono::seconds>(*given);
  if (whole != *given || whole < std::chrono::seconds(1) || whole > kLongestPause)
    fields.fail(key, fields.pathOf(key) + " must be whole seconds from 1s to 1h");
  return whole;
}

std::string readMessage(Fields& fields, std::string_view key, bool mayNameListers) {
  const std::string text = fields.string(key).value_or("");
  if (text.size() > kLongestMessage)
    fields.fail(key, fields.pathOf(key) + " is longer than " + std::to_string(kLongestMessage) + " bytes");
  if (const auto pieces = parseMessage(text); !pieces)
    fields.fail(key,
                fields.pathOf(key) + " has {" + kube::printable(pieces.error()) +
                    "}, which stands for nothing: {kind}, {resource}, {name}, {namespace}, {inNamespace} "
                    "and {reason} do");
  if (!mayNameListers && namesListers(text))
    fields.fail(key, fields.pathOf(key) +
                         " has {count}, {listerName}, {listerNamespace} or {because}, which stand for "
                         "something in the message of a policy with listedBy alone");
  return text;
}

std::vector<FieldSentence> readFieldSentences(Fields& fields, std::string_view key) {
  std::vector<FieldSentence> made;
  for (const std::string& text : readStrings(fields, key)) {
    if (text.size() > kLongestMessage)
      fields.fail(key, fields.pathOf(key) + " has a sentence longer than " + std::to_string(kLongestMessage) +
                           " bytes");
    FieldSentence sentence;
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t open = rest.find('{');
      if (open != 0) sentence.push_back({std::string(rest.substr(0, open)), std::nullopt});
      if (open == std::string_view::npos) break;
      const size_t close = rest.find('}', open);
      sentence.push_back({{}, pathIn(fields, key, rest.substr(open + 1, close - open - 1))});
      if (close == std::string_view::npos) {
        fields.fail(key, fields.pathOf(key) + " has a { without a }: " + kube::inQuotes(text));
        break;
      }
      rest.remove_prefix(close + 1);
    }
    made.push_back(std::move(sentence));
  }
  return made;
}

std::vector<KeyTest> readKeyTests(Fields& fields, std::string_view key) {
  std::vector<KeyTest> made;
  for (Fields& one : readItems(fields, key)) {
    if (auto test = readKeyTest(one)) made.push_back(std::move(*test));
    one.finish();
  }
  return made;
}

std::optional<KeyTest> readKeyTest(Fields& fields) {
  const std::optional<std::string> label = fields.string("label");
  const std::optional<std::string> annotation = fields.string("annotation");
  if (label.has_value() == annotation.has_value()) {
    fields.failAt(fields.value(), fields.path() + (label ? " has a label and an annotation: make two of it"
                                                         : " names neither a label nor an annotation"));
    return std::nullopt;
  }
  KeyTest test{label ? KeyTest::MetadataField::Label : KeyTest::MetadataField::Annotation,
               label ? *label : *annotation, readStrings(fields, "values")};
  if (!kube::isQualifiedName(test.key))
    fields.fail(label ? "label" : "annotation",
                fields.pathOf(label ? "label" : "annotation") +
                    " is no key of a label or annotation: " + kube::inQuotes(test.key));
  for (const std::string& value : test.values) {
    if (label && !kube::isLabelValue(value))
      fields.fail("values",
                  fields.pathOf("values") + " holds " + kube::inQuotes(value) + ", which no label can have");
  }
  return test;
}

}  // namespace lastout::protection
