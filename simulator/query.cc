#include "simulator/query.h"

#include <utility>

namespace lastout::simulator {

ApiResult<Query> parseQuery(std::string_view text) {
  auto query = kube::parseQuery(text);
  if (!query) return tl::unexpected(badRequest(query.error().message));
  return std::move(*query);
}

}  // namespace lastout::simulator
