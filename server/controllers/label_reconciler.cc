#include "server/controllers/label_reconciler.h"

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "server/runtime/lack_of_right.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;

// What has changed meanwhile is told by a watch; it is looked at again should that be late.
constexpr milliseconds kAfterLabelConflict{1'000};
constexpr milliseconds kWritesCountFor{60'000};
constexpr int kMostCleanUps = 3;         // two phases, and one more for what has changed meanwhile
constexpr size_t kMostCounted = 10'000;  // objects whose writes are counted

std::string withLabelGrant(std::string problem) {
  if (isLackOfRight(problem, {"get", "patch"}))
    problem += "; the ClusterRole lastout-labels-policies grants that to what is aggregated to it";
  return problem;
}

nlohmann::json asJson(const protection::LabelPatch& patch) {
  nlohmann::json labels = nlohmann::json::object();
  for (const auto& [key, value] : patch) labels[key] = value ? nlohmann::json(*value) : nlohmann::json();
  return {{"metadata", {{"labels", std::move(labels)}}}};
}

// "label a/b=true set, label c/d removed".
std::string wordsOf(const protection::LabelPatch& patch) {
  std::string text;
  for (const auto& [key, value] : patch)
    text += (text.empty() ? "label " : ", label ") + key + (value ? "=" + *value + " set" : " removed");
  return text;
}

std::string policiesOf(const LabelledObject& object) {
  std::string text = object.policies.size() == 1 ? "deletion policy " : "deletion policies ";
  for (const std::string& policy : object.policies)
    text += (&policy == &object.policies.front() ? "" : ", ") + policy;
  return text;
}

LabelOutcome outcomeOf(const LabelledObject& object) {
  if (object.changedAt) return LabelOutcome::Repaired;
  if (object.takesProtection) return LabelOutcome::Unlabelled;
  return object.setsProtection ? LabelOutcome::Labelled : LabelOutcome::Exempted;
}

}  // namespace

std::string_view toString(LabelOutcome outcome) {
  static constexpr std::array<std::string_view, 5> kNames{"labelled", "unlabelled", "exempted", "repaired",
                                                          "contested"};
  return kNames[static_cast<size_t>(outcome)];
}

// The second phase of a removal, and what else is left to do, is the next look's: the API server has told by
// then that it knows the first.
Settled LabelReconciler::settle(const kube::ObjectKey& key) {
  const auto type = options_.findType(key.type);
  const std::optional<LabelledObject> object = objects_.find(key);
  if (!type || !object || !options_.mayAct()) return {};
  if (const auto wait = untilRepaired(*object)) return {"", wait};
  if (const auto wait = contestedFor(*object)) return {"", wait};
  ++writesOfPass_;
  const auto patched = client_.patch(*type, object->meta, asJson(object->patch));
  if (!patched && isConflict(patched.error())) return {"", kAfterLabelConflict};
  noteProblem(key.type, patched ? "" : withLabelGrant(patched.error().why));
  if (!patched) return {problemOf(key.type), {}};
  if (!*patched) {
    objects_.remove(key, object->meta.uid);
    return {};
  }
  ++writes_[object->meta.uid].count;
  report(*object);
  if (objects_.upsert(**patched, options_.now()).empty()) return {};
  return {"", milliseconds(0)};
}

size_t LabelReconciler::cleanUp(TimePoint until) {
  objects_.cleanUp();
  std::vector<kube::ObjectKey> left = objects_.all();
  for (int i = 0; i < kMostCleanUps && !left.empty(); ++i) {
    for (const kube::ObjectKey& key : left) {
      if (options_.now() >= until || !options_.mayAct()) break;
      const Settled settled = settle(key);
      if (!settled.problem.empty())
        options_.log(Level::Warning, "labels: " + toString(key) + ": " + settled.problem);
      else if (settled.lookAgain == kAfterLabelConflict)
        refresh(key);
    }
    left = objects_.all();
  }
  return left.size();
}

// Where no watch may tell of it in time.
void LabelReconciler::refresh(const kube::ObjectKey& key) {
  const auto type = options_.findType(key.type);
  const std::optional<LabelledObject> object = objects_.find(key);
  if (!type || !object) return;
  const auto read = client_.get(*type, key);
  if (!read) return;
  if (*read)
    objects_.upsert(**read, options_.now());
  else
    objects_.remove(key, object->meta.uid);
}

// How long users have to delete an object whose label they took away; nullopt: no longer, or not at all.
std::optional<milliseconds> LabelReconciler::untilRepaired(const LabelledObject& object) const {
  if (!object.changedAt || !object.setsProtection) return std::nullopt;
  const auto left = *object.changedAt + object.repairAfter - options_.now();
  if (left <= left.zero()) return std::nullopt;
  return std::chrono::ceil<milliseconds>(left);
}

// How long the object is left alone; nullopt: it is not.
std::optional<milliseconds> LabelReconciler::contestedFor(const LabelledObject& object) {
  const TimePoint now = options_.now();
  if (writes_.size() >= kMostCounted)
    std::erase_if(writes_, [&](const auto& one) { return now - one.second.since >= kWritesCountFor; });
  if (writes_.size() >= kMostCounted) writes_.clear();
  Writes& writes = writes_[object.meta.uid];
  if (writes.count == 0 || now - writes.since >= kWritesCountFor) writes = {now, 0, false};
  if (writes.count < kMostWritesOfObject) return std::nullopt;
  if (!std::exchange(writes.isTold, true)) {
    options_.count(LabelOutcome::Contested);
    options_.tell(object, "LabelsContested",
                  "somebody changes again and again what " + policiesOf(object) +
                      " wants; lastout goes on in a minute: " + wordsOf(object.patch));
    options_.log(Level::Warning, toString(object.key) + ": somebody changes again and again what " +
                                     policiesOf(object) + " wants");
  }
  return std::chrono::ceil<milliseconds>(writes.since + kWritesCountFor - now);
}

void LabelReconciler::report(const LabelledObject& object) {
  const LabelOutcome outcome = outcomeOf(object);
  options_.count(outcome);
  const std::string words = wordsOf(object.patch) + ", by " + policiesOf(object);
  options_.log(Level::Info, toString(object.key) + ": " + words);
  if (outcome == LabelOutcome::Repaired) options_.tell(object, "LabelsRepaired", words);
}

void LabelReconciler::noteProblem(const kube::GroupResource& type, const std::string& problem) {
  const kube::MutexLock lock(mutex_);
  if (problem.empty())
    problems_.erase(type);
  else
    problems_[type] = problem;
}

std::string LabelReconciler::problemOf(const kube::GroupResource& type) const {
  const kube::MutexLock lock(mutex_);
  const auto found = problems_.find(type);
  return found == problems_.end() ? "" : found->second;
}

}  // namespace lastout::server
