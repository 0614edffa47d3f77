#include "client/environment.h"

#include <unistd.h>

namespace lastout::client {

Environment environmentOf(const char* const* variables) {
  Environment found;
  for (; variables != nullptr && *variables != nullptr; ++variables) {
    const std::string_view text = *variables;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    found.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return found;
}

Environment processEnvironment() { return environmentOf(environ); }

}  // namespace lastout::client
