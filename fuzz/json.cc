// Any text as JSON, beside nlohmann's own reading of it: the same content, and every value where its place
// says.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "fuzz/check.h"
#include "kube/parse.h"

using lastout::fuzz::check;
namespace kube = lastout::kube;

namespace {

std::string dump(const kube::Value& value) { return kube::toJson(value).dump(-1, ' ', true); }

// The text from a place on; places count lines and characters.
std::string_view textAt(std::string_view text, kube::Position position) {
  const auto isBreak = [text](size_t i) {
    return text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'));
  };
  size_t i = 0;
  for (uint32_t line = 1; line < position.line && i < text.size(); ++i) line += isBreak(i) ? 1 : 0;
  for (uint32_t column = 1; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
    if (begins && column++ == position.column) break;
  }
  return text.substr(i);
}

void checkPlaces(std::string_view text, const kube::Value& value) {
  static constexpr std::string_view kBeginnings[] = {"n", "tf", "-0123456789", "-0123456789", "\"", "[", "{"};
  const std::string_view found = textAt(text, value.position);
  check(!found.empty() && kBeginnings[value.data.index()].find(found[0]) != std::string_view::npos,
        "a value stands at its place", std::string(found.substr(0, 20)));
  if (const auto* list = value.asList()) {
    for (const kube::Value& item : *list) checkPlaces(text, item);
  }
  if (const auto* map = value.asMap()) {
    for (const kube::Member& member : *map) {
      check(textAt(text, member.keyPosition).starts_with('"'), "a key stands at its place");
      checkPlaces(text, member.value);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto value = kube::parseJson(text, "json");
  if (!value) {
    check(value.error().position.line > 0, "an error has a place", toString(value.error()));
    return 0;
  }
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  checkPlaces(text, *value);
  const std::string json = dump(*value);
  check(json == dump(kube::fromJson(nlohmann::ordered_json::parse(text))), "nlohmann reads the same", json);
  const auto again = kube::parseJson(json, "json");
  check(again && dump(*again) == json, "what is written is read as the same", json);
  return 0;
}
