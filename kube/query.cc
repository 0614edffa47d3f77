#include "kube/query.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "kube/percent_encoding.h"
#include "kube/quoting.h"

namespace lastout::kube {
namespace {

std::optional<std::string> formDecoded(std::string_view text) {
  std::string spaced(text);
  std::ranges::replace(spaced, '+', ' ');
  return percentDecoded(spaced);
}

}  // namespace

Result<Query> parseQuery(std::string_view text) {
  Query query;
  while (!text.empty()) {
    const std::string_view piece = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), piece.size() + 1));
    if (piece.empty()) continue;
    const size_t equals = std::min(piece.find('='), piece.size());
    auto key = formDecoded(piece.substr(0, equals));
    auto value = formDecoded(piece.substr(std::min(piece.size(), equals + 1)));
    if (!key || !value) {
      return tl::unexpected(
          Error{"the query parameter " + inQuotes(piece) + " has an escape that is none", "", {}});
    }
    query.emplace(std::move(*key), std::move(*value));
  }
  return query;
}

}  // namespace lastout::kube
