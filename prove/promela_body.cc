#include "prove/promela_body.h"

#include <charconv>

namespace lastout::prove {

// --- names

std::string murphiInC(const std::string& name) { return "m_" + name; }

MurphiBody::MurphiBody(MurphiTokens& tokens)
    : tokens_(tokens), boolean_{.kind = MurphiType::Kind::Enum, .inC = kMurphiByte, .count = 2} {
  open();
  addType("boolean", &boolean_);
  addValue("false", {.inC = "0", .type = &boolean_, .constant = 0});
  addValue("true", {.inC = "1", .type = &boolean_, .constant = 1});
}

void MurphiBody::addValue(const std::string& name, MurphiValue value) {
  if (!scopes_.back().emplace(name, std::move(value)).second) tokens_.refuse(name + " is declared twice");
}

const MurphiValue* MurphiBody::find(const std::string& name) const {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope)
    if (const auto found = scope->find(name); found != scope->end()) return &found->second;
  return nullptr;
}

const MurphiType* MurphiBody::typeNamed() {
  const std::string name = tokens_.name();
  const auto found = types_.find(name);
  if (found != types_.end()) return found->second;
  tokens_.refuse("no type is named " + name);
  return &boolean_;
}

std::vector<MurphiParameter> MurphiBody::declared() {
  const bool isVar = tokens_.take("var");
  std::vector<MurphiParameter> all{{tokens_.name(), nullptr, isVar}};
  while (tokens_.take(",")) all.push_back({tokens_.name(), nullptr, isVar});
  tokens_.want(":");
  const MurphiType* type = typeNamed();
  for (MurphiParameter& one : all) one.type = type;
  return all;
}

std::string MurphiBody::variables() {
  std::string text;
  if (!tokens_.take("var")) return text;
  while (tokens_.is(TokenKind::Name)) {
    for (const MurphiParameter& one : declared()) {
      const std::string name = murphiInC(one.name);
      text += "  " + one.type->inC + " " + name + (one.type->isScalar() ? " = 0;\n" : " = {0};\n");
      addValue(one.name, {.inC = name, .type = one.type, .isPlace = true});
    }
    tokens_.want(";");
  }
  return text;
}

void MurphiBody::wantFit(const MurphiType* wanted, const MurphiValue& value) {
  if (value.type == wanted) return;
  const bool isNumber = value.type == nullptr && wanted->kind == MurphiType::Kind::Range;
  if (isNumber && value.constant && *value.constant < wanted->count) return;
  tokens_.refuse(value.inC + " is of another type than is wanted here");
}

// --- expressions

std::string MurphiBody::condition() {
  const MurphiValue value = expression();
  wantFit(&boolean_, value);
  return value.inC;
}

size_t MurphiBody::number() {
  const MurphiValue value = primary();
  if (value.type == nullptr && value.constant) return *value.constant;
  tokens_.refuse(value.inC + " is no constant number");
  return 0;
}

MurphiValue MurphiBody::joined(const MurphiValue& left, const char* sign, const MurphiValue& right) {
  wantFit(&boolean_, left);
  wantFit(&boolean_, right);
  return ofBoolean("(" + left.inC + " " + sign + " " + right.inC + ")");
}

MurphiValue MurphiBody::expression() {
  MurphiValue left = conjunction();
  while (tokens_.take("|")) left = joined(left, "||", conjunction());
  return left;
}

MurphiValue MurphiBody::conjunction() {
  MurphiValue left = negation();
  while (tokens_.take("&")) left = joined(left, "&&", negation());
  return left;
}

MurphiValue MurphiBody::negation() {
  if (!tokens_.take("!")) return comparison();
  const MurphiValue value = tokens_.is("!") ? negation() : primary();
  wantFit(&boolean_, value);
  for (const char* sign : {"=", "!=", "<", "<=", ">", ">="})
    if (tokens_.is(sign)) tokens_.refuse("'!' before a comparison needs parentheses");
  return ofBoolean("!" + value.inC);
}

MurphiValue MurphiBody::comparison() {
  MurphiValue left = primary();
  for (const char* sign : {"=", "!=", "<", "<=", ">", ">="}) {
    if (!tokens_.take(sign)) continue;
    return compared(left, sign, primary());
  }
  return left;
}

MurphiValue MurphiBody::compared(const MurphiValue& left, const std::string& sign, const MurphiValue& right) {
  const auto isNumber = [](const MurphiValue& value) {
    return value.type == nullptr || value.type->kind == MurphiType::Kind::Range;
  };
  const bool areNumbers = isNumber(left) && isNumber(right);
  const bool areSame = left.type == right.type && left.type != nullptr && left.type->isScalar();
  if (!areNumbers && (!areSame || (sign != "=" && sign != "!=")))
    tokens_.refuse(left.inC + " and " + right.inC + " are not compared by '" + sign + "'");
  return ofBoolean("(" + left.inC + " " + (sign == "=" ? "==" : sign) + " " + right.inC + ")");
}

MurphiValue MurphiBody::primary() {
  if (tokens_.take("(")) {
    const MurphiValue inner = expression();
    tokens_.want(")");
    return inner;
  }
  if (tokens_.is(TokenKind::Number)) {
    const std::string text = tokens_.take(TokenKind::Number, "a number");
    size_t value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec != std::errc{} || value >= kMostMurphiValues) tokens_.refuse(text + " is too large");
    return {.inC = std::to_string(value), .constant = value};
  }
  const std::string name = tokens_.take(TokenKind::Name, "an expression that has a translation");
  if (tokens_.is("(")) return call(name);
  const MurphiValue* value = find(name);
  if (value != nullptr) return place(*value);
  tokens_.refuse("nothing is named " + name);
  return ofBoolean("0");
}

// Takes the fields and indexes behind a variable.
MurphiValue MurphiBody::place(MurphiValue value) {
  while (value.type != nullptr && !tokens_.isOver()) {
    if (tokens_.take(".")) {
      const std::string name = tokens_.name();
      const auto field = value.type->fields.find(name);
      if (field == value.type->fields.end()) {
        tokens_.refuse(value.inC + " has no field " + name);
        return value;
      }
      value = {.inC = value.inC + "." + murphiInC(name), .type = field->second, .isPlace = value.isPlace};
    } else if (value.type->kind == MurphiType::Kind::Array && tokens_.take("[")) {
      const MurphiValue index = expression();
      wantFit(value.type->index, index);
      tokens_.want("]");
      value = {
          .inC = value.inC + ".at[" + index.inC + "]", .type = value.type->element, .isPlace = value.isPlace};
    } else {
      return value;
    }
  }
  return value;
}

MurphiValue MurphiBody::call(const std::string& name) {
  const auto found = routines_.find(name);
  if (found == routines_.end() || found->second.result == nullptr) {
    tokens_.refuse("no function is named " + name);
    return ofBoolean("0");
  }
  return {.inC = found->second.inC + arguments(found->second), .type = found->second.result};
}

std::string MurphiBody::arguments(const MurphiRoutine& routine) {
  std::string text = "(";
  tokens_.want("(");
  for (const MurphiParameter& parameter : routine.parameters) {
    if (text.size() > 1) {
      tokens_.want(",");
      text += ", ";
    }
    const MurphiValue value = expression();
    if (parameter.isVar && (value.type != parameter.type || !value.isPlace))
      tokens_.refuse(value.inC + " is no variable for " + parameter.name);
    wantFit(parameter.type, value);
    text += (parameter.isVar ? "&" : "") + value.inC;
  }
  tokens_.want(")");
  return text + ")";
}

// --- statements

std::string MurphiBody::statements(const std::string& indent) {
  std::string text;
  while (!tokens_.isOver() && !tokens_.is("end") && !tokens_.is("else") && !tokens_.is("elsif") &&
         !tokens_.is("case")) {
    text += indent + statement(indent) + "\n";
    tokens_.want(";");
  }
  return text;
}

std::string MurphiBody::statement(const std::string& indent) {
  if (tokens_.take("if")) return conditional(indent);
  if (tokens_.take("for")) return loop(indent);
  if (tokens_.take("switch")) return choice(indent);
  if (tokens_.take("return")) return returned();
  if (tokens_.take("clear")) return cleared();
  if (tokens_.take("error")) return raised();
  if (tokens_.is(TokenKind::Name)) return assignmentOrCall();
  tokens_.refuse("no statement that begins with '" + tokens_.next().text + "' has a translation");
  return {};
}

std::string MurphiBody::conditional(const std::string& indent) {
  std::string text;
  do {
    text += std::string(text.empty() ? "" : indent + "} else ") + "if (" + condition() + ") {\n";
    tokens_.want("then");
    text += statements(indent + "  ");
  } while (tokens_.take("elsif"));
  if (tokens_.take("else")) text += indent + "} else {\n" + statements(indent + "  ");
  tokens_.want("end");
  return text + indent + "}";
}

std::string MurphiBody::loop(const std::string& indent) {
  const std::string name = tokens_.name();
  tokens_.want(":");
  const MurphiType* type = typeNamed();
  tokens_.want("do");
  if (!type->isScalar()) tokens_.refuse("a loop needs a type with values to count");
  open();
  const std::string variable = murphiInC(name);
  addValue(name, {.inC = variable, .type = type});
  const std::string body = statements(indent + "  ");
  close();
  tokens_.want("end");
  return "for (int " + variable + " = 0; " + variable + " < " + std::to_string(type->count) + "; ++" +
         variable + ") {\n" + body + indent + "}";
}

std::string MurphiBody::choice(const std::string& indent) {
  const MurphiValue value = expression();
  if (value.type == nullptr || !value.type->isScalar())
    tokens_.refuse(value.inC + " is nothing to choose by");
  std::string text = "switch (" + value.inC + ") {\n";
  while (tokens_.take("case")) {
    text += labels(value.type, indent);
    text += statements(indent + "    ") + indent + "    break;\n";
  }
  if (tokens_.take("else"))
    text += indent + "  default:\n" + statements(indent + "    ") + indent + "    break;\n";
  tokens_.want("end");
  return text + indent + "}";
}

std::string MurphiBody::labels(const MurphiType* type, const std::string& indent) {
  std::string text;
  do {
    const MurphiValue one = primary();
    wantFit(type, one);
    if (!one.constant) tokens_.refuse(one.inC + " is no constant");
    text += indent + "  case " + one.inC + ":\n";
  } while (tokens_.take(","));
  tokens_.want(":");
  return text;
}

std::string MurphiBody::returned() {
  if (result_ == nullptr) {
    if (!tokens_.is(";")) tokens_.refuse("a value is returned, and none is wanted");
    return "return;";
  }
  const MurphiValue value = expression();
  wantFit(result_, value);
  return "return " + value.inC + ";";
}

std::string MurphiBody::cleared() {
  const MurphiValue value = primary();
  if (!value.isPlace) tokens_.refuse(value.inC + " is no variable to clear");
  return "memset(&" + value.inC + ", 0, sizeof(" + value.inC + "));";
}

std::string MurphiBody::raised() {
  return "uerror(\"" + tokens_.take(TokenKind::Text, "a text in quotes") + "\");";
}

std::string MurphiBody::assignmentOrCall() {
  const std::string name = tokens_.take(TokenKind::Name, "a name");
  if (tokens_.is("(")) {
    const auto found = routines_.find(name);
    if (found != routines_.end() && found->second.result == nullptr)
      return found->second.inC + arguments(found->second) + ";";
    tokens_.refuse("no procedure is named " + name);
    return {};
  }
  const MurphiValue* variable = find(name);
  if (variable == nullptr || !variable->isPlace) {
    tokens_.refuse(name + " is no variable to assign to");
    return {};
  }
  const MurphiValue to = place(*variable);
  tokens_.want(":=");
  const MurphiValue value = expression();
  wantFit(to.type, value);
  return to.inC + " = " + value.inC + ";";
}

}  // namespace lastout::prove
