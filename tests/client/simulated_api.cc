#include "tests/client/simulated_api.h"

#include <algorithm>
#include <iterator>

namespace lastout::testing {

client::StreamedObject streamed(const std::string& name, const SimulatedObject& object) {
  client::StreamedObject result;
  result.meta.namespaceName = "app";
  result.meta.name = name;
  result.meta.uid = object.uid;
  result.meta.resourceVersion = std::to_string(object.version);
  result.meta.generation = object.generation;
  return result;
}

SimulatedApi::SimulatedApi(Dice& dice) : dice_(dice) {
  states_[version_] = {};
  for (uint32_t writes = dice_.below(12); writes > 0; --writes) write();
}

void SimulatedApi::commit(client::EventType type, const std::string& name) {
  version_ += 1 + dice_.below(3);  // objects of other types are written too
  SimulatedObjects objects = states_.rbegin()->second;
  SimulatedObject& object = objects[name];
  ++writesEver_;
  if (type == client::EventType::Added) object.uid = "uid-" + std::to_string(writesEver_);
  object.version = version_;
  if (type != client::EventType::Deleted) object.generation = writesEver_;
  writes_[version_] = {type, name, object};
  if (type == client::EventType::Deleted) objects.erase(name);
  states_[version_] = std::move(objects);
}

void SimulatedApi::write() {
  const std::string name = "object-" + std::to_string(dice_.below(8));
  if (!objects().contains(name)) return commit(client::EventType::Added, name);
  if (!dice_.oneIn(3)) return commit(client::EventType::Modified, name);
  commit(client::EventType::Deleted, name);
  if (dice_.oneIn(2)) commit(client::EventType::Added, name);
}

void SimulatedApi::trim() {
  auto kept = std::next(states_.begin(), dice_.below(static_cast<uint32_t>(states_.size())));
  states_.erase(states_.begin(), kept);
  writes_.erase(writes_.begin(), writes_.upper_bound(knownSince()));
}

void SimulatedApi::comeBack(NewHistory history) {
  ++epoch_;
  if (history == NewHistory::Empty || history == NewHistory::Another) cluster_ = epoch_;
  const auto backup = std::next(states_.begin(), dice_.below(static_cast<uint32_t>(states_.size())));
  uint32_t writes = dice_.below(6);
  if (history == NewHistory::Restored) {
    version_ = backup->first;
    writes_.erase(writes_.upper_bound(version_), writes_.end());
    states_.erase(std::next(backup), states_.end());
  } else {
    const SimulatedObjects objects = history == NewHistory::Bumped ? backup->second : SimulatedObjects();
    if (history == NewHistory::Another) {
      version_ -= std::min<uint64_t>(version_ - 1, dice_.below(30));
      writes += dice_.below(20);
    } else {
      version_ = history == NewHistory::Empty ? 1 : epoch_ * 1'000'000;
    }
    writes_.clear();
    states_.clear();
    states_[version_] = objects;
  }
  for (; writes > 0; --writes) write();
}

const SimulatedObjects& SimulatedApi::objectsAt(uint64_t version) const {
  return std::prev(states_.upper_bound(version))->second;
}

const SimulatedWrite* SimulatedApi::after(uint64_t version) const {
  const auto found = writes_.upper_bound(version);
  return found == writes_.end() ? nullptr : &found->second;
}

}  // namespace lastout::testing
