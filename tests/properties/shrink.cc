#include "tests/properties/shrink.h"

#include <algorithm>
#include <utility>

namespace lastout::testing {

namespace {

using Fails = std::function<bool(const ClusterSpec&)>;

// Removes pieces of `list(spec)`, halves first, single items last.
template <class List>
bool shrinkList(ClusterSpec& spec, const Fails& fails, List list) {
  bool smaller = false;
  for (size_t piece = std::max<size_t>(list(spec).size() / 2, 1);; piece /= 2) {
    for (size_t from = 0; from < list(spec).size();) {
      ClusterSpec candidate = spec;
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

bool shrinkObjects(ClusterSpec& spec, const Fails& fails) {
  bool smaller = shrinkList(
      spec, fails, [](ClusterSpec & s) -> auto& { return s.objects; });
  for (size_t i = 0; i < spec.objects.size(); ++i) {
    smaller |= shrinkList(
        spec, fails, [i](ClusterSpec & s) -> auto& { return s.objects[i].owners; });
    smaller |= shrinkList(
        spec, fails, [i](ClusterSpec & s) -> auto& { return s.objects[i].finalizers; });
    smaller |= shrinkList(
        spec, fails, [i](ClusterSpec & s) -> auto& { return s.objects[i].claims; });
    if (spec.objects[i].service)
      smaller |= shrinkList(
          spec, fails, [i](ClusterSpec & s) -> auto& { return s.objects[i].service->criteria; });
  }
  return smaller;
}

}  // namespace

ClusterSpec shrink(ClusterSpec spec, const Fails& fails) {
  for (bool smaller = true; smaller;) {
    smaller = shrinkList(
        spec, fails, [](ClusterSpec & s) -> auto& { return s.steps; });
    smaller |= shrinkList(
        spec, fails, [](ClusterSpec & s) -> auto& { return s.works; });
    smaller |= shrinkList(
        spec, fails, [](ClusterSpec & s) -> auto& { return s.controllers; });
    for (size_t i = 0; i < spec.works.size(); ++i)
      smaller |= shrinkList(
          spec, fails, [i](ClusterSpec & s) -> auto& { return s.works[i].applies; });
    smaller |= shrinkObjects(spec, fails);
  }
  return spec;
}

}  // namespace lastout::testing
