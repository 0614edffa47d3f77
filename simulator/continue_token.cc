#include "simulator/continue_token.h"

#include <algorithm>
#include <utility>

#include "kube/encoding.h"
#include "kube/well_known.h"
#include "simulator/decode.h"
#include "simulator/json.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kTokenVersion = kube::kMetaApiVersion;
constexpr size_t kLongestToken = 4096;  // names are at most 253 bytes
// Tokens are written with the alphabet for URLs and without padding.
std::string toBase64Url(std::string_view bytes) {
  std::string text = kube::toBase64(bytes);
  text.resize(text.find_last_not_of('=') + 1);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

// Fails with the offset of what is no Base64.
tl::expected<std::string, size_t> fromBase64Url(std::string_view text) {
  const size_t odd = text.find_first_of("+/=\r\n");
  if (odd != std::string_view::npos) return tl::unexpected(odd);
  std::string padded(text);
  padded.append((4 - text.size() % 4) % 4, '=');
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  auto bytes = kube::fromBase64(padded);
  if (!bytes) return tl::unexpected(text.size());
  return std::move(*bytes);
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

}  // namespace lastout::simulator
