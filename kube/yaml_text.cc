#include "kube/yaml_text.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "kube/ascii.h"
#include "kube/names.h"
#include "kube/value.h"

namespace lastout::kube {
namespace {

bool isLetter(char character) {
  return (character >= 'a' && character <= 'z') || (character >= 'A' && character <= 'Z');
}

bool isWordCharacter(char character) {
  return isLetter(character) || isDigit(character) || character == '.' || character == '_' ||
         character == '/' || character == '-';
}

// Words that YAML 1.1 or 1.2 reads as something other than a string.
bool isReserved(const std::string& text) {
  static constexpr std::array<std::string_view, 8> kReserved{"true", "false", "null", "yes",
                                                             "no",   "on",    "off",  "nan"};
  const std::string lower = lowerCase(text);
  return lower == "y" || lower == "n" || lower == "inf" ||
         std::find(kReserved.begin(), kReserved.end(), lower) != kReserved.end();
}

// It begins with a letter, so it is no number.
bool isPlain(const std::string& text) {
  return !text.empty() && isLetter(text.front()) && std::all_of(text.begin(), text.end(), isWordCharacter) &&
         !isReserved(text);
}

// Lines of printable ASCII, the first of which is not indented, and the last of which is not empty.
bool isBlock(const std::string& text) {
  return text.find('\n') != std::string::npos && text.front() != ' ' && text.front() != '\n' &&
         text.back() != '\n' && std::all_of(text.begin(), text.end(), [](char character) {
           return character == '\n' || (character >= ' ' && character <= '~');
         });
}

std::string jsonText(const OrderedJson& value) {
  return value.dump(-1, ' ', true, OrderedJson::error_handler_t::replace);
}

std::string keyText(const std::string& key) { return isPlain(key) ? key : jsonText(key); }

class YamlText {
 public:
  // What follows a key or a dash, line break included; `indent`: of the lines that come after it.
  void value(const OrderedJson& one, size_t indent, bool afterKey);
  std::string take() { return std::move(text_); }

 private:
  void block(const std::string& lines, size_t indent);
  void members(const OrderedJson& map, size_t indent, bool startsHere);

  std::string text_;
};

void YamlText::block(const std::string& lines, size_t indent) {
  text_ += " |-\n";
  std::string_view rest = lines;
  while (true) {
    const size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    if (!line.empty()) text_.append(indent, ' ').append(line);
    text_ += '\n';
    if (end == std::string_view::npos) return;
    rest.remove_prefix(end + 1);
  }
}

void YamlText::members(const OrderedJson& map, size_t indent, bool startsHere) {
  for (const auto& [key, member] : map.items()) {
    if (!startsHere) text_.append(indent, ' ');
    startsHere = false;
    text_ += keyText(key) + ":";
    value(member, indent + 2, true);
  }
}

void YamlText::value(const OrderedJson& one, size_t indent, bool afterKey) {
  if (one.is_object() && !one.empty()) {
    text_ += afterKey ? "\n" : " ";
    members(one, indent, !afterKey);
  } else if (one.is_array() && !one.empty()) {
    text_ += afterKey ? "\n" : " ";
    bool startsHere = !afterKey;
    for (const OrderedJson& item : one) {
      // A list stands as far left as its key; one in a list, behind the dash.
      if (!startsHere) text_.append(afterKey && indent > 0 ? indent - 2 : indent, ' ');
      startsHere = false;
      text_ += "-";
      value(item, afterKey ? indent : indent + 2, false);
    }
  } else if (const auto* text = one.get_ptr<const std::string*>();
             text != nullptr && indent > 0 && isBlock(*text)) {
    block(*text, indent);
  } else if (text != nullptr && isPlain(*text)) {
    text_ += " " + *text + "\n";
  } else {
    text_ += " " + jsonText(one) + "\n";
  }
}

}  // namespace

std::string toYaml(const nlohmann::ordered_json& document) {
  YamlText text;
  text.value(document, 0, true);
  std::string whole = text.take();
  whole.erase(0, 1);  // what would stand between a key and the value
  return whole;
}

}  // namespace lastout::kube
