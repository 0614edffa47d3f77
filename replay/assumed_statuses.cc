// Assumptions about statuses that tell of something that is in no file.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>

#include "kube/messages.h"
#include "kube/pods.h"
#include "kube/well_known.h"
#include "replay/assumption_notes.h"

namespace lastout::replay {

namespace {

using cluster::Slot;
using cluster::SlotInfo;
using cluster::SlotKind;

struct Count {
  std::string_view of;
  size_t number = 0;
};

// Reads "things.x.io has 2 resource instances" and "x.io/f in 2 resource instances".
std::optional<Count> countIn(std::string_view text) {
  for (const std::string_view word : {" has ", " in "}) {
    const size_t at = text.find(word);
    if (at == std::string_view::npos) continue;
    Count count{.of = text.substr(0, at)};
    const std::string_view rest = text.substr(at + word.size());
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), count.number);
    if (read.ec == std::errc()) return count;
  }
  return std::nullopt;
}

// Reads the counts that follow the first colon; nullopt: there is something else.
std::optional<std::vector<Count>> countsIn(std::string_view message) {
  std::vector<Count> counts;
  size_t at = message.find(": ");
  while (at != std::string_view::npos) {
    message.remove_prefix(at + 2);
    at = message.find(", ");
    const auto count = countIn(message.substr(0, at));
    if (!count) return std::nullopt;
    counts.push_back(*count);
  }
  return counts.empty() ? std::nullopt : std::optional(std::move(counts));
}

class ToldByStatuses {
 public:
  explicit ToldByStatuses(AssumptionNotes& notes) : notes_(notes), model_(notes.model) {}

  void find() {
    for (const Slot slot : notes_.compiled.goal) {
      const SlotInfo& info = model_.slots[slot];
      const kube::Object* source = notes_.object(info.key);
      if (source == nullptr) continue;
      if (info.kind == SlotKind::PersistentVolume) addVolume(info, *source);
      if (info.kind == SlotKind::Namespace) addNamespace(info, *source);
      if (info.kind == SlotKind::Crd) addCrd(info, *source);
    }
  }

 private:
  void addVolume(const SlotInfo& info, const kube::Object& volume) {
    if (!info.children.empty() || kube::textAt(volume.content, {"status", "phase"}) != "Bound") return;
    const auto claim = kube::claimOf(volume.content);
    notes_.add(info.key, "no claim uses " + notes_.nameOf(info.key) +
                             " any more: its phase is Bound, and no " + "file has " +
                             (claim ? notes_.nameOf(*claim) : "its claim"));
  }

  void addNamespace(const SlotInfo& info, const kube::Object& space) {
    for (const std::string_view type : kube::kNamespaceFailures) add(space, type);
    const auto isType = [&](const Count& count, Slot slot) {
      const kube::GroupResource& type = model_.slots[slot].key.type;
      return count.of == type.resource + "." + type.group;
    };
    const auto hasFinalizer = [&](const Count& count, Slot slot) {
      return std::ranges::find(model_.slots[slot].finalizers, count.of) !=
             model_.slots[slot].finalizers.end();
    };
    if (!isInFiles(info, space, kube::kNamespaceContentRemaining, isType))
      add(space, kube::kNamespaceContentRemaining);
    if (!isInFiles(info, space, kube::kNamespaceFinalizersRemaining, hasFinalizer))
      add(space, kube::kNamespaceFinalizersRemaining);
  }

  // Returns true if the namespace has as much as the condition counts; `matches(count, slot)` says which
  // objects a count is of.
  template <class Matches>
  bool isInFiles(const SlotInfo& space, const kube::Object& object, std::string_view condition,
                 Matches matches) const {
    const kube::Value* told = kube::statusCondition(object.content, condition);
    // The counts point into it.
    const std::string_view message =
        told == nullptr ? std::string_view() : std::string_view(kube::textAt(*told, {"message"}));
    const auto counts = countsIn(message);
    return counts && std::ranges::all_of(*counts, [&](const Count& count) {
             const auto found = std::ranges::count_if(space.content, [&](Slot slot) {
               return model_.slots[slot].presentAtStart && matches(count, slot);
             });
             return static_cast<size_t>(found) >= count.number;
           });
  }

  // A CRD that says that objects of its type remain may be right about those in the files.
  void addCrd(const SlotInfo& info, const kube::Object& crd) {
    const kube::Value* told = kube::statusCondition(crd.content, "Terminating");
    const bool hasFailed = told != nullptr && kube::textAt(*told, {"reason"}) == "InstanceDeletionFailed";
    const bool hasInstances =
        std::ranges::any_of(info.content, [this](Slot slot) { return model_.slots[slot].presentAtStart; });
    if (hasFailed || !hasInstances) add(crd, "Terminating");
  }

  void add(const kube::Object& object, std::string_view type) {
    const kube::Value* told = kube::statusCondition(object.content, type);
    if (told == nullptr || kube::textAt(*told, {"status"}) != "True") return;
    const std::string& message = kube::textAt(*told, {"message"});
    notes_.add(object.key, "the condition " + std::string(type) + " of " + notes_.nameOf(object.key) +
                               " does not hold any more" + (message.empty() ? "" : ": " + message));
  }

  AssumptionNotes& notes_;
  const cluster::Model& model_;
};

}  // namespace

void assumeOfStatuses(AssumptionNotes& notes) { ToldByStatuses(notes).find(); }

}  // namespace lastout::replay
