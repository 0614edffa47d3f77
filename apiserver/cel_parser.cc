// parseCel: from the text of an expression to its nodes, with their types as far as they are known.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "apiserver/cel.h"
#include "apiserver/cel_node.h"
#include "kube/quoting.h"

namespace lastout::apiserver {
namespace {

constexpr std::string_view kSpaces = " \t\n\r\f";
constexpr const char* kSupported =
    "this API server evaluates strings, lists, true, false, null, in, +, ==, !=, &&, ||, !, (), has(), and "
    "fields "
    "of object, oldObject and request";
constexpr int kHexBase = 16;

struct CelToken {
  enum class Kind : uint8_t { End, Word, Text, Symbol };
  Kind kind = Kind::End;
  std::string text;  // of a Text what it stands for
  size_t at = 0;     // where it begins
};

// Thrown and caught within this file: the words of the first problem.
struct CelProblem {
  std::string words;
};

// In UTF-8, of which each character has one byte that is no continuation.
size_t charactersIn(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(
      text, [](char byte) { return (static_cast<unsigned char>(byte) & 0xc0U) != 0x80U; }));
}

[[noreturn]] void tooDeep() {
  throw CelProblem{"expression recursion limit exceeded: " + std::to_string(kDeepestCel)};
}

bool isWordStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string nameOf(CelType type) {
  static constexpr std::array<const char*, 6> kNames = {"dyn",  "bool",      "string",
                                                        "null", "list(dyn)", "map(string, dyn)"};
  return kNames.at(static_cast<size_t>(type));
}

// The fields of `request` that API servers declare: AdmissionRequest without its objects and its uid.
bool isFieldOfRequest(const std::vector<std::string>& path) {
  static constexpr std::array<std::string_view, 12> kFields = {
      "kind", "resource",  "subResource", "requestKind", "requestResource", "requestSubResource",
      "name", "namespace", "operation",   "userInfo",    "dryRun",          "options"};
  if (std::ranges::find(kFields, path.front()) == kFields.end()) return false;
  const auto isOneOf = [&](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), path[1]) != names.end();
  };
  if (path.size() < 2 || path.front() == "options") return true;
  if (path.front() == "userInfo") return isOneOf({"username", "uid", "groups", "extra"});
  if (path.front() == "kind" || path.front() == "requestKind") return isOneOf({"group", "version", "kind"});
  if (path.front() == "resource" || path.front() == "requestResource")
    return isOneOf({"group", "version", "resource"});
  return false;
}

CelType typeOfRequestField(std::string_view field) {
  static constexpr std::array<std::string_view, 5> kTexts = {"subResource", "requestSubResource", "name",
                                                             "namespace", "operation"};
  if (field == "dryRun") return CelType::Bool;
  return std::ranges::find(kTexts, field) != kTexts.end() ? CelType::Text : CelType::Dynamic;
}

class CelLexer {
 public:
  explicit CelLexer(std::string_view text) : text_(text) {}

  CelToken next() {
    position_ = std::min(text_.find_first_not_of(kSpaces, position_), text_.size());
    CelToken token{CelToken::Kind::End, "", position_};
    if (position_ == text_.size()) return token;
    const char first = text_[position_];
    if (first == '\'' || first == '"') return {CelToken::Kind::Text, string(first), token.at};
    if (isWordStart(first)) return {CelToken::Kind::Word, word(), token.at};
    for (const std::string_view symbol : {"==", "!=", "&&", "||", "(", ")", "[", "]", ",", ".", "+", "!"}) {
      if (!text_.substr(position_).starts_with(symbol)) continue;
      position_ += symbol.size();
      return {CelToken::Kind::Symbol, std::string(symbol), token.at};
    }
    throw CelProblem{kube::inQuotes(text_.substr(position_, 1)) + place(token.at) +
                     " is not supported: " + kSupported};
  }

  // " at line:column", as compilers count.
  std::string place(size_t at) const {
    const std::string_view before = text_.substr(0, at);
    const size_t line = static_cast<size_t>(std::ranges::count(before, '\n')) + 1;
    const size_t begin = before.rfind('\n');
    const std::string_view column = begin == std::string_view::npos ? before : before.substr(begin + 1);
    return " at " + std::to_string(line) + ":" + std::to_string(charactersIn(column) + 1);
  }

 private:
  std::string word() {
    const size_t begin = position_;
    while (position_ < text_.size() && (isWordStart(text_[position_]) || isDigit(text_[position_])))
      ++position_;
    const char next = position_ < text_.size() ? text_[position_] : '\0';
    if (next == '\'' || next == '"')
      throw CelProblem{"a string with a prefix" + place(begin) + " is not supported: " + kSupported};
    return std::string(text_.substr(begin, position_ - begin));
  }

  std::string string(char quote) {
    const size_t begin = position_++;
    if (text_.substr(begin).starts_with(std::string(3, quote)))
      throw CelProblem{"a string in three quotes" + place(begin) + " is not supported: " + kSupported};
    std::string made;
    while (position_ < text_.size() && text_[position_] != quote && text_[position_] != '\n') {
      if (text_[position_] == '\\')
        escape(made);
      else
        made += text_[position_++];
    }
    if (position_ >= text_.size() || text_[position_] != quote)
      throw CelProblem{"Syntax error: the string" + place(begin) + " does not end"};
    ++position_;
    return made;
  }

  void escape(std::string& made) {
    static constexpr std::string_view kEscapes = "\\'\"`?abfnrtv";
    static constexpr std::string_view kMeanings = "\\'\"`?\a\b\f\n\r\t\v";
    const size_t begin = position_++;
    const char kind = position_ < text_.size() ? text_[position_++] : '\0';
    if (const size_t known = kEscapes.find(kind); known != std::string_view::npos) {
      made += kMeanings[known];
    } else if (kind == 'x' || kind == 'u') {
      codePoint(made, kind == 'x' ? 2 : 4, begin);
    } else {
      throw CelProblem{"Syntax error: the escape" + place(begin) +
                       " is none of \\\\ \\' \\\" \\` \\? \\a \\b \\f \\n "
                       "\\r \\t \\v \\x \\u"};
    }
  }

  void codePoint(std::string& made, size_t digits, size_t begin) {
    const std::string_view written = text_.substr(std::min(position_, text_.size()), digits);
    uint32_t point = 0;
    for (const char digit : written) {
      static constexpr std::string_view kDigits = "0123456789abcdef";
      const size_t value = kDigits.find(static_cast<char>(isDigit(digit) ? digit : digit | 0x20));
      if (value == std::string_view::npos || written.size() < digits) point = 0xd800;
      point = point >= 0xd800 && point < 0xe000 ? point : point * kHexBase + static_cast<uint32_t>(value);
    }
    if (written.size() < digits || (point >= 0xd800 && point < 0xe000))
      throw CelProblem{"Syntax error: the escape" + place(begin) + " is no character"};
    position_ += digits;
    if (point < 0x80) {
      made += static_cast<char>(point);
    } else if (point < 0x800) {
      made += static_cast<char>(0xc0 | (point >> 6U));
      made += static_cast<char>(0x80 | (point & 0x3fU));
    } else {
      made += static_cast<char>(0xe0 | (point >> 12U));
      made += static_cast<char>(0x80 | ((point >> 6U) & 0x3fU));
      made += static_cast<char>(0x80 | (point & 0x3fU));
    }
  }

  std::string_view text_;
  size_t position_ = 0;
};

class CelParser {
 public:
  explicit CelParser(std::string_view text) : lexer_(text) { take(); }

  CelProgram parse() {
    CelProgram program;
    program.root = disjunction();
    if (token_.kind != CelToken::Kind::End) unexpected();
    if (program.root.type != CelType::Bool) throw CelProblem{"must evaluate to bool"};
    program.usesRequest = usesRequest_;
    return program;
  }

 private:
  // Counts how deep it is while it is alive.
  class Level {
   public:
    explicit Level(int& depth) : depth_(depth) {
      if (++depth_ > kDeepestCel) tooDeep();
    }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    int& depth_;
  };

  CelToken take() { return std::exchange(token_, lexer_.next()); }
  bool isAt(std::string_view symbol) const {
    return (token_.kind == CelToken::Kind::Symbol || token_.kind == CelToken::Kind::Word) &&
           token_.text == symbol;
  }
  bool takeIf(std::string_view symbol) {
    if (!isAt(symbol)) return false;
    take();
    return true;
  }
  void expect(std::string_view symbol) {
    if (!takeIf(symbol)) unexpected();
  }
  [[noreturn]] void unexpected() const {
    const std::string what = token_.kind == CelToken::Kind::End ? "the end" : kube::inQuotes(token_.text);
    throw CelProblem{"Syntax error: " + what + lexer_.place(token_.at) + " is not expected"};
  }
  [[noreturn]] void noOverload(const char* function, std::initializer_list<CelType> types, size_t at) const {
    std::string list;
    for (const CelType type : types) list += (list.empty() ? "" : ", ") + nameOf(type);
    throw CelProblem{"found no matching overload for '" + std::string(function) + "' applied to '(" + list +
                     ")'" + lexer_.place(at)};
  }
  void wantBool(const CelNode& node, const char* function, size_t at) const {
    if (node.type != CelType::Bool && node.type != CelType::Dynamic) noOverload(function, {node.type}, at);
  }

  // A chain of one operator: one node with as many operands, so that long ones are not deep.
  CelNode chain(const char* symbol, const char* function, CelNode::Kind kind,
                CelNode (CelParser::*operand)()) {
    const size_t at = token_.at;
    CelNode first = (this->*operand)();
    if (!isAt(symbol)) return first;
    CelNode made{kind, CelType::Bool, "", {}, {}, {}, false};
    made.operands.push_back(std::move(first));
    while (takeIf(symbol)) made.operands.push_back((this->*operand)());
    for (const CelNode& each : made.operands) wantBool(each, function, at);
    return made;
  }
  CelNode disjunction() {
    const Level level(depth_);
    return chain("||", "_||_", CelNode::Kind::Or, &CelParser::conjunction);
  }
  CelNode conjunction() { return chain("&&", "_&&_", CelNode::Kind::And, &CelParser::relation); }

  CelNode relation() {
    CelNode left = sum();
    for (int relations = 1; isAt("==") || isAt("!=") || isAt("in"); ++relations) {
      if (relations > kDeepestCel) tooDeep();
      const CelToken sign = take();
      CelNode right = sum();
      left = sign.text == "in" ? membership(std::move(left), std::move(right), sign.at)
                               : equality(sign, std::move(left), std::move(right));
    }
    return left;
  }

  CelNode equality(const CelToken& sign, CelNode left, CelNode right) const {
    const bool isEqual = sign.text == "==";
    const bool areKnown = left.type != CelType::Dynamic && right.type != CelType::Dynamic;
    if (areKnown && left.type != right.type)
      noOverload(isEqual ? "_==_" : "_!=_", {left.type, right.type}, sign.at);
    CelNode made{
        isEqual ? CelNode::Kind::Equal : CelNode::Kind::Unequal, CelType::Bool, "", {}, {}, {}, false};
    made.operands.push_back(std::move(left));
    made.operands.push_back(std::move(right));
    return made;
  }

  CelNode membership(CelNode left, CelNode right, size_t at) const {
    if (right.type != CelType::Dynamic && right.type != CelType::List && right.type != CelType::Map)
      noOverload("@in", {left.type, right.type}, at);
    CelNode made{CelNode::Kind::In, CelType::Bool, "", {}, {}, {}, false};
    made.operands.push_back(std::move(left));
    made.isSet = right.kind == CelNode::Kind::List && right.value.is_array() &&
                 std::ranges::all_of(right.value, [](const Json& item) { return item.is_string(); });
    if (made.isSet) {
      if (made.operands[0].type != CelType::Dynamic && made.operands[0].type != CelType::Text &&
          !right.value.empty())
        noOverload("@in", {made.operands[0].type, right.type}, at);
      for (const Json& item : right.value) made.texts.insert(item.get_ref<const std::string&>());
    } else {
      made.operands.push_back(std::move(right));
    }
    return made;
  }

  CelNode sum() {
    const size_t at = token_.at;
    CelNode first = unary();
    if (!isAt("+")) return first;
    CelNode made{CelNode::Kind::Plus, CelType::Dynamic, "", {}, {}, {}, false};
    made.operands.push_back(std::move(first));
    while (takeIf("+")) made.operands.push_back(unary());
    for (const CelNode& each : made.operands) {
      if (each.type == CelType::List)
        throw CelProblem{"a sum of lists" + lexer_.place(at) + " is not supported: " + kSupported};
      if (each.type != CelType::Text && each.type != CelType::Dynamic)
        noOverload("_+_", {CelType::Text, each.type}, at);
      if (each.type == CelType::Text) made.type = CelType::Text;
    }
    return made;
  }

  CelNode unary() {
    if (!isAt("!")) return fields();
    const Level level(depth_);
    const size_t at = take().at;
    CelNode made{CelNode::Kind::Not, CelType::Bool, "", {}, {}, {}, false};
    made.operands.push_back(unary());
    wantBool(made.operands[0], "!_", at);
    return made;
  }

  CelNode fields() {
    CelNode node = primary();
    std::vector<std::string> path;
    const bool isOfRequest = node.kind == CelNode::Kind::Variable && node.name == "request";
    while (isAt(".")) {
      const size_t at = take().at;
      if (token_.kind != CelToken::Kind::Word) unexpected();
      path.push_back(take().text);
      if (isAt("("))
        throw CelProblem{"the function " + kube::inQuotes(path.back()) + lexer_.place(at) +
                         " is not supported: " + kSupported};
      if (path.size() > static_cast<size_t>(kDeepestCel)) tooDeep();
      if (node.type != CelType::Dynamic && node.type != CelType::Map)
        throw CelProblem{"type '" + nameOf(node.type) + "'" + lexer_.place(at) +
                         " does not support field selection"};
      if (isOfRequest && !isFieldOfRequest(path))
        throw CelProblem{"undefined field '" + path.back() + "'" + lexer_.place(at)};
      CelNode made{CelNode::Kind::Field, CelType::Dynamic, path.back(), {}, {}, {}, false};
      if (isOfRequest && path.size() == 1) made.type = typeOfRequestField(path.back());
      made.operands.push_back(std::move(node));
      node = std::move(made);
    }
    return node;
  }

  CelNode primary() {
    const Level level(depth_);
    if (token_.kind == CelToken::Kind::Text)
      return {CelNode::Kind::Constant, CelType::Text, "", take().text, {}, {}, false};
    if (token_.kind == CelToken::Kind::Word) return word(take());
    if (takeIf("[")) return list();
    expect("(");
    CelNode inner = disjunction();
    expect(")");
    return inner;
  }

  CelNode list() {
    CelNode made{CelNode::Kind::List, CelType::List, "", Json::array(), {}, {}, false};
    std::vector<CelNode> items;
    while (!isAt("]")) {
      items.push_back(disjunction());
      if (!takeIf(",")) break;
    }
    expect("]");
    if (std::ranges::all_of(items,
                            [](const CelNode& item) { return item.kind == CelNode::Kind::Constant; })) {
      for (CelNode& item : items) made.value.push_back(std::move(item.value));
    } else {
      made.value = nullptr;
      made.operands = std::move(items);
    }
    return made;
  }

  CelNode word(const CelToken& name) {
    if (name.text == "true" || name.text == "false")
      return {CelNode::Kind::Constant, CelType::Bool, "", name.text == "true", {}, {}, false};
    if (name.text == "null") return {CelNode::Kind::Constant, CelType::Null, "", nullptr, {}, {}, false};
    if (isAt("(")) return has(name);
    static constexpr std::array<std::string_view, 3> kVariables = {"object", "oldObject", "request"};
    if (std::ranges::find(kVariables, name.text) == kVariables.end())
      throw CelProblem{"undeclared reference to '" + kube::printable(name.text) + "'" +
                       lexer_.place(name.at) + "; " + kSupported};
    usesRequest_ = usesRequest_ || name.text == "request";
    return {CelNode::Kind::Variable, CelType::Dynamic, name.text, {}, {}, {}, false};
  }

  CelNode has(const CelToken& name) {
    if (name.text != "has")
      throw CelProblem{"the function " + kube::inQuotes(name.text) + lexer_.place(name.at) +
                       " is not supported: " + kSupported};
    expect("(");
    CelNode made = disjunction();
    expect(")");
    if (made.kind != CelNode::Kind::Field)
      throw CelProblem{"invalid argument to has() macro" + lexer_.place(name.at)};
    made.kind = CelNode::Kind::Has;
    made.type = CelType::Bool;
    return made;
  }

  CelLexer lexer_;
  CelToken token_;
  int depth_ = 0;
  bool usesRequest_ = false;
};

}  // namespace

tl::expected<CelProgram, std::string> parseCel(std::string_view text) {
  if (const size_t length = charactersIn(text); length > kLongestCel)
    return tl::unexpected("expression code point size exceeds limit: size: " + std::to_string(length) +
                          ", limit " + std::to_string(kLongestCel));
  try {
    return CelParser(text).parse();
  } catch (CelProblem& problem) {
    return tl::unexpected(std::move(problem.words));
  }
}

}  // namespace lastout::apiserver
