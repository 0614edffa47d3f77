#include "prove/reach.h"

#include <algorithm>
#include <limits>

namespace lastout::prove {
namespace {

constexpr uint32_t kUnseen = std::numeric_limits<uint32_t>::max();

bool leadsTo(const Exploration& found, uint32_t state, const std::vector<bool>& marked) {
  for (uint32_t e = found.edgeBegin(state); e < found.edgeEnd(state); e++) {
    if (marked[*found.edges[e]]) {
      return true;
    }
  }
  return false;
}

// The edges into each state from states that are not marked.
struct Backward {
  Backward(const Exploration& found, const std::vector<bool>& marked) : begin(found.states.size() + 1) {
    forEach(found, marked, [&](uint32_t, uint32_t to) { begin[to + 1]++; });
    for (size_t i = 1; i < begin.size(); i++) {
      begin[i] += begin[i - 1];
    }
    sources.resize(begin.back());
    std::vector<uint32_t> next(begin.begin(), begin.end() - 1);
    forEach(found, marked, [&](uint32_t from, uint32_t to) { sources[next[to]++] = from; });
  }

  template <class Visit>
  static void forEach(const Exploration& found, const std::vector<bool>& marked, Visit visit) {
    for (uint32_t from = 0; from < found.expanded(); from++) {
      for (uint32_t e = found.edgeBegin(from); !marked[from] && e < found.edgeEnd(from); e++) {
        visit(from, *found.edges[e]);
      }
    }
  }

  std::vector<uint32_t> begin;
  std::vector<uint32_t> sources;
};

// Strongly connected components by Tarjan's algorithm with a stack of its own, over what its roots can reach.
// The first component to be finished that a breadth-first walk meets is not enough: we want the nearest that
// cannot be left, so all are found first.
class StrongComponents {
 public:
  // `onClosed`: is called with each component that nothing leads out of; nullptr: nobody asks.
  explicit StrongComponents(const Exploration& found, const OnEnd* onClosed = nullptr)
      : found_(found),
        onClosed_(onClosed),
        order_(found.states.size(), kUnseen),
        low_(found.states.size()),
        component_(found.states.size(), kUnseen) {}

  // Adds what `root` can reach, unless that was added before.
  void add(uint32_t root) {
    if (order_[root] == kUnseen) walk(root);
  }

  uint32_t of(uint32_t state) const { return component_[state]; }
  // Nothing leads out of it.
  bool closed(uint32_t component) const { return closed_[component]; }

 private:
  struct Frame {
    uint32_t state;
    uint32_t edge;
  };

  void walk(uint32_t root) {
    enter(root);
    while (!frames_.empty()) {
      Frame& frame = frames_.back();
      const uint32_t state = frame.state;
      if (frame.edge == found_.edgeEnd(state)) {
        leave(state);
        continue;
      }
      const uint32_t to = *found_.edges[frame.edge++];
      if (order_[to] == kUnseen) {
        enter(to);
      } else if (component_[to] == kUnseen) {
        low_[state] = std::min(low_[state], order_[to]);
      }
    }
  }

  void enter(uint32_t state) {
    order_[state] = low_[state] = entered_++;
    open_.push_back(state);
    frames_.push_back({state, found_.edgeBegin(state)});
  }

  void leave(uint32_t state) {
    frames_.pop_back();
    if (!frames_.empty()) {
      const uint32_t above = frames_.back().state;
      low_[above] = std::min(low_[above], low_[state]);
    }
    if (low_[state] != order_[state]) {
      return;
    }
    const auto number = static_cast<uint32_t>(closed_.size());
    const auto first = std::find(open_.rbegin(), open_.rend(), state).base() - 1;
    bool closed = true;
    for (auto member = first; member != open_.end(); ++member) {
      component_[*member] = number;
    }
    for (auto member = first; member != open_.end(); ++member) {
      for (uint32_t e = found_.edgeBegin(*member); e < found_.edgeEnd(*member); e++) {
        closed = closed && component_[*found_.edges[e]] == number;
      }
    }
    if (closed && onClosed_ != nullptr) {
      std::vector<uint32_t> members(first, open_.end());
      std::ranges::sort(members);
      (*onClosed_)(members);
    }
    open_.erase(first, open_.end());
    closed_.push_back(closed);
  }

  const Exploration& found_;
  const OnEnd* onClosed_;
  std::vector<uint32_t> order_;  // in which states were entered
  std::vector<uint32_t> low_;
  std::vector<uint32_t> component_;
  std::vector<uint32_t> open_;
  std::vector<Frame> frames_;
  std::vector<bool> closed_;
  uint32_t entered_ = 0;
};

}  // namespace

std::vector<bool> canReachGoal(const Exploration& found) {
  std::vector<bool> can = found.goal;
  for (uint32_t state = found.expanded(); state < found.states.size(); state++) {
    can[state] = true;
  }
  // Most edges lead to higher numbers, so one pass from the end settles nearly every state; the rest is
  // walked backwards from what is settled.
  for (uint32_t state = found.expanded(); state-- > 0;) {
    can[state] = can[state] || leadsTo(found, state, can);
  }
  const Backward backward(found, can);
  std::vector<uint32_t> reached;
  for (uint32_t state = 0; state < found.states.size(); state++) {
    if (can[state] && backward.begin[state] != backward.begin[state + 1]) {
      reached.push_back(state);
    }
  }
  while (!reached.empty()) {
    const uint32_t state = reached.back();
    reached.pop_back();
    for (uint32_t i = backward.begin[state]; i < backward.begin[state + 1]; i++) {
      if (!can[backward.sources[i]]) {
        can[backward.sources[i]] = true;
        reached.push_back(backward.sources[i]);
      }
    }
  }
  return can;
}

std::vector<uint32_t> distancesToGoal(const Exploration& found) {
  const Backward backward(found, std::vector<bool>(found.states.size()));
  std::vector<uint32_t> distances(found.states.size(), kUnseen);
  std::vector<uint32_t> queue;
  for (uint32_t state = 0; state < found.states.size(); state++) {
    if (found.goal[state]) {
      distances[state] = 0;
      queue.push_back(state);
    }
  }
  for (size_t i = 0; i < queue.size(); i++) {
    for (uint32_t e = backward.begin[queue[i]]; e < backward.begin[queue[i] + 1]; e++) {
      uint32_t& distance = distances[backward.sources[e]];
      if (distance == kUnseen) {
        distance = distances[queue[i]] + 1;
        queue.push_back(backward.sources[e]);
      }
    }
  }
  return distances;
}

std::optional<uint32_t> firstDoomed(const std::vector<bool>& canReach) {
  const auto first = std::find(canReach.begin(), canReach.end(), false);
  if (first == canReach.end()) {
    return std::nullopt;
  }
  return static_cast<uint32_t>(first - canReach.begin());
}

void eachEndWithoutGoal(const Exploration& found, const std::vector<bool>& canReach, const OnEnd& onEnd) {
  StrongComponents components(found, &onEnd);
  for (uint32_t state = 0; state < found.states.size(); state++) {
    if (!canReach[state]) {
      components.add(state);
    }
  }
}

std::vector<uint32_t> reachableFrom(const Exploration& found, uint32_t state) {
  std::vector<bool> seen(found.states.size());
  std::vector<uint32_t> queue{state};
  seen[state] = true;
  for (size_t i = 0; i < queue.size(); i++) {
    for (uint32_t e = found.edgeBegin(queue[i]); e < found.edgeEnd(queue[i]); e++) {
      const uint32_t to = *found.edges[e];
      if (!seen[to]) {
        seen[to] = true;
        queue.push_back(to);
      }
    }
  }
  return queue;
}

std::vector<uint32_t> wayTo(const Exploration& found, uint32_t state) {
  std::vector<uint32_t> way{state};
  while (way.back() != 0) {
    way.push_back(*found.parents[way.back()]);
  }
  std::reverse(way.begin(), way.end());
  return way;
}

Trap trapFrom(const Exploration& found, uint32_t doomed) {
  StrongComponents components(found);
  components.add(doomed);
  std::vector<uint32_t> cameFrom(found.states.size(), kUnseen);
  std::vector<uint32_t> queue{doomed};
  cameFrom[doomed] = doomed;
  for (size_t i = 0; !components.closed(components.of(queue[i])); i++) {
    for (uint32_t e = found.edgeBegin(queue[i]); e < found.edgeEnd(queue[i]); e++) {
      const uint32_t to = *found.edges[e];
      if (cameFrom[to] == kUnseen) {
        cameFrom[to] = queue[i];
        queue.push_back(to);
      }
    }
  }
  Trap trap;
  trap.doomed = doomed;
  uint32_t state = *std::find_if(queue.begin(), queue.end(),
                                 [&](uint32_t s) { return components.closed(components.of(s)); });
  const uint32_t component = components.of(state);
  for (uint32_t s = 0; s < found.states.size(); s++) {
    if (components.of(s) == component) {
      trap.end.push_back(s);
    }
  }
  for (; state != doomed; state = cameFrom[state]) {
    trap.onward.push_back(state);
  }
  trap.onward.push_back(doomed);
  std::reverse(trap.onward.begin(), trap.onward.end());
  return trap;
}

}  // namespace lastout::prove
