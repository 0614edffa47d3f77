#include "tests/properties/shrink.h"

namespace lastout::testing {

namespace {

using Fails = std::function<bool(const ClusterSpec&)>;

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

WatchedHistory shrink(WatchedHistory history, const std::function<bool(const WatchedHistory&)>& fails) {
  for (bool smaller = true; smaller;) {
    smaller = shrinkList(
        history, fails, [](WatchedHistory & all) -> auto& { return all; });
    for (size_t i = 0; i < history.size(); ++i) {
      if (!history[i].service) continue;
      smaller |= shrinkList(
          history, fails, [i](WatchedHistory & all) -> auto& { return all[i].service->criteria; });
    }
  }
  return history;
}

}  // namespace lastout::testing
