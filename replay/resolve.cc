#include "replay/resolve.h"

#include "kube/messages.h"

namespace lastout::replay {

namespace {

constexpr size_t kListed = 5;  // objects that a message lists at most

// What to add to "there is no such object": the nearest of all, or what there is of its type.
std::string advice(const cluster::Model& model, const ScenarioReference& reference) {
  const kube::GroupResource& type = reference.pattern.key.type;
  std::vector<std::string> names;
  std::vector<std::string> ofType;
  for (const cluster::SlotInfo& slot : model.slots) {
    names.push_back(kube::toString(slot.key));
    if (slot.key.type == type) ofType.push_back(names.back());
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  const std::string_view near = kube::nearest(kube::toString(reference.pattern.key), candidates);
  if (!near.empty()) return "; did you mean " + std::string(near) + "?";
  if (ofType.empty()) return "; there are no " + kube::toString(type) + " at all";
  std::string text = "; there ";
  text += ofType.size() == 1 ? "is " : "are ";
  return text + kube::listed(ofType, kListed);
}

}  // namespace

std::vector<cluster::Slot> matches(const cluster::Model& model, const ScenarioReference& reference) {
  std::vector<cluster::Slot> result;
  for (cluster::Slot slot = 0; slot < model.slots.size(); ++slot) {
    if (reference.pattern.matches(model.slots[slot].key)) result.push_back(slot);
  }
  return result;
}

std::vector<cluster::Slot> resolveSome(const cluster::Model& model, const ScenarioReference& reference,
                                       const std::string& file, kube::Errors& errors) {
  std::vector<cluster::Slot> result = matches(model, reference);
  if (result.empty())
    errors.push_back({"\"" + reference.text + "\" names nothing in these files" + advice(model, reference),
                      file, reference.where});
  return result;
}

std::optional<cluster::Slot> resolveOne(const cluster::Model& model, const ScenarioReference& reference,
                                        const std::string& file, kube::Errors& errors) {
  const std::vector<cluster::Slot> found = resolveSome(model, reference, file, errors);
  if (found.empty()) return std::nullopt;
  if (found.size() == 1) return found.front();
  std::vector<std::string> names;
  names.reserve(found.size());
  for (const cluster::Slot slot : found) names.emplace_back(model.name(slot));
  errors.push_back({"\"" + reference.text + "\" names " + std::to_string(found.size()) +
                        " objects, and it must be one: " + kube::listed(names, kListed),
                    file, reference.where});
  return std::nullopt;
}

}  // namespace lastout::replay
