#include "kube/quoting.h"

#include <algorithm>

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

std::string listed(const std::vector<std::string>& names, size_t most) {
  if (names.size() <= most || names.size() - most == 1) return listedOf(names, names.size());
  return listedOf({names.begin(), names.begin() + static_cast<std::ptrdiff_t>(most)}, names.size());
}

std::string listedOf(const std::vector<std::string>& names, size_t total) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == total ? " and " : ", ";
    text += names[i];
  }
  if (names.size() < total) text += " and " + std::to_string(total - names.size()) + " more";
  return text;
}

std::string joinedClauses(const std::vector<std::string>& clauses, size_t most) {
  std::string text;
  for (size_t i = 0; i < std::min(clauses.size(), most); ++i) text += (i == 0 ? "" : "; ") + clauses[i];
  if (clauses.size() > most) text += "; and " + std::to_string(clauses.size() - most) + " more";
  return text;
}

}  // namespace lastout::kube
