#include "prove/promela.h"

#include <deque>

#include "prove/promela_body.h"

namespace lastout::prove {

namespace {

constexpr const char* kHead =
    R"(/* A scenario of lastout, translated from the model that it writes for Rumur. docs/prove.md, "States and rates beside SPIN's", tells how to run it.
   It shows states and unsafe commits. It says nothing about what can still be reached. */

)";

// Translates the declarations of a model, and writes the model around them.
class PromelaModel {
 public:
  explicit PromelaModel(const std::string& murphi) : tokens_(murphi), body_(tokens_) {}

  kube::Result<std::string> text();

 private:
  void declaration();
  void constants();
  void types();
  void variables();
  void routine(bool isFunction);
  void ruleset();
  void rule();
  void start();
  void property();

  const MurphiType* type();
  const MurphiType* keep(MurphiType type);
  const MurphiType* enumeration();
  const MurphiType* range();
  const MurphiType* array();
  const MurphiType* record();
  std::vector<MurphiParameter> parameters();
  std::string signature(const std::vector<MurphiParameter>& parameters);
  void instances(const std::string& number, const std::string& name);
  void addCode(const std::string& code) { code_ += "c_code {\n" + code + "}\n\n"; }

  MurphiTokens tokens_;
  MurphiBody body_;
  std::deque<MurphiType> kept_;
  std::vector<MurphiParameter> ofRules_;  // the parameters of the rulesets around a rule
  size_t rules_ = 0;
  size_t starts_ = 0;
  std::string types_;  // in C
  std::string state_;  // the members of the state
  std::string code_;   // each routine and rule in a block of its own: SPIN bounds the length of one
  std::string steps_;  // the options of the process
};

kube::Result<std::string> PromelaModel::text() {
  while (!tokens_.isOver()) declaration();
  if (!tokens_.error() && (starts_ != 1 || rules_ == 0 || state_.empty()))
    tokens_.refuse("a model has variables, rules and one startstate");
  if (tokens_.error()) return tl::unexpected(*tokens_.error());
  return kHead + ("c_decl {\nextern void (*uerror)(char *);\n" + types_) + "typedef struct {\n" + state_ +
         "} murphi_state;\n}\n\nc_state \"murphi_state murphi\" \"Global\" \"murphi_start()\"\n\n" + code_ +
         "active proctype murphi_rules() {\nend:\n  do\n" + steps_ + "  od\n}\n";
}

void PromelaModel::declaration() {
  if (tokens_.take("const")) return constants();
  if (tokens_.take("type")) return types();
  if (tokens_.take("var")) return variables();
  if (tokens_.take("function")) return routine(true);
  if (tokens_.take("procedure")) return routine(false);
  if (tokens_.take("ruleset")) return ruleset();
  if (tokens_.take("rule")) return rule();
  if (tokens_.take("startstate")) return start();
  if (tokens_.take("liveness")) return property();
  tokens_.refuse("no declaration that begins with '" + tokens_.next().text + "' has a translation");
}

// --- constants, types, variables

void PromelaModel::constants() {
  while (tokens_.is(TokenKind::Name)) {
    const std::string name = tokens_.name();
    tokens_.want(":");
    const bool isBoolean =
        tokens_.is(TokenKind::Name) && (tokens_.next().text == "true" || tokens_.next().text == "false");
    const size_t value = isBoolean ? (tokens_.name() == "true" ? 1 : 0) : body_.number();
    body_.addValue(
        name,
        {.inC = std::to_string(value), .type = isBoolean ? body_.boolean() : nullptr, .constant = value});
    tokens_.want(";");
  }
}

void PromelaModel::types() {
  while (tokens_.is(TokenKind::Name)) {
    const std::string name = tokens_.name();
    tokens_.want(":");
    body_.addType(name, type());
    tokens_.want(";");
  }
}

const MurphiType* PromelaModel::type() {
  if (tokens_.take("enum")) return enumeration();
  if (tokens_.take("array")) return array();
  if (tokens_.take("record")) return record();
  return tokens_.is(TokenKind::Name) ? body_.typeNamed() : range();
}

const MurphiType* PromelaModel::keep(MurphiType type) {
  if (type.isScalar()) {
    type.inC = kMurphiByte;
    if (type.count > kMostMurphiValues)
      tokens_.refuse("a type has more than " + std::to_string(kMostMurphiValues) + " values");
  }
  kept_.push_back(std::move(type));
  return &kept_.back();
}

const MurphiType* PromelaModel::enumeration() {
  std::vector<std::string> names;
  tokens_.want("{");
  do names.push_back(tokens_.name());
  while (tokens_.take(","));
  tokens_.want("}");
  const MurphiType* type = keep({.kind = MurphiType::Kind::Enum, .count = names.size()});
  types_ += "enum {";
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string inC = murphiInC(names[i]);
    types_ += (i == 0 ? "" : ",") + std::string("\n  ") + inC;
    body_.addValue(names[i], {.inC = inC, .type = type, .constant = i});
  }
  types_ += "\n};\n";
  return type;
}

const MurphiType* PromelaModel::range() {
  if (body_.number() != 0)
    tokens_.refuse("a range that begins with another number than 0 has no translation");
  tokens_.want("..");
  return keep({.kind = MurphiType::Kind::Range, .count = body_.number() + 1});
}

const MurphiType* PromelaModel::array() {
  tokens_.want("[");
  const MurphiType* index = body_.typeNamed();
  tokens_.want("]");
  tokens_.want("of");
  const MurphiType* element = type();
  if (!index->isScalar()) tokens_.refuse("an array needs an index with values to count");
  const std::string inC = "murphi_array_" + std::to_string(kept_.size());
  types_ +=
      "typedef struct { " + element->inC + " at[" + std::to_string(index->count) + "]; } " + inC + ";\n";
  return keep({.kind = MurphiType::Kind::Array,
               .inC = inC,
               .count = index->count,
               .index = index,
               .element = element});
}

const MurphiType* PromelaModel::record() {
  MurphiType type{.kind = MurphiType::Kind::Record};
  std::string members;
  while (tokens_.is(TokenKind::Name)) {
    const std::string name = tokens_.name();
    tokens_.want(":");
    const MurphiType* field = this->type();
    members += "  " + field->inC + " " + murphiInC(name) + ";\n";
    if (!type.fields.emplace(name, field).second) tokens_.refuse("a record has two fields " + name);
    tokens_.want(";");
  }
  tokens_.want("end");
  type.inC = "murphi_record_" + std::to_string(kept_.size());
  types_ += "typedef struct {\n" + members + "} " + type.inC + ";\n";
  return keep(std::move(type));
}

void PromelaModel::variables() {
  while (tokens_.is(TokenKind::Name)) {
    const std::string name = tokens_.name();
    tokens_.want(":");
    const MurphiType* of = type();
    state_ += "  " + of->inC + " " + murphiInC(name) + ";\n";
    body_.addValue(name, {.inC = "now.murphi." + murphiInC(name), .type = of, .isPlace = true});
    tokens_.want(";");
  }
}

// --- functions and procedures

std::vector<MurphiParameter> PromelaModel::parameters() {
  std::vector<MurphiParameter> all;
  while (tokens_.is(TokenKind::Name) || tokens_.is("var")) {
    const std::vector<MurphiParameter> some = body_.declared();
    all.insert(all.end(), some.begin(), some.end());
    if (!tokens_.take(";")) break;
  }
  return all;
}

// Declares the parameters; returns them in C.
std::string PromelaModel::signature(const std::vector<MurphiParameter>& parameters) {
  std::string text;
  for (const MurphiParameter& one : parameters) {
    const std::string name = murphiInC(one.name);
    text += (text.empty() ? "" : ", ") + one.type->inC + (one.isVar ? " *" : " ") + name;
    body_.addValue(one.name,
                   {.inC = one.isVar ? "(*" + name + ")" : name, .type = one.type, .isPlace = one.isVar});
  }
  return "(" + (text.empty() ? "void" : text) + ")";
}

void PromelaModel::routine(bool isFunction) {
  const std::string name = tokens_.name();
  MurphiRoutine routine{.inC = murphiInC(name)};
  tokens_.want("(");
  routine.parameters = parameters();
  tokens_.want(")");
  if (isFunction) {
    tokens_.want(":");
    routine.result = body_.typeNamed();
    if (!routine.result->isScalar())
      tokens_.refuse("a function that returns a record or an array has no translation");
  }
  tokens_.want(";");
  body_.addRoutine(name, routine);
  body_.open();
  body_.returns(routine.result);
  std::string code = "static " + std::string(isFunction ? kMurphiByte : "void") + " " + routine.inC;
  code += signature(routine.parameters) + " {\n";
  code += body_.variables();
  tokens_.want("begin");
  code += body_.statements("  ");
  tokens_.want("end");
  tokens_.want(";");
  body_.returns(nullptr);
  body_.close();
  if (isFunction) code += "  uerror(\"" + name + " returns nothing\");\n  return 0;\n";
  addCode(code + "}\n");
}

// --- rules

void PromelaModel::ruleset() {
  const size_t before = ofRules_.size();
  const std::vector<MurphiParameter> some = parameters();
  for (const MurphiParameter& one : some)
    if (!one.type->isScalar() || one.isVar) tokens_.refuse("a ruleset needs types with values to count");
  ofRules_.insert(ofRules_.end(), some.begin(), some.end());
  tokens_.want("do");
  while (!tokens_.isOver() && !tokens_.is("end")) {
    if (tokens_.take("ruleset"))
      ruleset();
    else if (tokens_.take("rule"))
      rule();
    else
      tokens_.refuse("a ruleset has rules, and here is '" + tokens_.next().text + "'");
  }
  tokens_.want("end");
  tokens_.want(";");
  ofRules_.resize(before);
}

void PromelaModel::rule() {
  const std::string name = tokens_.take(TokenKind::Text, "a rule's name");
  const std::string number = std::to_string(rules_++);
  body_.open();
  const std::string taken = signature(ofRules_);
  addCode("/* " + name + " */\nstatic int guard_" + number + taken + " {\n  return " + body_.condition() +
          ";\n}\n");
  tokens_.want("==>");
  const std::string head = "static void rule_" + number + taken + " {\n" + body_.variables();
  tokens_.want("begin");
  addCode(head + body_.statements("  ") + "}\n");
  tokens_.want("end");
  tokens_.want(";");
  body_.close();
  instances(number, name);
}

// Adds an option for each value of the parameters. SPIN takes a call behind a name for a side effect, and one
// in parentheses for none.
void PromelaModel::instances(const std::string& number, const std::string& name) {
  std::vector<std::string> all{""};
  for (const MurphiParameter& one : ofRules_) {
    std::vector<std::string> longer;
    for (const std::string& shorter : all)
      for (size_t value = 0; value < one.type->count; ++value)
        longer.push_back(shorter + (shorter.empty() ? "" : ", ") + std::to_string(value));
    all = std::move(longer);
  }
  steps_ += "  /* " + name + " */\n";
  for (const std::string& values : all)
    steps_ += "  :: d_step { c_expr { (guard_" + number + "(" + values + ")) } -> c_code { rule_" + number +
              "(" + values + "); } }\n";
}

void PromelaModel::start() {
  if (tokens_.is(TokenKind::Text)) tokens_.take(TokenKind::Text, "a name");
  ++starts_;
  body_.open();
  std::string code = "static murphi_state murphi_start(void) {\n" + body_.variables();
  tokens_.want("begin");
  code += "  memset(&now.murphi, 0, sizeof(now.murphi));\n" + body_.statements("  ") +
          "  return now.murphi;\n}\n";
  tokens_.want("end");
  tokens_.want(";");
  body_.close();
  addCode(code);
}

// Leaves out a property that says what can still be reached.
void PromelaModel::property() {
  while (!tokens_.isOver() && !tokens_.is(";")) tokens_.skip();
  tokens_.want(";");
}

}  // namespace

kube::Result<std::string> toPromela(const std::string& murphi) { return PromelaModel(murphi).text(); }

}  // namespace lastout::prove
