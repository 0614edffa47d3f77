// The reasons that a Status gives, and the HTTP codes that they come with, as of Kubernetes'
// apimachinery/pkg/apis/meta/v1/types.go.
#pragma once

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

namespace lastout::kube {

// The code of a server that is busy, or that asks to be asked again later.
inline constexpr int kTooManyRequests = 429;

struct StatusReason {
  std::string_view reason;
  int code;
};

// Where a code has several reasons, the usual one is the first.
inline constexpr StatusReason kStatusReasons[] = {
    {"BadRequest", 400},
    {"Unauthorized", 401},
    {"Forbidden", 403},
    {"NotFound", 404},
    {"MethodNotAllowed", 405},
    {"NotAcceptable", 406},
    {"Conflict", 409},
    {"AlreadyExists", 409},
    {"Gone", 410},
    {"Expired", 410},
    {"RequestEntityTooLarge", 413},
    {"UnsupportedMediaType", 415},
    {"Invalid", 422},
    {"TooManyRequests", kTooManyRequests},
    {"InternalError", 500},
    {"ServiceUnavailable", 503},
    {"Timeout", 504},
};

// Returns the code that the reason comes with; nullopt: the table does not have the reason.
constexpr std::optional<int> codeOfReason(std::string_view reason) {
  const auto* found = std::ranges::find(kStatusReasons, reason, &StatusReason::reason);
  return found == std::end(kStatusReasons) ? std::nullopt : std::optional(found->code);
}

// Returns the usual reason of the code; nullopt: the table does not have the code.
constexpr std::optional<std::string_view> reasonOfCode(int code) {
  const auto* found = std::ranges::find(kStatusReasons, code, &StatusReason::code);
  return found == std::end(kStatusReasons) ? std::nullopt : std::optional(found->reason);
}

}  // namespace lastout::kube
