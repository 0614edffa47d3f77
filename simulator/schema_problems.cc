// The checks of a structural schema: schemaProblems.
#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "simulator/cel_lexer.h"
#include "simulator/field_error.h"
#include "simulator/schema.h"

namespace lastout::simulator {
namespace {

// Of one object: more than it can have values, each checked once; alternatives multiply them.
constexpr size_t kMostSteps = 2'000'000;
constexpr size_t kTextOfOneStep = 64;  // bytes held against a pattern
// RE2's time is at most text times compiled pattern.
constexpr size_t kLongestPattern = 4096;         // bytes
constexpr size_t kLongestMatchedText = 4096;     // bytes
constexpr int64_t kMostPatternMemory = 1 << 20;  // bytes, for each compiled pattern

const Json* listOf(const Json& schema, const char* key) {
  const Json* list = at(schema, {key});
  return list != nullptr && list->is_array() ? list : nullptr;
}

// Returns a limit such as maxLength; nullopt: the schema has none.
std::optional<int64_t> limitOf(const Json& schema, const char* key) {
  const Json* limit = at(schema, {key});
  if (limit == nullptr || !limit->is_number_integer()) return std::nullopt;
  return limit->get<int64_t>();
}

std::string_view typeNameOf(const Json& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "boolean";
  if (value.is_number_integer()) return "integer";
  if (value.is_number()) return "number";
  if (value.is_string()) return "string";
  return value.is_array() ? "array" : "object";
}

// 3.0 is an integer too; within 2^53 nothing is lost.
bool isWhole(const Json& value) {
  if (!value.is_number_float()) return value.is_number_integer();
  const auto number = value.get<double>();
  constexpr double kExact = 9007199254740992.0;
  return number >= -kExact && number <= kExact && number == static_cast<double>(static_cast<int64_t>(number));
}

bool hasType(const Json& value, std::string_view type) {
  if (type == "integer") return isWhole(value);
  if (type == "number") return value.is_number();
  return typeNameOf(value) == type;
}

// What the check of one object may cost, alternatives and all.
class Budget {
 public:
  // False from then on when there is not so much left.
  bool spend(size_t steps) {
    left_ = steps < left_ ? left_ - steps : 0;
    return left_ > 0;
  }
  bool isSpent() const { return left_ == 0; }

 private:
  size_t left_ = kMostSteps;
};

// Compiled once for a whole object; patterns are known by where they stand in the schema.
class Patterns {
 public:
  Budget budget;

  // True, too, once the budget is spent.
  bool matches(const Json& pattern, const std::string& text) {
    auto& compiled = compiled_[&pattern];
    const auto& source = pattern.get_ref<const std::string&>();
    if (!budget.spend((compiled == nullptr ? source.size() : 0) + text.size() / kTextOfOneStep)) return true;
    if (compiled == nullptr) compiled = compile(source);
    if (!compiled->ok() || text.size() > kLongestMatchedText) return true;
    return re2::RE2::PartialMatch(text, *compiled);
  }

 private:
  static std::unique_ptr<re2::RE2> compile(const std::string& pattern) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMostPatternMemory);
    return std::make_unique<re2::RE2>(pattern.size() > kLongestPattern ? "" : pattern, options);
  }
  std::map<const Json*, std::unique_ptr<re2::RE2>> compiled_;
};

class SchemaCheck {
 public:
  explicit SchemaCheck(Patterns& patterns) : patterns_(&patterns) {}

  std::vector<StatusCause> causes;

  void check(const Json& schema, const Json& value, const std::string& path, bool isRoot = false) {
    if (!schema.is_object() || causes.size() >= kMostCauses || !patterns_->budget.spend(1)) return;
    if (value.is_null() && trueAt(schema, {"nullable"})) return;
    checkType(schema, value, path);
    checkAlternatives(schema, value, path);
    checkEnum(schema, value, path);
    if (value.is_string()) checkText(schema, value, path);
    if (value.is_number()) checkNumber(schema, value, path);
    if (value.is_array()) checkList(schema, value, path);
    if (value.is_object()) checkMap(schema, value, path, isRoot);
  }

 private:
  static std::string nameOf(const std::string& path) { return path.empty() ? "" : path + " "; }
  void invalidValue(const std::string& path, const Json& value, const std::string& why) {
    causes.push_back(invalidField(path, value, nameOf(path) + "in body " + why));
  }

  void checkType(const Json& schema, const Json& value, const std::string& path) {
    std::string wanted(stringAt(schema, {"type"}));
    bool good = wanted.empty() || hasType(value, wanted);
    if (trueAt(schema, {"x-kubernetes-int-or-string"})) {
      wanted = "integer,string";
      good = isWhole(value) || value.is_string();
    }
    if (good) return;
    const std::string found(typeNameOf(value));
    causes.push_back(
        wrongType(path, found, nameOf(path) + "in body must be of type " + wanted + ": " + goQuoted(found)));
  }

  void checkEnum(const Json& schema, const Json& value, const std::string& path) {
    const Json* choices = listOf(schema, "enum");
    if (choices == nullptr || !patterns_->budget.spend(choices->size()) ||
        std::ranges::find(*choices, value) != choices->end())
      return;
    std::vector<std::string> words;
    for (const Json& choice : *choices)
      words.push_back(choice.is_string() ? choice.get<std::string>() : choice.dump());
    causes.push_back(notSupported(path, value, words));
  }

  void checkText(const Json& schema, const Json& value, const std::string& path) {
    const auto& text = value.get_ref<const std::string&>();
    const auto length = static_cast<int64_t>(celCharactersIn(text));
    if (const auto most = limitOf(schema, "maxLength"); most && length > *most)
      causes.push_back(tooLong(path, "may not be longer than " + std::to_string(*most)));
    if (const auto least = limitOf(schema, "minLength"); least && length < *least)
      invalidValue(path, value, "should be at least " + std::to_string(*least) + " chars long");
    const Json* pattern = at(schema, {"pattern"});
    if (pattern != nullptr && pattern->is_string() && !patterns_->matches(*pattern, text))
      invalidValue(path, value, "should match '" + pattern->get<std::string>() + "'");
  }

  void checkNumber(const Json& schema, const Json& value, const std::string& path) {
    const Json* least = at(schema, {"minimum"});
    const Json* most = at(schema, {"maximum"});
    const bool above = trueAt(schema, {"exclusiveMinimum"});
    const bool below = trueAt(schema, {"exclusiveMaximum"});
    if (least != nullptr && least->is_number() && (above ? value <= *least : value < *least)) {
      invalidValue(path, value,
                   std::string("should be greater than ") + (above ? "" : "or equal to ") + least->dump());
    }
    if (most != nullptr && most->is_number() && (below ? value >= *most : value > *most)) {
      invalidValue(path, value,
                   std::string("should be less than ") + (below ? "" : "or equal to ") + most->dump());
    }
  }

  void checkList(const Json& schema, const Json& list, const std::string& path) {
    const auto size = static_cast<int64_t>(list.size());
    if (const auto most = limitOf(schema, "maxItems"); most && size > *most)
      causes.push_back(tooMany(path, list.size(), *most));
    if (const auto least = limitOf(schema, "minItems"); least && size < *least)
      invalidValue(path, size, "should have at least " + std::to_string(*least) + " items");
    checkUnique(schema, list, path);
    const Json* items = at(schema, {"items"});
    if (items == nullptr) return;
    for (size_t i = 0; i < list.size() && causes.size() < kMostCauses; ++i) {
      check(*items, list[i], path + "[" + std::to_string(i) + "]");
    }
  }

  // Sets and maps written as lists (x-kubernetes-list-type).
  void checkUnique(const Json& schema, const Json& list, const std::string& path) {
    const std::string_view listType = stringAt(schema, {"x-kubernetes-list-type"});
    const Json* keys = listType == "map" ? listOf(schema, "x-kubernetes-list-map-keys") : nullptr;
    if (listType != "set" && keys == nullptr) return;
    std::set<Json> seen;
    for (size_t i = 0; i < list.size() && causes.size() < kMostCauses; ++i) {
      Json identity = keys == nullptr ? list[i] : keysOf(list[i], *keys);
      const auto [place, isNew] = seen.insert(std::move(identity));
      if (!isNew) causes.push_back(duplicateField(path + "[" + std::to_string(i) + "]", *place));
    }
  }

  static Json keysOf(const Json& item, const Json& keys) {
    Json identity = Json::object();
    for (const Json& key : keys) {
      if (!key.is_string()) continue;
      const auto& name = key.get_ref<const std::string&>();
      if (const Json* value = at(item, {name})) identity[name] = *value;
    }
    return identity;
  }

  void checkMap(const Json& schema, const Json& map, const std::string& path, bool isRoot) {
    const auto fieldOf = [&path](const std::string& key) { return path.empty() ? key : path + "." + key; };
    if (!isRoot && trueAt(schema, {"x-kubernetes-embedded-resource"})) {
      for (const char* key : {"apiVersion", "kind"}) {
        if (stringAt(map, {key}).empty()) causes.push_back(requiredField(fieldOf(key), "must not be empty"));
      }
    }
    const auto size = static_cast<int64_t>(map.size());
    if (const auto most = limitOf(schema, "maxProperties"); most && size > *most)
      causes.push_back(tooMany(path, map.size(), *most));
    if (const auto least = limitOf(schema, "minProperties"); least && size < *least)
      invalidValue(path, map, "should have at least " + std::to_string(*least) + " properties");
    if (const Json* required = listOf(schema, "required")) {
      for (const Json& key : *required) {
        if (key.is_string() && !map.contains(key.get_ref<const std::string&>()))
          causes.push_back(requiredField(fieldOf(key.get<std::string>())));
      }
    }
    for (const auto& [key, member] : map.items()) {
      if (const Json* known = memberSchema(schema, key)) check(*known, member, fieldOf(key));
    }
  }

  // What one member of anyOf, allOf, oneOf or not finds.
  std::vector<StatusCause> causesOf(const Json& schema, const Json& value, const std::string& path) {
    SchemaCheck other(*patterns_);
    other.check(schema, value, path, true);
    return std::move(other.causes);
  }

  // The API server knows no field for these: their causes stand at "<nil>".
  void noAlternative(const std::string& path, const std::string& why) {
    causes.push_back(invalidField("<nil>", "", goQuoted(path) + " must " + why));
  }

  struct Tried {
    size_t passed = 0;
    std::vector<StatusCause> nearest;  // of the member that found least
  };

  Tried tryAll(const Json& members, const Json& value, const std::string& path) {
    Tried tried;
    bool first = true;
    for (const Json& member : members) {
      std::vector<StatusCause> found = causesOf(member, value, path);
      if (found.empty()) ++tried.passed;
      if (found.empty() || (!first && found.size() >= tried.nearest.size())) continue;
      tried.nearest = std::move(found);
      first = false;
    }
    return tried;
  }

  void addCauses(std::vector<StatusCause> more) { std::ranges::move(more, std::back_inserter(causes)); }

  void checkAlternatives(const Json& schema, const Json& value, const std::string& path) {
    if (const Json* members = listOf(schema, "anyOf"); members && !members->empty())
      checkAnyOf(*members, value, path);
    if (const Json* members = listOf(schema, "oneOf"); members && !members->empty())
      checkOneOf(*members, value, path);
    if (const Json* members = listOf(schema, "allOf")) checkAllOf(*members, value, path);
    const Json* negated = at(schema, {"not"});
    if (negated != nullptr && causesOf(*negated, value, path).empty())
      noAlternative(path, "not validate the schema (not)");
  }

  void checkAnyOf(const Json& members, const Json& value, const std::string& path) {
    Tried tried = tryAll(members, value, path);
    if (tried.passed > 0) return;
    noAlternative(path, "validate at least one schema (anyOf)");
    addCauses(std::move(tried.nearest));
  }

  void checkOneOf(const Json& members, const Json& value, const std::string& path) {
    Tried tried = tryAll(members, value, path);
    if (tried.passed == 1) return;
    noAlternative(
        path, "validate one and only one schema (oneOf). Found " +
                  (tried.passed == 0 ? "none valid" : std::to_string(tried.passed) + " valid alternatives"));
    if (tried.passed == 0) addCauses(std::move(tried.nearest));
  }

  void checkAllOf(const Json& members, const Json& value, const std::string& path) {
    size_t passed = 0;
    for (const Json& member : members) {
      std::vector<StatusCause> found = causesOf(member, value, path);
      if (found.empty()) ++passed;
      addCauses(std::move(found));
    }
    if (passed < members.size())
      noAlternative(
          path, std::string("validate all the schemas (allOf)") + (passed == 0 ? ". None validated" : ""));
  }

  Patterns* patterns_;
};

}  // namespace

std::vector<StatusCause> schemaProblems(const Json& schema, const Json& object) {
  Patterns patterns;
  SchemaCheck all(patterns);
  all.check(schema, object, "", true);
  if (patterns.budget.isSpent())
    return {invalidField("<nil>", "", "it takes too long to hold the object against its schema")};
  return std::move(all.causes);
}

}  // namespace lastout::simulator
