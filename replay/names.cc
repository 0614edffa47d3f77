#include "replay/names.h"

#include <cstdio>
#include <set>

#include "kube/messages.h"

namespace lastout::replay {

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
  std::vector<std::string> names;
  names.reserve(slots.size());
  for (const cluster::Slot slot : slots) names.emplace_back(of(slot));
  return kube::listed(names, most);
}

std::string seconds(std::chrono::milliseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld s", static_cast<long long>(time.count() / 1000),
                static_cast<long long>(time.count() % 1000));
  return text;
}

}  // namespace lastout::replay
