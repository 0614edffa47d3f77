// Shrinking: a smaller cluster, or history, in which the same thing still goes wrong.
#pragma once

#include <algorithm>
#include <functional>
#include <utility>

#include "tests/properties/cluster_spec.h"
#include "tests/properties/watched_history.h"

namespace lastout::testing {

// Takes away steps, works, controllers, owners, finalizers and objects, as long as `fails` stays true of the
// rest.
ClusterSpec shrink(ClusterSpec spec, const std::function<bool(const ClusterSpec&)>& fails);
// The same of happenings, and of the criteria that they write.
WatchedHistory shrink(WatchedHistory history, const std::function<bool(const WatchedHistory&)>& fails);

// Removes pieces of `list(spec)`, halves first, single items last. True: some went.
template <class Spec, class List>
bool shrinkList(Spec& spec, const std::function<bool(const Spec&)>& fails, List list) {
  bool smaller = false;
  for (size_t piece = std::max<size_t>(list(spec).size() / 2, 1);; piece /= 2) {
    for (size_t from = 0; from < list(spec).size();) {
      Spec candidate = spec;
      auto& items = list(candidate);
      const size_t to = std::min(from + piece, items.size());
      items.erase(items.begin() + static_cast<ptrdiff_t>(from), items.begin() + static_cast<ptrdiff_t>(to));
      if (fails(candidate)) {
        spec = std::move(candidate);
        smaller = true;
      } else {
        from += piece;
      }
    }
    if (piece <= 1) return smaller;
  }
}

}  // namespace lastout::testing
