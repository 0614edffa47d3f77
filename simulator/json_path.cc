#include "simulator/json_path.h"

#include <charconv>
#include <optional>
#include <string>

namespace lastout::simulator {
namespace {

constexpr size_t kLongestJsonPath = 1024;

using Found = std::vector<const Json*>;

// A path, read from the left, and what it has led to so far.
class PathWalk {
 public:
  PathWalk(const Json& json, std::string_view path) : rest_(path), found_{&json} {}

  Found walk() {
    if (rest_.starts_with("$")) rest_.remove_prefix(1);
    while (!rest_.empty()) {
      if (!step()) return {};
    }
    return std::move(found_);
  }

 private:
  // One step further; false when it is written in a way that is not known here.
  bool step() {
    if (take("[?(")) return filter();
    if (take("[*]") || take(".*")) return all();
    if (take("['")) return quotedKey('\'');
    if (take("[\"")) return quotedKey('"');
    if (take("[")) return index();
    return take(".") && plainKey();
  }

  bool take(std::string_view symbol) {
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }

  bool plainKey() {
    if (rest_.empty()) return true;  // "." alone is the whole object
    std::string key;
    while (!rest_.empty() && rest_.front() != '.' && rest_.front() != '[') {
      if (rest_.front() == '\\' && rest_.size() > 1) rest_.remove_prefix(1);
      key += rest_.front();
      rest_.remove_prefix(1);
    }
    if (key.empty()) return false;
    toMember(key);
    return true;
  }

  bool quotedKey(char quote) {
    const size_t end = rest_.find(quote);
    if (end == std::string_view::npos || end + 1 >= rest_.size() || rest_[end + 1] != ']') return false;
    toMember(std::string(rest_.substr(0, end)));
    rest_.remove_prefix(end + 2);
    return true;
  }

  bool index() {
    int64_t number = 0;
    const auto parsed = std::from_chars(rest_.data(), rest_.data() + rest_.size(), number);
    if (parsed.ec != std::errc()) return false;
    rest_.remove_prefix(static_cast<size_t>(parsed.ptr - rest_.data()));
    if (!take("]")) return false;
    Found next;
    for (const Json* value : found_) {
      if (!value->is_array()) continue;
      const auto size = static_cast<int64_t>(value->size());
      const int64_t place = number < 0 ? number + size : number;
      if (place >= 0 && place < size) next.push_back(&(*value)[static_cast<size_t>(place)]);
    }
    found_ = std::move(next);
    return true;
  }

  bool all() {
    Found next;
    for (const Json* value : found_) {
      if (!value->is_structured()) continue;
      for (const Json& item : *value) next.push_back(&item);
    }
    found_ = std::move(next);
    return true;
  }

  bool filter() {
    const size_t end = rest_.find(")]");
    if (end == std::string_view::npos) return false;
    std::string_view condition = rest_.substr(0, end);
    rest_.remove_prefix(end + 2);
    const size_t sign = condition.find_first_of("=!");
    std::optional<Json> wanted;
    const bool negated = sign != std::string_view::npos && condition[sign] == '!';
    if (sign != std::string_view::npos) {
      wanted = literal(condition.substr(sign));
      if (!wanted) return false;
      condition = condition.substr(0, sign);
    }
    condition = trimmed(condition);
    if (!condition.starts_with("@") || condition.find("[?") != std::string_view::npos) return false;
    keepWhere(condition.substr(1), wanted, negated);
    return true;
  }

  // The value after "==" or "!=".
  static std::optional<Json> literal(std::string_view text) {
    if (!text.starts_with("==") && !text.starts_with("!=")) return std::nullopt;
    text = trimmed(text.substr(2));
    const bool isQuoted =
        text.size() >= 2 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
    if (isQuoted) return Json(std::string(text.substr(1, text.size() - 2)));
    Json number = Json::parse(text, nullptr, false);
    if (number.is_discarded() || number.is_structured()) return std::nullopt;
    return number;
  }

  static std::string_view trimmed(std::string_view text) {
    while (text.starts_with(" ")) text.remove_prefix(1);
    while (text.ends_with(" ")) text.remove_suffix(1);
    return text;
  }

  void keepWhere(std::string_view path, const std::optional<Json>& wanted, bool negated) {
    Found next;
    for (const Json* list : found_) {
      if (!list->is_array()) continue;
      for (const Json& item : *list) {
        const Found values = PathWalk(item, path).walk();
        if (values.empty()) continue;
        if (!wanted || (*values.front() == *wanted) != negated) next.push_back(&item);
      }
    }
    found_ = std::move(next);
  }

  void toMember(const std::string& key) {
    Found next;
    for (const Json* value : found_) {
      if (const Json* member = at(*value, {key})) next.push_back(member);
    }
    found_ = std::move(next);
  }

  std::string_view rest_;
  Found found_;
};

}  // namespace

std::vector<const Json*> valuesAt(const Json& json, std::string_view path) {
  if (path.size() > kLongestJsonPath) return {};
  return PathWalk(json, path).walk();
}

}  // namespace lastout::simulator
