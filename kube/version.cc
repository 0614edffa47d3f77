#include "kube/version.h"

#include <charconv>
#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>

namespace lastout::kube {
namespace {

// Lower ones come first.
struct VersionRank {
  int stability = 3;  // 0: v1, 1: v1beta1, 2: v1alpha1, 3: other
  int64_t major = 0;
  int64_t minor = 0;
  std::string_view text;
  auto order() const { return std::tuple(stability, -major, -minor, text); }
};

std::optional<int64_t> takeNumber(std::string_view& text) {
  int64_t number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec != std::errc() || number <= 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(parsed.ptr - text.data()));
  return number;
}

VersionRank rankOf(std::string_view version) {
  const VersionRank other{3, 0, 0, version};
  std::string_view rest = version;
  if (!rest.starts_with("v")) return other;
  rest.remove_prefix(1);
  const auto major = takeNumber(rest);
  if (!major) return other;
  if (rest.empty()) return {0, *major, 0, version};
  for (const auto& [word, stability] : {std::pair("beta", 1), std::pair("alpha", 2)}) {
    std::string_view number = rest;
    if (!number.starts_with(word)) continue;
    number.remove_prefix(std::string_view(word).size());
    const auto minor = takeNumber(number);
    if (minor && number.empty()) return {stability, *major, *minor, version};
  }
  return other;
}

}  // namespace

bool isPreferredVersion(std::string_view version, std::string_view other) {
  return rankOf(version).order() < rankOf(other).order();
}

}  // namespace lastout::kube
