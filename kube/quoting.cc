#include "kube/quoting.h"

#include "kube/encoding.h"
#include "kube/source_text.h"

namespace lastout::kube {
namespace {

constexpr size_t kLongestQuote = 300;

std::string printableUpTo(std::string_view text, size_t longest) {
  std::string result;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8Length(text.substr(i));
    if (i + length > longest) {
      result += "...";
      break;
    }
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool latinControl = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if (length == 0 || byte < ' ' || byte == 0x7F || latinControl) {
      const auto last = static_cast<unsigned char>(text[i + (latinControl ? 1 : 0)]);
      (result += "\\x") += hexOf(last);
    } else {
      result += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) { return printableUpTo(text, kLongestQuote); }

std::string printableWhole(std::string_view text) { return printableUpTo(text, text.size()); }

std::string atMost(std::string text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0U) == 0x80U) --bytes;
  text.resize(bytes);
  return text;
}

std::string inQuotes(std::string_view text) { return "\"" + printable(text) + "\""; }

}  // namespace lastout::kube
