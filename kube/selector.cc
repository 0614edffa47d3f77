#include "kube/selector.h"

#include <algorithm>
#include <array>
#include <optional>

#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/names.h"

namespace lastout::kube {
namespace {

using Operator = SelectorRequirement::Operator;

bool holds(const SelectorRequirement& requirement, const Labels& labels) {
  const auto label = labels.find(requirement.key);
  const bool there = label != labels.end();
  const bool named =
      there && std::ranges::find(requirement.values, label->second) != requirement.values.end();
  switch (requirement.op) {
    case Operator::In:
      return named;
    case Operator::NotIn:
      return !named;
    case Operator::Exists:
      return there;
    case Operator::DoesNotExist:
      return !there;
  }
  return false;
}

// What is wrong with a requirement, as a sentence.
std::optional<std::string> problem(const SelectorRequirement& requirement) {
  if (!isQualifiedName(requirement.key)) return inQuotes(requirement.key) + " is no label's name";
  for (const std::string& value : requirement.values) {
    if (!isLabelValue(value)) return inQuotes(value) + " is no value of a label";
  }
  const bool wantsValues = requirement.op == Operator::In || requirement.op == Operator::NotIn;
  if (wantsValues && requirement.values.empty())
    return "\"" + requirement.key + "\" needs at least one value to compare with";
  if (!wantsValues && !requirement.values.empty())
    return "\"" + requirement.key + "\" may have no values with this operator";
  return std::nullopt;
}

constexpr std::array kOperators = {Operator::In, Operator::NotIn, Operator::Exists, Operator::DoesNotExist};

void readExpression(Fields& expression, LabelSelector& selector) {
  SelectorRequirement requirement;
  requirement.key = expression.requiredString("key");
  const auto op = expression.oneOf("operator", {"In", "NotIn", "Exists", "DoesNotExist"});
  if (!op && !expression.has("operator"))
    expression.fail("operator", expression.pathOf("operator") + " is missing");
  for (const Operator one : kOperators)
    if (op == toString(one)) requirement.op = one;
  requirement.values = expression.strings("values");
  expression.finish();
  if (requirement.key.empty() || !op) return;
  if (const auto wrong = problem(requirement)) expression.fail("key", expression.path() + ": " + *wrong);
  selector.requirements.push_back(std::move(requirement));
}

// kubectl's text, read from the left.
class SelectorText {
 public:
  explicit SelectorText(std::string_view text) : rest_(text) {}

  bool atEnd() {
    skipBlanks();
    return rest_.empty();
  }
  bool take(std::string_view symbol) {
    skipBlanks();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }
  // The next name, value or operator word; empty when a symbol or nothing follows.
  std::string_view word() {
    skipBlanks();
    const size_t end = std::min(rest_.find_first_of(" \t=!,()<>"), rest_.size());
    const std::string_view word = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return word;
  }

 private:
  void skipBlanks() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }
  std::string_view rest_;
};

// "(a, b)"; false when it is no such list.
bool readValues(SelectorText& text, std::vector<std::string>& values) {
  if (!text.take("(")) return false;
  do {
    values.emplace_back(text.word());
  } while (text.take(","));
  return text.take(")");
}

// One requirement between commas; false when it is none.
bool readRequirement(SelectorText& text, SelectorRequirement& requirement) {
  if (text.take("!")) {
    requirement.key = text.word();
    requirement.op = Operator::DoesNotExist;
    return true;
  }
  requirement.key = text.word();
  const bool notEqual = text.take("!=");
  if (notEqual || text.take("==") || text.take("=")) {
    requirement.op = notEqual ? Operator::NotIn : Operator::In;
    requirement.values.emplace_back(text.word());
    return true;
  }
  const std::string_view op = text.word();
  if (op.empty()) return true;  // the key alone: it exists
  if (op != "in" && op != "notin") return false;
  requirement.op = op == "in" ? Operator::In : Operator::NotIn;
  return readValues(text, requirement.values);
}

}  // namespace

std::string_view toString(SelectorRequirement::Operator op) {
  switch (op) {
    case Operator::In:
      return "In";
    case Operator::NotIn:
      return "NotIn";
    case Operator::Exists:
      return "Exists";
    case Operator::DoesNotExist:
      return "DoesNotExist";
  }
  return {};
}

bool LabelSelector::matches(const Labels& labels) const {
  return std::ranges::all_of(requirements,
                             [&labels](const auto& requirement) { return holds(requirement, labels); });
}

Result<LabelSelector> parseSelector(const Value& selector, std::string_view file, std::string path) {
  Errors errors;
  LabelSelector result;
  Fields fields(selector, file, std::move(path), errors);
  for (const auto& [key, value] : fields.stringMap("matchLabels")) {
    SelectorRequirement requirement{key, Operator::In, {value}};
    if (const auto wrong = problem(requirement))
      fields.fail("matchLabels", fields.pathOf("matchLabels") + ": " + *wrong);
    result.requirements.push_back(std::move(requirement));
  }
  for (Fields& expression : fields.items("matchExpressions")) readExpression(expression, result);
  fields.finish();
  if (!errors.empty()) return tl::unexpected(std::move(errors.front()));
  return result;
}

LabelSelector selectorIn(const Value& object, std::string_view field) {
  const Value* selector = object.find(field);
  return selector == nullptr ? LabelSelector() : parseSelector(*selector, "").value_or(LabelSelector());
}

Result<LabelSelector> parseSelector(std::string_view text) {
  const auto fail = [text](const std::string& why) {
    return tl::unexpected(Error{inQuotes(text) + " is no label selector: " + why, "", {}});
  };
  LabelSelector selector;
  SelectorText rest(text);
  if (rest.atEnd()) return selector;
  do {
    SelectorRequirement requirement;
    if (!readRequirement(rest, requirement)) return fail("write it as in app=web,tier in (a,b),!legacy");
    if (const auto wrong = problem(requirement)) return fail(*wrong);
    selector.requirements.push_back(std::move(requirement));
  } while (rest.take(","));
  if (!rest.atEnd()) return fail("write it as in app=web,tier in (a,b),!legacy");
  return selector;
}

std::string toString(const LabelSelector& selector) {
  std::string text;
  for (const SelectorRequirement& one : selector.requirements) {
    text += text.empty() ? "" : ",";
    std::string values;
    for (const std::string& value : one.values) values += (&value == &one.values.front() ? "" : ",") + value;
    if (one.op == Operator::DoesNotExist) text += "!";
    text += one.key;
    if (one.op == Operator::In) text += " in (" + values + ")";
    if (one.op == Operator::NotIn) text += " notin (" + values + ")";
  }
  return text;
}

}  // namespace lastout::kube
