#include "protection/hold_plan.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "kube/messages.h"
#include "protection/evaluate.h"
#include "protection/external_report.h"
#include "protection/hold_status.h"
#include "protection/message.h"

namespace lastout::protection {
namespace {

constexpr const char* kExternalPending = "ExternalDeletionPending";  // reasons of conditions and Events
constexpr const char* kExternalFailed = "ExternalDeletionFailed";
constexpr const char* kBadWord = "InvalidDeletionPolicy";
constexpr const char* kForced = "DeletionForced";
constexpr const char* kBegun = "ForcedDeletionBegun";
constexpr size_t kMostNamed = 10;  // children in a message

std::string childResources(size_t count) {
  return std::to_string(count) + (count == 1 ? " child resource" : " child resources");
}

std::string remaining(size_t count, size_t ofAll) {
  return "Cascade-deleting child resources: " + std::to_string(count) + " of " + std::to_string(ofAll) +
         " remain";
}

std::string namedFirst(const std::vector<std::string>& names) {
  std::string text;
  for (size_t i = 0; i < std::min(names.size(), kMostNamed); ++i) text += (i == 0 ? "" : ", ") + names[i];
  return names.size() > kMostNamed ? text + ", …" : text;
}

class Planner {
 public:
  Planner(const DeletionPolicy& policy, const HoldFacts& facts)
      : policy_(policy), hold_(*policy.hold), facts_(facts), meta_(*facts.meta) {}

  HoldPlan plan();

 private:
  void planDeletion();
  void planOfAnother();
  void planStart();
  void begin();
  void planBlocked(const std::string& reason, const std::string& why);
  void planChildren();
  void planCascade(std::vector<std::string> frozen, const std::string& hash);
  void planExternal();
  std::optional<Confirmation> endOfCascade() const;
  std::string nameOf(const HeldChild& child) const {
    return childName(policy_, facts_.key.namespaceName, child);
  }
  std::vector<std::string> childNames() const;
  std::string badWord(std::string_view word) const;
  void awaitReport(const std::string& word, const ExternalReport& report);
  std::string whyForced(const std::string& withoutExternal) const;
  bool hasCascaded() const;
  void letGo(const std::string& withoutExternal = {});
  void endHold();
  void show(const std::string& phase, const std::string& reason, const std::string& message,
            std::optional<Confirmation> confirmation = std::nullopt);
  void tell(bool isWarning, const std::string& reason, const std::string& message);
  std::string filled(const std::string& text, const std::string& reason) const;
  std::string withIgnored(const std::string& message) const {
    return plan_.ignoredForce.empty() ? message : message + "; " + plan_.ignoredForce;
  }
  bool cascades() const { return isForced_ && !hold_.confirmAnnotation.empty(); }

  const DeletionPolicy& policy_;
  const Hold& hold_;
  const HoldFacts& facts_;
  const kube::ObjectMeta& meta_;
  bool isForced_ = false;
  bool isNews_ = false;       // the status says something else than before; a warning is worth an Event
  bool isNewReason_ = false;  // as is another reason
  HoldPlan plan_;
};

std::vector<std::string> Planner::childNames() const {
  std::vector<std::string> names;
  names.reserve(facts_.children.size());
  for (const HeldChild& child : facts_.children) names.push_back(nameOf(child));
  return names;
}

HoldPlan Planner::plan() {
  const bool carriesOwn = kube::hasFinalizer(meta_, hold_.finalizer);
  // A terminating object takes no finalizer: one that holds it for no other policy holds it for this one.
  const bool carries = carriesOwn || !facts_.releasable.empty();
  isForced_ = hold_.force && hold_.force->key.holds(meta_);
  if (isForced_ && facts_.forceDoubt) {
    isForced_ = false;
    plan_.lookAgain = hold_.lookAgain;
    plan_.ignoredForce = protection::nameOf(hold_.force->key) + " does not count: " + *facts_.forceDoubt;
  }
  if (isOfAnotherOperator(hold_, meta_)) {
    if (carries) planOfAnother();
    return std::move(plan_);
  }
  if (!carriesOwn && !meta_.deletionTimestamp) {
    plan_.addFinalizer = true;
    plan_.release = facts_.releasable;
    return std::move(plan_);
  }
  if (!carries) return std::move(plan_);
  // A paused object has its finalizer all the same: it must not go unseen.
  const auto isPaused = [&](const KeyTest& test) { return test.holds(meta_); };
  if (std::ranges::any_of(hold_.pauses, isPaused)) return std::move(plan_);
  if (carriesOwn && !facts_.releasable.empty()) {
    plan_.release = facts_.releasable;
    return std::move(plan_);
  }
  if (meta_.deletionTimestamp)
    planDeletion();
  else if (isForced_ && hold_.force->starts == Force::Starts::Always)
    planStart();
  else if (hold_.status.confirmation.in(*facts_.content) != nullptr)
    plan_.statusPatch = statusChange(hold_, *facts_.content, std::nullopt, facts_.now).patch;
  return std::move(plan_);
}

// The other operator has the status and the external step. Its DELETE is denied while it is protected, so
// that nothing is lost with the finalizer of one that is not being deleted.
void Planner::planOfAnother() {
  const bool isBlocked = facts_.protectedBy || !facts_.children.empty() || facts_.childrenUnknown;
  if (!meta_.deletionTimestamp || isForced_ || !isBlocked)
    endHold();
  else
    plan_.lookAgain = hold_.lookAgain;
}

void Planner::planStart() {
  if (facts_.childrenUnknown) {
    plan_.lookAgain = hold_.lookAgain;
  } else if (!facts_.children.empty() && cascades()) {
    planChildren();
  } else {
    begin();
  }
}

void Planner::begin() {
  plan_.deleteItself = true;
  plan_.begun = {true, kBegun, "Deletion begun by force: " + toString(hold_.force->key)};
}

void Planner::planDeletion() {
  if (facts_.protectedBy && !isForced_)
    return planBlocked(hold_.words.isProtected, filled(hold_.words.protectedMessage, *facts_.protectedBy));
  if (facts_.childrenUnknown)
    return planBlocked(hold_.words.hasChildren,
                       "Deletion blocked: its children cannot be listed: " + *facts_.childrenUnknown);
  if (!facts_.children.empty() && cascades()) return planChildren();
  if (!facts_.children.empty())
    return planBlocked(
        hold_.words.hasChildren,
        "Deletion blocked by " + childResources(facts_.children.size()) + ": " + namedFirst(childNames()));
  planExternal();
}

void Planner::planBlocked(const std::string& reason, const std::string& why) {
  const std::string message = withIgnored(why);
  show(hold_.status.blocked, reason, message);
  tell(true, hold_.words.event, message);
  plan_.lookAgain = hold_.lookAgain;
}

// A confirmation counts for the children of which it has the hash. Once given, it counts for those that are
// left of them, and no longer when there is another one.
void Planner::planChildren() {
  const std::vector<std::string> names = childNames();
  const std::string hash = confirmationHash(names);
  const auto annotation = meta_.annotations.find(hold_.confirmAnnotation);
  const std::string given = annotation == meta_.annotations.end() ? "" : annotation->second;
  if (given == hash) return planCascade(names, hash);
  if (auto former = confirmationIn(hold_, *facts_.content); former && !former->required) {
    const std::set<std::string> frozen(former->children.begin(), former->children.end());
    const bool isOfThese =
        std::ranges::all_of(names, [&](const std::string& name) { return frozen.contains(name); });
    if (isOfThese && given == confirmationHash(former->children))
      return planCascade(std::move(former->children), given);
  }
  const std::string message = filled(hold_.words.pendingMessage, childResources(names.size()));
  const auto count = static_cast<int64_t>(names.size());
  show(hold_.status.pending, hold_.words.isPending, message, Confirmation{true, hash, names, count, message});
  tell(false, hold_.words.isPending, message + "; set annotation " + hold_.confirmAnnotation + " to " + hash);
  plan_.lookAgain = hold_.lookAgain;
}

void Planner::planCascade(std::vector<std::string> frozen, const std::string& hash) {
  std::string message = remaining(facts_.children.size(), frozen.size());
  for (const HeldChild& child : facts_.children) {
    if (!child.terminates) plan_.deleteChildren.push_back(child);
    if (!child.obstacle.empty()) message += "; " + nameOf(child) + " stays: " + child.obstacle;
  }
  const auto count = static_cast<int64_t>(facts_.children.size());
  show(hold_.status.deleting, hold_.words.isCascading, message,
       Confirmation{false, hash, std::move(frozen), count, message});
  tell(false, hold_.words.isCascading, message);
  if (!meta_.deletionTimestamp) begin();
  plan_.lookAgain = hold_.lookAgain;
}

void Planner::planExternal() {
  using State = ExternalReport::State;
  if (!hold_.hasExternalStep()) return letGo();
  const std::string word(hold_.external->of(meta_, *facts_.content));
  if (std::ranges::find(hold_.external->allowed, word) == hold_.external->allowed.end()) {
    if (isForced_) return letGo("Deleted by force without external deletion: " + badWord(word));
    return planBlocked(kBadWord, "Deletion blocked: " + badWord(word));
  }
  const ExternalReport report = externalReportIn(*hold_.external->reportedBy, word, meta_, *facts_.content);
  if (report.state == State::Done) return letGo();
  if (isForced_ && report.state == State::Failed)
    return letGo("Deleted by force though external deletion did not succeed: " + report.message);
  if (isForced_ && facts_.awaited >= hold_.retryAfter)
    return letGo("Deleted by force without external deletion, which nobody reported: " + report.message);
  awaitReport(word, report);
}

void Planner::awaitReport(const std::string& word, const ExternalReport& report) {
  plan_.awaitedWord = word;
  plan_.lookAgain =
      isForced_ ? std::min(hold_.retryAfter, hold_.retryAfter - facts_.awaited) : hold_.retryAfter;
  if (report.state == ExternalReport::State::Failed) {
    const std::string message = withIgnored("External deletion (" + word + ") failed: " + report.message);
    show(hold_.status.blocked, kExternalFailed, message);
    return tell(true, kExternalFailed, message);
  }
  const std::string message = withIgnored("External deletion (" + word + ") is awaited: " + report.message);
  show(hold_.status.deleting, kExternalPending, message, endOfCascade());
  plan_.asksOutside = isNewReason_;
  tell(false, kExternalPending, message);
}

std::string Planner::badWord(std::string_view word) const {
  return "the deletion policy is " + kube::inQuotes(std::string(word)) + ", not one of " +
         namedFirst(hold_.external->allowed);
}

std::string Planner::whyForced(const std::string& withoutExternal) const {
  if (facts_.protectedBy) return "Deleted by force though protected: " + *facts_.protectedBy;
  if (!withoutExternal.empty()) return withoutExternal;
  return "Deleted by force after its children: " +
         namedFirst(confirmationIn(hold_, *facts_.content)->children);
}

// Children went since a user confirmed that.
bool Planner::hasCascaded() const {
  const auto confirmation = confirmationIn(hold_, *facts_.content);
  return confirmation && !confirmation->required;
}

// A cascade ends with the number of children that remain: none.
std::optional<Confirmation> Planner::endOfCascade() const {
  auto confirmation = confirmationIn(hold_, *facts_.content);
  if (!confirmation) return std::nullopt;
  confirmation->required = false;
  confirmation->remainingCount = 0;
  confirmation->message = remaining(0, confirmation->children.size());
  return confirmation;
}

// `withoutExternal`: force alone goes past the external step, and why; empty: it is done, or there is none.
void Planner::letGo(const std::string& withoutExternal) {
  if (auto confirmation = endOfCascade();
      confirmation && confirmation != confirmationIn(hold_, *facts_.content)) {
    const std::string message = confirmation->message;
    show(hold_.status.deleting, hold_.words.isCascading, message, std::move(confirmation));
  }
  endHold();
  plan_.isForced = isForced_ && (facts_.protectedBy || !withoutExternal.empty() || hasCascaded());
  if (plan_.isForced) {
    isNews_ = true;
    tell(true, kForced, whyForced(withoutExternal));
  }
}

void Planner::endHold() {
  plan_.removeFinalizer = true;
  plan_.release = facts_.releasable;
}

void Planner::show(const std::string& phase, const std::string& reason, const std::string& message,
                   std::optional<Confirmation> confirmation) {
  StatusChange change = statusChange(
      hold_, *facts_.content, HoldStanding{phase, reason, message, std::move(confirmation)}, facts_.now);
  plan_.statusPatch = std::move(change.patch);
  isNews_ = change.isNews;
  isNewReason_ = change.isNewReason;
}

void Planner::tell(bool isWarning, const std::string& reason, const std::string& message) {
  if (isWarning ? isNews_ : isNewReason_) plan_.events.push_back({isWarning, reason, message});
}

std::string Planner::filled(const std::string& text, const std::string& reason) const {
  Request request;
  request.object = facts_.key;
  request.kind = facts_.kind;
  return filledIn(text, request, reason);
}

}  // namespace

std::string childName(const DeletionPolicy& policy, std::string_view namespaceName, const HeldChild& child) {
  const kube::GroupResource& type = child.key.type;
  const auto isLike = [&](const ChildrenTest& test) {
    return test.type.resource == type.resource && test.type.group != type.group;
  };
  std::string name = child.kind;
  if (std::ranges::any_of(policy.when,
                          [&](const Case& one) { return std::ranges::any_of(one.children, isLike); }))
    name += "." + type.group;
  const std::string& space = child.key.namespaceName;
  if (!space.empty() && space != namespaceName) name += "/" + space;
  return name + "/" + child.key.name;
}

HoldPlan planHold(const DeletionPolicy& policy, const HoldFacts& facts) {
  return Planner(policy, facts).plan();
}

HoldPlan planRelease(const HoldFacts& facts) {
  HoldPlan plan;
  plan.release = facts.releasable;
  return plan;
}

}  // namespace lastout::protection
