#include "admission/json_text.h"

#include <algorithm>

#include "kube/source_text.h"

namespace lastout::admission {

void JsonWriter::text(std::string_view words) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  json_ += '"';
  while (true) {
    const size_t plain = plainLength(words);
    json_.append(words.substr(0, plain));
    words.remove_prefix(plain);
    if (words.empty()) break;
    const auto byte = static_cast<unsigned char>(words.front());
    const size_t length = kube::utf8Length(words);
    if (byte == '"' || byte == '\\') {
      json_ += {'\\', words.front()};
    } else if (byte < ' ') {
      json_.append("\\u00").append({kDigits[byte >> 4], kDigits[byte & 0xF]});
    } else {
      json_ += length == 0 ? "\xEF\xBF\xBD" : words.substr(0, length);
    }
    words.remove_prefix(std::max<size_t>(length, 1));
  }
  json_ += '"';
}

void JsonWriter::key(std::string_view key) {
  if (!json_.ends_with('{')) json_ += ',';
  json_.append("\"").append(key).append("\":");
}

void JsonWriter::member(std::string_view key, std::string_view words) {
  if (words.empty()) return;
  this->key(key);
  text(words);
}

}  // namespace lastout::admission
