#include "scenarios/names.h"

#include <cstdio>
#include <set>

namespace lastout::scenarios {

Names::Names(const cluster::Model& model) {
  std::map<std::string, std::set<std::string>> groups;  // by resource
  for (const cluster::SlotInfo& slot : model.slots)
    groups[slot.key.type.resource].insert(slot.key.type.group);
  for (const cluster::SlotInfo& slot : model.slots) {
    kube::ObjectKey key = slot.key;
    if (groups[key.type.resource].size() == 1) key.type.group.clear();
    names_.push_back(kube::toString(key));
  }
}

Names Names::full(const cluster::Model& model) {
  Names names;
  for (const cluster::SlotInfo& slot : model.slots) names.names_.push_back(kube::toString(slot.key));
  return names;
}

std::string Names::list(const std::vector<cluster::Slot>& slots, size_t most) const {
  // One that is left over takes no more room by its name than as "1 more".
  const size_t shown = slots.size() <= most + 1 ? slots.size() : most;
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    if (i > 0) text += i + 1 == slots.size() ? " and " : ", ";
    text += of(slots[i]);
  }
  if (shown < slots.size()) text += " and " + std::to_string(slots.size() - shown) + " more";
  return text;
}

std::string seconds(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld s", static_cast<long long>(time.count() / 1000),
                static_cast<long long>(time.count() % 1000));
  return text;
}

}  // namespace lastout::scenarios
