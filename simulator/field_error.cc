#include "simulator/field_error.h"

#include <algorithm>
#include <cstdint>

namespace lastout::simulator {
namespace {

constexpr size_t kLongestQuote = 1000;  // bytes

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string shortened(std::string text) {
  if (text.size() <= kLongestQuote) return text;
  size_t end = kLongestQuote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // whole characters
  return text.substr(0, end) + "...";
}

// How the API server, a Go program, prints a value that is no string and no number.
std::string inGo(const Json& value) {
  if (value.is_null()) return "interface {}(nil)";
  if (!value.is_structured()) return dumped(value);
  std::string text = value.is_object() ? "map[string]interface {}{" : "[]interface {}{";
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (text.size() > kLongestQuote) break;
    text += first ? "" : ", ";
    if (value.is_object()) text += goQuoted(key) + ":";
    text += inGo(item);
    first = false;
  }
  return text + "}";
}

std::string withValue(std::string_view what, const Json& value) {
  return std::string(what) + ": " + (value.is_null() ? "\"null\"" : shortened(inGo(value)));
}

}  // namespace

std::string_view goKind(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_array()) return "array";
  return value.is_object() ? "object" : "number";
}

ApiError undecodable(std::string_view kind, std::string_view version, std::string_view found,
                     std::string_view field, std::string_view wanted) {
  const std::string what(kind);
  return badRequest(what + " in version \"" + std::string(version) + "\" cannot be handled as a " + what +
                    ": json: cannot unmarshal " + std::string(found) + " into Go struct field " +
                    std::string(field) + " of type " + std::string(wanted));
}

std::string goQuoted(std::string_view text) { return dumped(Json(std::string(text))); }

Cause requiredField(std::string field, std::string_view why) {
  return {"FieldValueRequired", "Required value" + (why.empty() ? "" : ": " + std::string(why)),
          std::move(field)};
}

Cause invalidField(std::string field, const Json& value, std::string_view why) {
  return {"FieldValueInvalid", withValue("Invalid value", value) + ": " + std::string(why), std::move(field)};
}

Cause wrongType(std::string field, const Json& value, std::string_view why) {
  return {"FieldValueTypeInvalid", withValue("Invalid value", value) + ": " + std::string(why),
          std::move(field)};
}

Cause notSupported(std::string field, const Json& value, const std::vector<std::string>& supported) {
  std::string list;
  for (const std::string& one : supported) list += (list.empty() ? "" : ", ") + goQuoted(one);
  return {"FieldValueNotSupported", withValue("Unsupported value", value) + ": supported values: " + list,
          std::move(field)};
}

Cause duplicateField(std::string field, const Json& value) {
  return {"FieldValueDuplicate", withValue("Duplicate value", value), std::move(field)};
}

Cause tooLong(std::string field, std::string_view why) {
  return {"FieldValueTooLong", "Too long: " + std::string(why), std::move(field)};
}

Cause tooMany(std::string field, size_t count, int64_t most) {
  return {"FieldValueTooMany",
          "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(most) + " items",
          std::move(field)};
}

}  // namespace lastout::simulator
