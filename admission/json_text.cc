#include "admission/json_text.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "kube/encoding.h"
#include "kube/source_text.h"

namespace lastout::admission {

void JsonWriter::number(int64_t value) {
  char digits[20];
  const char* const end = std::to_chars(std::begin(digits), std::end(digits), value).ptr;
  raw(std::string_view(std::begin(digits), static_cast<size_t>(end - std::begin(digits))));
}

void JsonWriter::text(std::string_view words) {
  raw("\"");
  while (true) {
    const size_t plain = plainLength(words);
    raw(words.substr(0, plain));
    words.remove_prefix(plain);
    if (words.empty()) break;
    const size_t length = kube::utf8Length(words);
    special(words.substr(0, std::max<size_t>(length, 1)), length > 0);
    words.remove_prefix(std::max<size_t>(length, 1));
  }
  raw("\"");
}

// A character that does not stand for itself, or is no ASCII.
void JsonWriter::special(std::string_view character, bool isUtf8) {
  const auto byte = static_cast<unsigned char>(character.front());
  if (byte == '"' || byte == '\\') {
    raw("\\");
    raw(character);
  } else if (byte < ' ') {
    raw("\\u00");
    raw(kube::kHexDigits.substr(byte >> 4, 1));
    raw(kube::kHexDigits.substr(byte & 0xF, 1));
  } else {
    raw(isUtf8 ? character : "\xEF\xBF\xBD");
  }
}

}  // namespace lastout::admission
