// The bodies of a Murphi model in C: its expressions and statements, checked for their types
// (promela_body.cc). prove/promela.cc writes the declarations around them. Internal to prove/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "prove/promela_tokens.h"

namespace lastout::prove {

// --- types and names

struct MurphiType {
  enum class Kind : uint8_t { Enum, Range, Array, Record };  // a boolean is an enum
  Kind kind = Kind::Enum;
  std::string inC = {};
  size_t count = 0;  // of the values, from 0 on; of an array's elements
  const MurphiType* index = nullptr;
  const MurphiType* element = nullptr;
  std::map<std::string, const MurphiType*> fields = {};

  bool isScalar() const { return kind == Kind::Enum || kind == Kind::Range; }
};

// A variable, a constant, or the value of an expression.
struct MurphiValue {
  std::string inC;
  const MurphiType* type = nullptr;     // nullptr: a number, which fits every range that has it
  std::optional<size_t> constant = {};  // where it is known
  bool isPlace = false;                 // can be assigned to
};

struct MurphiParameter {
  std::string name;
  const MurphiType* type = nullptr;
  bool isVar = false;
};

struct MurphiRoutine {
  std::string inC;
  std::vector<MurphiParameter> parameters = {};
  const MurphiType* result = nullptr;  // nullptr: a procedure
};

inline constexpr size_t kMostMurphiValues = 256;  // of one type: a value is a byte of the state
inline constexpr const char* kMurphiByte = "unsigned char";

// Returns the name in C, where it collides with none of C's or SPIN's own.
std::string murphiInC(const std::string& name);

// --- bodies

// Translates expressions and statements. Whatever it refuses is refused by the tokens.
class MurphiBody {
 public:
  explicit MurphiBody(MurphiTokens& tokens);

  void addType(const std::string& name, const MurphiType* type) { types_[name] = type; }
  void addRoutine(const std::string& name, MurphiRoutine routine) { routines_[name] = std::move(routine); }
  void addValue(const std::string& name, MurphiValue value);
  // Begins, or ends, the names of a routine, a rule or a loop.
  void open() { scopes_.emplace_back(); }
  void close() { scopes_.pop_back(); }
  // The statements to come may return such a value; nullptr: none.
  void returns(const MurphiType* result) { result_ = result; }

  const MurphiType* boolean() const { return &boolean_; }
  // Takes the name of a type, or refuses the model.
  const MurphiType* typeNamed();
  // Takes a condition.
  std::string condition();
  // Takes a number, or a constant that is one.
  size_t number();
  // Takes the variables of a routine or a rule; returns their declarations.
  std::string variables();
  // Takes what stands up to the next `end`, `else`, `elsif` or `case`.
  std::string statements(const std::string& indent);
  // Takes all of it that a list of declared names has: "a, b: t".
  std::vector<MurphiParameter> declared();

 private:
  MurphiValue expression();
  MurphiValue conjunction();
  MurphiValue negation();
  MurphiValue comparison();
  MurphiValue primary();
  MurphiValue place(MurphiValue value);
  MurphiValue call(const std::string& name);
  std::string arguments(const MurphiRoutine& routine);
  MurphiValue joined(const MurphiValue& left, const char* sign, const MurphiValue& right);
  MurphiValue compared(const MurphiValue& left, const std::string& sign, const MurphiValue& right);

  std::string statement(const std::string& indent);
  std::string conditional(const std::string& indent);
  std::string loop(const std::string& indent);
  std::string choice(const std::string& indent);
  std::string labels(const MurphiType* type, const std::string& indent);
  std::string returned();
  std::string cleared();
  std::string raised();
  std::string assignmentOrCall();

  const MurphiValue* find(const std::string& name) const;
  void wantFit(const MurphiType* wanted, const MurphiValue& value);
  MurphiValue ofBoolean(std::string inC) const { return {.inC = std::move(inC), .type = &boolean_}; }

  MurphiTokens& tokens_;
  MurphiType boolean_;
  std::map<std::string, const MurphiType*> types_;
  std::map<std::string, MurphiRoutine> routines_;
  std::vector<std::map<std::string, MurphiValue>> scopes_;
  const MurphiType* result_ = nullptr;
};

}  // namespace lastout::prove
