#include "apiserver/continue_token.h"

#include <array>
#include <utility>

#include "apiserver/decode.h"
#include "apiserver/json.h"

namespace lastout::apiserver {
namespace {

constexpr std::string_view kTokenVersion = "meta.k8s.io/v1";
constexpr size_t kLongestToken = 4096;  // names are at most 253 bytes
constexpr std::string_view kBase64Url = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::string toBase64Url(std::string_view bytes) {
  std::string text;
  uint32_t bits = 0;
  int count = 0;
  for (const char byte : bytes) {
    bits = bits << 8 | static_cast<unsigned char>(byte);
    for (count += 8; count >= 6; count -= 6) text += kBase64Url[bits >> (count - 6) & 63];
  }
  if (count > 0) text += kBase64Url[bits << (6 - count) & 63];
  return text;
}

// Without padding, as it is written; fails with the offset of what is no base64.
tl::expected<std::string, size_t> fromBase64Url(std::string_view text) {
  std::string bytes;
  uint32_t bits = 0;
  int count = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const size_t digit = kBase64Url.find(text[i]);
    if (digit == std::string_view::npos) return tl::unexpected(i);
    bits = bits << 6 | static_cast<uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> count & 255);
  }
  if (count == 6) return tl::unexpected(text.size());
  return bytes;
}

ApiError badToken(const std::string& why) {
  return badRequest("invalid continue token: continue key is not valid: " + why);
}

}  // namespace

std::string toString(const ContinueToken& token) {
  // The key order and the NUL, written as an escape, are the recorded ones. Json's keys are sorted.
  const std::string start = Json(token.lastName).dump(-1, ' ', false, Json::error_handler_t::replace);
  return toBase64Url("{\"v\":\"" + std::string(kTokenVersion) +
                     "\",\"rv\":" + std::to_string(token.resourceVersion) +
                     ",\"start\":" + start.substr(0, start.size() - 1) + "\\u0000\"}");
}

ApiResult<ContinueToken> parseContinueToken(std::string_view text) {
  if (text.size() > kLongestToken) return tl::unexpected(badToken("it is too long"));
  const auto bytes = fromBase64Url(text);
  if (!bytes)
    return tl::unexpected(badToken("illegal base64 data at input byte " + std::to_string(bytes.error())));
  const auto json = parseJsonText(*bytes);
  if (!json) return tl::unexpected(badToken(json.error()));
  if (stringAt(*json, {"v"}) != kTokenVersion)
    return tl::unexpected(badToken("server does not recognize this encoded version"));
  const Json* version = at(*json, {"rv"});
  ContinueToken token;
  if (version != nullptr && version->is_number_unsigned()) token.resourceVersion = version->get<uint64_t>();
  if (token.resourceVersion == 0)
    return tl::unexpected(badToken("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
  std::string_view start = stringAt(*json, {"start"});
  if (start.ends_with('\0')) start.remove_suffix(1);
  if (start.empty()) return tl::unexpected(badToken("encoded start key empty (version meta.k8s.io/v1)"));
  token.lastName = start;
  return token;
}

}  // namespace lastout::apiserver
