// One writer that goes on while several readers look at snapshots; for the thread sanitizer, and for what
// they see.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "graph/algorithms.h"
#include "graph/dump.h"
#include "tests/graph/cluster.h"

namespace lastout::graph::test {
namespace {

// A snapshot, and what is true of it.
struct Expected {
  Graph graph;
  ConditionId condition;
  uint32_t carriers = 0;
};

class Mailbox {
 public:
  void put(Expected expected) {
    {
      const std::lock_guard lock(mutex_);
      waiting_.push_back(std::move(expected));
    }
    changed_.notify_one();
  }
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }
  std::optional<Expected> take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
    if (waiting_.empty()) return std::nullopt;
    Expected expected = std::move(waiting_.front());
    waiting_.pop_front();
    return expected;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Expected> waiting_;
  bool closed_ = false;
};

void read(const Expected& expected, std::atomic<uint32_t>& wrong) {
  const Graph& graph = expected.graph;
  uint32_t carriers = 0;
  for (uint32_t i = 0; i < graph.objectSlots(); ++i) {
    if (!graph.isPresent(ObjectId{i})) continue;
    for (const std::string_view finalizer : graph.finalizers(ObjectId{i}))
      carriers += finalizer == "f" ? 1 : 0;
    if (graph.find(graph.key(ObjectId{i})) != ObjectId{i}) ++wrong;
  }
  if (carriers != expected.carriers || graph.holders(expected.condition) != carriers) ++wrong;
  if (components(graph).of.size() != vertexCount(graph)) ++wrong;
  if (dumpJson(graph, {.focus = {}, .depth = 0, .limit = 5, .namespaceName = {}, .note = {}, .verdict = {}})
          .empty())
    ++wrong;
  const Graph copy = graph;  // readers may copy and change what they have been given
  if (copy.holders(expected.condition) != expected.carriers) ++wrong;
}

TEST(SnapshotThreads, ReadersSeeWhatWasTrueWhileTheWriterGoesOn) {
  Mailbox mailbox;
  std::atomic<uint32_t> wrong = 0;
  std::vector<std::thread> readers;
  readers.reserve(3);
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (const std::optional<Expected> expected = mailbox.take()) read(*expected, wrong);
    });
  }
  Cluster cluster;
  const ConditionId condition = cluster.after("deployments.apps/a/d", finalizerCondition("pods", "f"));
  std::vector<bool> carries(2000, false);
  uint32_t carriers = 0;
  for (uint32_t step = 0; step < 6000; ++step) {
    const uint32_t number = step * 7919 % 2000;
    const std::string name = "pods/n" + std::to_string(number % 10) + "/pod-" + std::to_string(number);
    const bool carry = step % 3 != 0;
    if (step % 5 == 4) {
      cluster.remove(name);
    } else {
      cluster.put(name, {.uid = name, .finalizers = {carry ? "f" : "g"}, .ownerUids = {"pods/n0/pod-0"}});
    }
    const bool now = carry && step % 5 != 4;
    carriers += static_cast<uint32_t>(now) - static_cast<uint32_t>(carries[number]);
    carries[number] = now;
    if (step % 100 == 99) mailbox.put({cluster.graph.snapshot(), condition, carriers});
  }
  mailbox.close();
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0u);
}

// The last reader drops its handle and at once the writer, alone again, writes to the chunk that was read.
TEST(SnapshotThreads, WriterReusesAChunkAsSoonAsItsLastReaderLeft) {
  std::atomic<uint32_t> wrong = 0;
  Cluster cluster;
  const ConditionId condition = cluster.after("deployments.apps/a/d", finalizerCondition("pods", "f"));
  for (uint32_t round = 0; round < 300; ++round) {
    cluster.put("pods/a/x", {.finalizers = {round % 2 == 0 ? "f" : "g"}});
    std::thread reader([snapshot = cluster.graph.snapshot(), condition, round, &wrong] {
      if (snapshot.holders(condition) != (round % 2 == 0 ? 1 : 0)) ++wrong;
    });
    for (int i = 0; i < 20; ++i) cluster.put("pods/a/x", {.finalizers = {i % 2 == 0 ? "f" : "h"}});
    reader.join();
  }
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace lastout::graph::test
