#include "tls/digest.h"

#include <openssl/evp.h>

#include <array>

#include "kube/encoding.h"

namespace lastout::tls {

std::string digestOf(std::string_view text, size_t bytes) {
  std::array<unsigned char, 32> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha256(), nullptr);
  std::string digits;
  for (size_t i = 0; i < bytes; ++i) digits += kube::hexOf(digest[i]);
  return digits;
}

}  // namespace lastout::tls
