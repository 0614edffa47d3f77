// Random histories of a DatabaseInstance, its children in two namespaces and its policy, of which the
// finalizer changes: what must hold of the plans, whatever happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "protection/hold_finalizers.h"
#include "protection/hold_status.h"
#include "tests/protection/held_objects.h"
#include "tests/support/seed.h"

namespace lastout::protection {
namespace {

using nlohmann::json;

constexpr const char* kDeletionTime = "2026-11-01T10:00:00Z";
constexpr const char* kChildKinds[] = {"Database", "DatabaseUser", "DatabaseRole"};
constexpr const char* kSpaces[] = {"shop", "infra"};
const std::vector<std::string> kHeldBy{"dbops.dbprovision.io/instance", "example.com/b", "example.com/c"};
constexpr const char* kUid = "DatabaseInstance-shop-pg";
constexpr int kHistorySteps = 120;
constexpr int kHistories = 300;

// An instance, its children, and those that carry plans out, one action at a time and at any time.
class HeldWorld {
 public:
  explicit HeldWorld(uint32_t seed) : random_(seed) {
    policy_.hold->external =
        DeletionWord{FieldPath{{"spec", "word"}}, "", "Delete", {"Delete", "Retain"}, {}};
    policy_.hold->external->reportedBy = pick(2) == 0 ? ReportPlace{kReport, ""} : ReportPlace{"", "Dropped"};
    instance_ = stored("DatabaseInstance", "pg");
    known_.all[instance_->key.type].insert(policy_.hold->finalizer);
  }

  bool isThere() const { return instance_.has_value(); }
  size_t children() const { return children_.size(); }
  // What stays on the instance though the policy has another finalizer by now, which holds it.
  std::vector<std::string> formerAtRest() {
    for (int i = 0; i < 2; ++i) pass(100);
    const bool isHeld = instance_ && instance_->carries(policy_.hold->finalizer);
    return isHeld ? facts().releasable : std::vector<std::string>();
  }
  const std::vector<std::string>& faults() const { return faults_; }

  void step() {
    switch (pick(17)) {
      case 8:
        return onInstance([&](StoredObject& one) { one.content["spec"]["word"] = anyWord(); });
      case 9:
        return onInstance(
            [&](StoredObject& one) { report(one, anyStep(), pick(2) == 0 ? "Done" : "Failed"); });
      case 10:
        hasWaited_ = pick(2) == 0;
        return;
      case 7:
        return renameFinalizer();
      case 0:
        return addChild();
      case 1:
        return removeChild();
      case 2:
        return onInstance([&](StoredObject& one) { one.annotate(kForceDelete, pick(3) == 0 ? "" : "true"); });
      case 3:
        return onInstance([&](StoredObject& one) { one.annotate(kConfirm, anyHash()); });
      case 4:
        return onInstance(
            [&](StoredObject& one) { one.content["spec"]["deletionProtection"] = pick(2) == 0; });
      case 5:
        return onInstance([&](StoredObject& one) {
          if (pick(4) == 0) one.content["metadata"]["deletionTimestamp"] = kDeletionTime;
        });
      case 6:
        return protectChild(pick(2) == 0);
      default:
        return pass(pick(6));
    }
  }

  // Everybody wants it gone: no child is protected, force is set and what is shown is confirmed.
  void settle() {
    for (int round = 0; round < 20 && isThere(); ++round) {
      for (auto& [name, child] : children_) child.content["spec"]["deletionProtection"] = false;
      for (auto& [name, child] : children_) child.annotate("dbops.dbprovision.io/deletion-protection", "");
      instance_->annotate(kForceDelete, "true");
      report(*instance_, word() + "/" + kUid, "Done");
      const json confirmation = instance_->confirmation();
      if (confirmation.is_object()) instance_->annotate(kConfirm, confirmation["hash"]);
      pass(100);
    }
  }

 private:
  using Child = std::string;  // its whole key
  static Child identity(const HeldChild& child) { return toString(child.key); }

  void renameFinalizer() {
    policy_.hold->finalizer = kHeldBy[pick(kHeldBy.size())];
    known_.all[dbopsType("databaseinstances")].insert(policy_.hold->finalizer);
  }
  size_t pick(size_t of) { return random_() % of; }

  void onInstance(const std::function<void(StoredObject&)>& change) {
    if (instance_) change(*instance_);
  }
  void addChild() {
    if (children_.size() >= 4) return;
    StoredObject child =
        stored(kChildKinds[pick(3)], "c" + std::to_string(pick(3)), json::object(), kSpaces[pick(2)]);
    children_.try_emplace(toString(child.key), child);
  }
  void removeChild() {
    if (!children_.empty()) children_.erase(std::next(children_.begin(), long(pick(children_.size()))));
  }
  void protectChild(bool isProtected) {
    if (children_.empty()) return;
    StoredObject& child = std::next(children_.begin(), long(pick(children_.size())))->second;
    child.content["spec"]["deletionProtection"] = isProtected;
    child.annotate("dbops.dbprovision.io/deletion-protection", isProtected ? "true" : "");
  }

  std::string anyWord() { return pick(2) == 0 ? "Delete" : "Retain"; }
  std::string anyStep() { return anyWord() + "/" + (pick(3) == 0 ? "of-a-former-one" : kUid); }
  std::string word() const { return instance_->content["spec"].value("word", "Delete"); }

  // As an outside controller does, where the policy has it.
  void report(StoredObject& one, const std::string& step, const std::string& result) {
    reported_ = step + ": " + result;
    if (!policy_.hold->external->reportedBy->annotation.empty()) return one.annotate(kReport, reported_);
    json& conditions = one.content["status"]["conditions"];
    if (!conditions.is_array()) conditions = json::array();
    for (size_t i = conditions.size(); i-- > 0;)
      if (conditions[i]["type"] == "Dropped") conditions.erase(i);
    conditions.push_back({{"type", "Dropped"},
                          {"status", result == "Done" ? "True" : "False"},
                          {"reason", result},
                          {"message", step}});
  }

  // The hash of the children there are, of some of them, or of none.
  std::string anyHash() {
    if (pick(4) == 0) return "a1b2c3d4";
    std::vector<std::string> names;
    for (const HeldChild& child : facts().children)
      if (pick(5) != 0) names.push_back(nameOf(child));
    return confirmationHash(names);
  }
  std::string nameOf(const HeldChild& child) const { return childName(policy_, "shop", child); }

  HoldFacts facts() const {
    HoldFacts facts;
    if (hasWaited_) facts.awaited = policy_.hold->retryAfter;
    for (const auto& [name, child] : children_) {
      facts.children.push_back(childOf(child.kind, child.key.name, child.key.namespaceName));
      facts.children.back().terminates = child.terminates();
    }
    if (instance_)
      facts.releasable = releasableFinalizers(known_, &policy_, instance_->key.type, instance_->meta());
    return facts;
  }

  // Plans for everything there is, and carries out that many actions of each plan at most, as if killed then.
  void pass(size_t actions) {
    if (instance_) {
      const HoldFacts now = facts();
      const HoldPlan plan = planFor(policy_, *instance_, now);
      check(plan, now);
      apply(plan, actions);
    }
    for (auto child = children_.begin(); child != children_.end();) {
      const HoldPlan plan = planFor(child->second);
      child = plan.removeFinalizer && child->second.terminates() ? children_.erase(child) : std::next(child);
    }
  }

  void apply(const HoldPlan& plan, size_t actions) {
    const auto goesOn = [&] { return actions-- > 0; };
    if (plan.addFinalizer || (!plan.release.empty() && !plan.removeFinalizer)) {
      if (goesOn()) setFinalizers(plan);
      return;
    }
    if (!plan.statusPatch.is_null()) {
      if (!goesOn()) return;
      instance_->content.merge_patch(plan.statusPatch);
    }
    if (plan.deleteItself) {
      if (!goesOn()) return;
      instance_->content["metadata"]["deletionTimestamp"] = kDeletionTime;
    }
    for (const HeldChild& child : plan.deleteChildren) {
      if (actions == 0) return;
      --actions;
      const auto found = children_.find(identity(child));
      if (found != children_.end()) found->second.content["metadata"]["deletionTimestamp"] = kDeletionTime;
    }
    if (plan.removeFinalizer && actions > 0) setFinalizers(plan);
  }

  std::vector<std::string> finalizersAfter(const HoldPlan& plan) const {
    std::vector<std::string> left = instance_->meta().finalizers;
    for (const std::string& one : plan.release) std::erase(left, one);
    if (plan.removeFinalizer) std::erase(left, policy_.hold->finalizer);
    if (plan.addFinalizer) left.push_back(policy_.hold->finalizer);
    return left;
  }
  // As API servers do: one that terminates takes no more, and is gone without any.
  void setFinalizers(const HoldPlan& plan) {
    const std::vector<std::string> left = finalizersAfter(plan);
    if (plan.addFinalizer && instance_->terminates()) fault("a finalizer for what is being deleted");
    instance_->content["metadata"]["finalizers"] = left;
    if (left.empty() && instance_->terminates()) instance_.reset();
  }

  void check(const HoldPlan& plan, const HoldFacts& now) {
    const json& metadata = instance_->content["metadata"];
    const bool isForced = metadata["annotations"].value(kForceDelete, "") == "true";
    const bool isProtected = instance_->content["spec"].value("deletionProtection", false);
    std::vector<std::string> names;
    std::set<Child> set;
    for (const HeldChild& child : now.children) {
      names.push_back(nameOf(child));
      set.insert(identity(child));
    }
    const bool isLetGo = finalizersAfter(plan).empty();
    if (isLetGo && !instance_->terminates()) fault("it goes though nobody deleted it");
    if (isLetGo && isProtected && !isForced) fault("it goes though it is protected");
    if (isLetGo && !names.empty()) fault("it goes though children are there");
    const std::string step = word() + "/" + kUid;
    const bool isReported = reported_ == step + ": Done" || (isForced && reported_ == step + ": Failed");
    if (isLetGo && !isReported && !(isForced && hasWaited_)) fault("it goes though nothing was reported");
    if (!plan.deleteChildren.empty()) {
      if (!isForced) fault("children go without force");
      if (!isConfirmed(metadata["annotations"].value(kConfirm, ""), names, set))
        fault("children go unconfirmed");
    }
    const std::string hash = confirmationHash(names);
    const auto [known, isNew] = hashes_.try_emplace(hash, set);
    if (!isNew && known->second != set) fault("two sets of children have one hash");
  }

  // The annotation is the hash of these children, or of more, to which it was once shown or given.
  bool isConfirmed(const std::string& given, const std::vector<std::string>& names,
                   const std::set<Child>& there) const {
    if (given == confirmationHash(names)) return true;
    const auto found = hashes_.find(given);
    return found != hashes_.end() && std::ranges::includes(found->second, there);
  }

  void fault(const std::string& what) { faults_.push_back(what + ": " + instance_->content.dump()); }

  std::mt19937 random_;
  DeletionPolicy policy_ = dbopsPolicy("dbops-instances");
  KnownFinalizers known_;
  std::optional<StoredObject> instance_;
  std::string reported_;    // by an outside controller, last
  bool hasWaited_ = false;  // for a report, as long as force waits
  std::map<Child, StoredObject> children_;
  std::map<std::string, std::set<Child>> hashes_;
  std::vector<std::string> faults_;
};

TEST(HoldHistories, NeitherLoseWhatIsProtectedNorGetStuck) {
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  int ended = 0;
  for (int history = 0; history < kHistories; ++history) {
    HeldWorld world(seed + static_cast<uint32_t>(history));
    for (int step = 0; step < kHistorySteps && world.isThere(); ++step) world.step();
    ended += world.isThere() ? 0 : 1;
    EXPECT_THAT(world.formerAtRest(), ::testing::IsEmpty()) << "history " << history;
    world.settle();
    EXPECT_FALSE(world.isThere()) << "history " << history << ", " << world.children() << " children left";
    ASSERT_THAT(world.faults(), ::testing::IsEmpty()) << "history " << history;
  }
  EXPECT_GT(ended, 0);
  EXPECT_LT(ended, kHistories);
}

}  // namespace
}  // namespace lastout::protection
