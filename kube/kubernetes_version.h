// KubernetesVersion: whose rules are followed, where they differ (docs/semantics.md, "Versions").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lastout::kube {

enum class KubernetesVersion : uint8_t { V1_26, V1_36 };

constexpr KubernetesVersion kNewestKubernetes = KubernetesVersion::V1_36;
constexpr std::array<std::string_view, 2> kKubernetesVersions = {"1.26", "1.36"};  // in the enum's order

constexpr std::string_view toString(KubernetesVersion version) {
  return kKubernetesVersions.at(static_cast<size_t>(version));
}

// Returns the version that is written "1.26" or "1.36"; nullopt: neither.
constexpr std::optional<KubernetesVersion> parseKubernetesVersion(std::string_view text) {
  for (size_t i = 0; i < kKubernetesVersions.size(); ++i) {
    if (text == kKubernetesVersions.at(i)) return static_cast<KubernetesVersion>(i);
  }
  return std::nullopt;
}

}  // namespace lastout::kube
