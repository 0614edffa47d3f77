#include "tls/error.h"

#include <openssl/err.h>

#include <array>

namespace lastout::tls {

std::string takeError() {
  const unsigned long code = ERR_get_error();
  ERR_clear_error();
  if (code == 0) return "";
  if (const char* reason = ERR_reason_error_string(code); reason != nullptr) return reason;
  // One that has no text, of the system or of a library that is not OpenSSL's: its numbers.
  std::array<char, 256> words{};
  ERR_error_string_n(code, words.data(), words.size());
  return words.data();
}

}  // namespace lastout::tls
