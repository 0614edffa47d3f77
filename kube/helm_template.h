// Helm templates, which are no YAML before they are rendered. Internal to kube/.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace lastout::kube {

inline constexpr std::string_view kRenderFirst = "this is a Helm template: render it first (helm template)";

// Returns the offset of the first "{{" that begins a key, a value or a line, outside of comments, quoted
// strings and block scalars: no YAML that is read here has it there. nullopt: there is none. Takes one walk
// through the text.
std::optional<size_t> findTemplateAction(std::string_view text);

}  // namespace lastout::kube
