#include "replay/replay.h"

#include <algorithm>

#include "replay/goal.h"

namespace lastout::replay {

using cluster::Action;
using std::chrono::milliseconds;

Replayer::Replayer(const Compiled& compiled)
    : compiled_(compiled), machine_(compiled.model), initial_(machine_.initial()) {}

// In written order steps are sent in the order of the scenario's steps; those that came from one step go in
// any order.
bool Replayer::mayBeSent(const Run& run, uint32_t step, uint32_t turn) const {
  const WatchedEvent& after = compiled_.sendAfter[step];
  if (after.slot != cluster::kNone && !run.first(after.slot, after.kind).happened()) return false;
  return run.options.order == Order::Random || compiled_.model.steps[step].document == turn;
}

// The scenario's step whose turn it is: the first of which something has not been sent.
uint32_t Replayer::turn(cluster::StateRef state) const {
  const std::vector<cluster::ClientStep>& steps = compiled_.model.steps;
  for (uint32_t i = 0; i < steps.size(); ++i) {
    if (!state.step(i).sent) return steps[i].document;
  }
  return cluster::kNone;
}

bool Replayer::isFirstSend(const Action& action, cluster::StateRef state) const {
  return action.kind == Action::Kind::Send && !state.step(action.a).sent;
}

// Brings pending_ up to date with what is possible now. What was possible before keeps its time.
void Replayer::refresh(Run& run) {
  const cluster::StateRef state(run.state.data(), machine_.layout());
  enabled_.clear();
  machine_.enabled(state, enabled_);
  std::swap(former_, pending_);
  pending_.clear();
  const uint32_t turnNow = turn(state);
  size_t from = 0;  // both lists are in the machine's order, so this mostly finds its action at once
  for (const Action& action : enabled_) {
    const bool first = isFirstSend(action, state);
    if (first && !mayBeSent(run, action.a, turnNow)) continue;
    size_t at = from;
    while (at < former_.size() && !(former_[at].action == action)) ++at;
    if (at == former_.size()) {
      pending_.push_back(schedule(run, state, action));
      continue;
    }
    pending_.push_back(former_[at]);
    from = at + 1;
    if (isWoken(action)) pending_.back().wake(now_, machine_.delay(state, action, 0));
  }
}

Replayer::Pending Replayer::schedule(const Run& run, cluster::StateRef state, const Action& action) const {
  Pending pending;
  pending.action = action;
  if (isFirstSend(action, state)) {
    const milliseconds written =
        run.options.order == Order::Random ? milliseconds{0} : compiled_.model.steps[action.a].at;
    pending.due = std::max(now_, written);
    return pending;
  }
  // A client that sends its step once more was denied before, and waits as after any denial.
  pending.attempt = action.kind == Action::Kind::Send ? 1 : 0;
  pending.due = now_ + machine_.delay(state, action, pending.attempt);
  return pending;
}

bool Replayer::isWoken(const Action& action) const {
  if (changedAt_ != number_ || !cluster::isWokenByChange(action)) return false;
  return std::any_of(events_.begin(), events_.end(),
                     [&](const cluster::ClusterEvent& event) { return machine_.isWokenBy(action, event); });
}

// Every possible action has been refused since the last change, so nothing will ever happen.
bool Replayer::settled() const {
  return std::all_of(pending_.begin(), pending_.end(),
                     [&](const Pending& pending) { return pending.triedAt > changedAt_; });
}

size_t Replayer::choose(const RunOptions& options, Random& random) const {
  if (options.order == Order::Random) return random.below(static_cast<uint32_t>(pending_.size()));
  return static_cast<size_t>(std::min_element(pending_.begin(), pending_.end(), cluster::isDueBefore) -
                             pending_.begin());
}

void Replayer::record(Run& run, const Action& action, std::vector<Happening>* log) {
  const cluster::StateRef state(run.state.data(), machine_.layout());
  for (const cluster::ClusterEvent& event : events_) {
    ++sequence_;
    First& first = run.firsts[event.slot * Run::kEventKinds + static_cast<size_t>(event.kind)];
    const bool counts = event.kind != cluster::EventKind::Denied || cluster::isDenial(compiled_.model, event);
    if (!first.happened() && counts) first = {now_.count(), sequence_};
    if (log == nullptr) continue;
    log->push_back({now_, event, action, number_, state.object(event.slot), {}});
    if (event.kind == cluster::EventKind::Denied) log->back().state = share(run.state);
  }
}

// Nothing changes between most denials: all of them share one copy.
const SharedState& Replayer::share(const std::vector<uint64_t>& state) {
  if (!shared_ || *shared_ != state) shared_ = std::make_shared<const std::vector<uint64_t>>(state);
  return shared_;
}

void Replayer::perform(size_t index, Run& run, std::vector<Happening>* log) {
  Pending pending = pending_[index];
  now_ = std::max(now_, pending.due);
  ++number_;
  before_ = run.state;
  events_.clear();
  const cluster::StateRef state(run.state.data(), machine_.layout());
  machine_.apply(state, pending.action, &events_);
  record(run, pending.action, log);
  const bool changed = before_ != run.state;
  if (changed) {
    changedAt_ = number_;
    run.time = now_;
    pending_.erase(pending_.begin() + static_cast<ptrdiff_t>(index));
    if (!goalHolds(compiled_, state))
      run.goalAt.reset();
    else if (!run.goalAt)
      run.goalAt = run.time;
    return;
  }
  pending.triedAt = number_;
  pending.postpone(now_, machine_.retryDelay(state, pending.action, pending.attempt + 1));
  pending_[index] = pending;
}

void Replayer::run(const RunOptions& options, Run& run, std::vector<Happening>* log) {
  run.options = options;
  run.end = End::Undecided;
  run.state = initial_;
  run.time = milliseconds{0};
  run.goalAt.reset();
  run.firsts.assign(compiled_.model.slots.size() * Run::kEventKinds, First{});
  pending_.clear();
  now_ = milliseconds{0};
  events_.clear();
  number_ = changedAt_ = sequence_ = 0;
  Random random(options.seed);
  const cluster::StateRef state(run.state.data(), machine_.layout());
  if (goalHolds(compiled_, state)) run.goalAt = run.time;
  for (refresh(run); number_ < options.maxActions; refresh(run)) {
    if (settled()) {
      run.end = goalHolds(compiled_, state) ? End::Empty : End::Stuck;
      break;
    }
    const size_t next = choose(options, random);
    if (options.order == Order::Written && pending_[next].due > options.horizon) break;
    perform(next, run, log);
  }
  run.actions = number_;
  run.unsafe = (state.monitors() & cluster::kUnsafeBit) != 0;
}

}  // namespace lastout::replay
