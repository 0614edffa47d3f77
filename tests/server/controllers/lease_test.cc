// Who holds a Lease, in virtual time: each candidate has a clock of its own, and one Lease is between them.
// The elections of two, a and b, are dialogues (dialogues/lease-*.txt):
//
//   live SECONDS           both act each second, a first: who begins to hold the Lease, and who ceases to,
//   when kill NAME              it acts no more end NAME               it ends in an orderly way away, back
//   the API server answers nobody, and again show                   the Lease as it stands
#include "server/controllers/lease.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>

#include "tests/support/dialogue.h"
#include "tests/support/scripted_cluster.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Action = LeaseElection::Action;
using ElectionJson = nlohmann::json;

const WallTime kNoon{std::chrono::microseconds(1'760'000'000'000'007)};

// What an API server keeps, with optimistic concurrency.
struct LeaseStore {
  std::optional<Lease> lease;
  int version = 0;
  bool away = false;  // nobody gets an answer

  // Whether it was written.
  bool write(Lease changed) {
    if ((lease ? lease->resourceVersion : "") != changed.resourceVersion) return false;
    changed.resourceVersion = std::to_string(++version);
    lease = std::move(changed);
    return true;
  }
};

class Candidate {
 public:
  Candidate(LeaseStore& store, const std::string& name, double random = 0)
      : store_(store), election(name, {}, [random] { return random; }) {}

  // One exchange, or none when there is to be waited; whether there was one.
  bool act() {
    const LeaseElection::NextAction step = election.next(now, kNoon);
    if (step.action == Action::Wait) return false;
    if (store_.away) {
      election.failed(now);
    } else if (step.action == Action::Read) {
      election.saw(store_.lease, now);
    } else if (store_.write(step.lease)) {
      election.wrote(*store_.lease, now);
    } else {
      election.refused(now);
    }
    return true;
  }
  void actUntilItWaits() {
    while (act()) {
    }
  }
  // Its clock goes on, and it acts each second.
  void live(seconds time) {
    for (seconds lived(0); lived < time; lived += seconds(1)) {
      now += seconds(1);
      actUntilItWaits();
    }
  }
  bool holds() const { return election.holds(now); }

 private:
  LeaseStore& store_;

 public:
  LeaseElection election;
  TimePoint now{seconds(1'000)};
};

class LeaseElectionTest : public ::testing::Test {
 public:
  void liveBoth(seconds time) {
    for (seconds lived(0); lived < time; lived += seconds(1)) {
      a.live(seconds(1));
      b.live(seconds(1));
      EXPECT_FALSE(a.holds() && b.holds());
    }
  }

  LeaseStore store;
  Candidate a{store, "a"};
  Candidate b{store, "b"};
};

TEST_F(LeaseElectionTest, TheFirstOneHasItAndRenewsIt) {
  a.actUntilItWaits();
  EXPECT_TRUE(a.holds());
  EXPECT_EQ(store.lease->holder, "a");
  EXPECT_EQ(store.lease->duration, seconds(15));
  EXPECT_EQ(store.lease->transitions, 0);
  EXPECT_EQ(store.lease->acquired, "2025-10-09T08:53:20.000007Z");
  b.now += seconds(500);
  liveBoth(seconds(60));
  EXPECT_TRUE(a.holds());
  EXPECT_EQ(store.version, 31) << "renewed every two seconds";
}

// It does so without looking first; a look says no more than a refusal.
TEST_F(LeaseElectionTest, RenewsInOneExchange) {
  a.actUntilItWaits();
  a.now += seconds(2);
  EXPECT_EQ(a.election.next(a.now, kNoon).action, Action::Write);
}

TEST_F(LeaseElectionTest, IsTakenOverWhenItIsNotRenewed) {
  a.actUntilItWaits();
  b.actUntilItWaits();
  b.live(seconds(14));
  EXPECT_FALSE(b.holds());
  b.live(seconds(3));
  EXPECT_TRUE(b.holds());
  EXPECT_EQ(store.lease->transitions, 1);
  a.now += seconds(17);
  EXPECT_FALSE(a.holds());
  a.live(seconds(5));
  EXPECT_FALSE(a.holds()) << "it finds out";
}

// However its looks fall: the next one acts within the Lease's 15 s, and one more, of the holder's death.
TEST_F(LeaseElectionTest, IsTakenOverWithinASecondOfItsEnd) {
  for (const double random : {0.0, 0.5, 0.999}) {
    for (milliseconds late(0); late < seconds(2); late += milliseconds(70)) {
      LeaseStore shared;
      Candidate killed(shared, "killed");
      Candidate next(shared, "next", random);
      next.now += late;  // their clocks go on together, and agree on nothing else
      const auto liveOn = [&next](milliseconds time) {
        for (milliseconds lived(0); lived < time; lived += milliseconds(10)) {
          next.now += milliseconds(10);
          next.actUntilItWaits();
        }
      };
      killed.actUntilItWaits();
      liveOn(late);
      killed.now += seconds(2);
      killed.actUntilItWaits();
      liveOn(seconds(15));
      EXPECT_FALSE(next.holds());
      liveOn(seconds(1));
      EXPECT_TRUE(next.holds()) << random << ", " << late.count() << " ms";
    }
  }
}

// It gives up well before another may think that it did.
TEST_F(LeaseElectionTest, WhoCannotRenewHoldsItNoLonger) {
  a.actUntilItWaits();
  b.actUntilItWaits();
  store.away = true;
  a.live(seconds(9));
  EXPECT_TRUE(a.holds());
  a.live(seconds(1));
  EXPECT_FALSE(a.holds());
  store.away = false;
  a.live(seconds(2));
  EXPECT_TRUE(a.holds()) << "it was nobody else's meanwhile";
  EXPECT_EQ(store.lease->transitions, 0);
}

// Its clock says that the Lease expired long ago; but it was renewed, as the next look tells.
TEST_F(LeaseElectionTest, AClockThatJumpsTakesNothingOver) {
  a.actUntilItWaits();
  b.actUntilItWaits();
  a.live(seconds(4));
  b.now += std::chrono::hours(1);
  b.actUntilItWaits();
  EXPECT_FALSE(b.holds());
  EXPECT_TRUE(a.holds());
  a.now += std::chrono::hours(1);
  EXPECT_FALSE(a.holds());
  a.actUntilItWaits();
  EXPECT_TRUE(a.holds());
}

// One is held up between its look and its write.
TEST_F(LeaseElectionTest, ALateWriteIsRefused) {
  a.actUntilItWaits();
  b.actUntilItWaits();
  a.now += seconds(2);
  a.actUntilItWaits();
  b.now += seconds(2);
  EXPECT_TRUE(b.act()) << "it looks";
  a.now += seconds(2);
  a.actUntilItWaits();
  b.now += seconds(16);
  EXPECT_TRUE(b.act()) << "and writes, over what is no longer so";
  EXPECT_FALSE(b.holds());
  EXPECT_EQ(store.lease->holder, "a");
  b.live(seconds(14));
  EXPECT_FALSE(b.holds()) << "it counts from the change that it saw last";
}

TEST_F(LeaseElectionTest, OfTwoThatTakeItOverOneIsRefused) {
  store.write({"", "gone", seconds(15), "", "", 3});
  a.actUntilItWaits();
  b.actUntilItWaits();
  a.now += seconds(20);
  b.now += seconds(20);
  EXPECT_TRUE(a.act());
  EXPECT_TRUE(b.act());
  a.act();
  b.act();
  EXPECT_TRUE(a.holds());
  EXPECT_FALSE(b.holds());
  EXPECT_EQ(store.lease->transitions, 4);
  liveBoth(seconds(30));
  EXPECT_TRUE(a.holds());
}

// The answer to a renewal was lost: the next one is refused, and the Lease is its own all the same.
TEST_F(LeaseElectionTest, AnAnswerThatWasLostCostsNothing) {
  a.actUntilItWaits();
  a.now += seconds(2);
  EXPECT_TRUE(store.write(a.election.next(a.now, kNoon).lease));
  a.election.failed(a.now);
  a.live(seconds(4));
  EXPECT_TRUE(a.holds());
  EXPECT_EQ(store.lease->transitions, 0);
}

TEST_F(LeaseElectionTest, IsFreeWhenItIsReleased) {
  a.actUntilItWaits();
  b.actUntilItWaits();
  EXPECT_FALSE(b.election.release(kNoon)) << "it is not his";
  ASSERT_TRUE(store.write(*a.election.release(kNoon)));
  EXPECT_FALSE(a.holds());
  EXPECT_EQ(store.lease->holder, "");
  b.live(seconds(2));
  EXPECT_TRUE(b.holds());
  EXPECT_EQ(store.lease->transitions, 1);
}

TEST_F(LeaseElectionTest, IsMadeAnewWhenSomebodyDeletesIt) {
  a.actUntilItWaits();
  store.lease.reset();
  a.live(seconds(5));
  EXPECT_TRUE(a.holds());
  EXPECT_EQ(store.lease->holder, "a");
}

TEST_F(LeaseElectionTest, SomebodyElsesHandIsRespected) {
  a.actUntilItWaits();
  Lease other = *store.lease;
  other.holder = "somebody";
  store.write(other);
  a.live(seconds(4));
  EXPECT_FALSE(a.holds());
  EXPECT_EQ(store.lease->holder, "somebody");
}

class LeaseDialogue {
 public:
  std::string answer(const testing::DialogueStep& step) {
    std::istringstream words(step.command);
    const std::string command = testing::wordOf(words);
    const std::string rest = testing::wordOf(words);
    if (command == "live") return live(seconds(std::stoi(rest)));
    if (command == "show") return show();
    if (command == "kill") living_.erase(rest);
    if (command == "end") end(rest);
    if (command == "away" || command == "back") store_.away = command == "away";
    return "";
  }

 private:
  std::string live(seconds time) {
    std::string said;
    for (const seconds until = now_ + time; now_ < until;) {
      now_ += seconds(1);
      for (auto& [name, candidate] : living_) {
        candidate.live(seconds(1));
        if (std::exchange(held_[name], candidate.holds()) == held_[name]) continue;
        said += std::to_string(now_.count()) + " s: " + name +
                (held_[name] ? " holds it" : " holds it no longer") + "\n";
      }
    }
    return said.empty() ? "nothing\n" : said;
  }
  std::string show() const {
    if (!store_.lease) return "none\n";
    const Lease& lease = *store_.lease;
    return "holder " + (lease.holder.empty() ? "nobody" : lease.holder) + ", " +
           std::to_string(lease.duration.count()) + " s, transitions " + std::to_string(lease.transitions) +
           "\n";
  }
  void end(const std::string& name) {
    if (const auto free = living_.at(name).election.release(kNoon)) store_.write(*free);
    living_.erase(name);
  }

  LeaseStore store_;
  seconds now_{0};
  std::map<std::string, Candidate> living_{{"a", Candidate(store_, "a")}, {"b", Candidate(store_, "b")}};
  std::map<std::string, bool> held_;
};

class LeaseDialogues : public ::testing::TestWithParam<std::string> {};

TEST_P(LeaseDialogues, GoAsWritten) {
  LeaseDialogue dialogue;
  testing::playDialogue(GetParam(), [&](const testing::DialogueStep& step) { return dialogue.answer(step); });
}

INSTANTIATE_TEST_SUITE_P(Server, LeaseDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "lease-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

kube::Result<Lease> leaseOf(const std::string& text) {
  return readLease(kube::fromJson(ElectionJson::parse(text)));
}

TEST(Lease, IsReadAndWritten) {
  const auto lease =
      leaseOf(R"({"kind":"Lease","metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":"x",
    "leaseDurationSeconds":15,"acquireTime":"A","renewTime":"R","leaseTransitions":2}})");
  ASSERT_TRUE(lease);
  const auto request = requestToWrite(*lease, "n", "l");
  EXPECT_EQ(request.method, "PATCH");
  EXPECT_EQ(request.target, "/apis/coordination.k8s.io/v1/namespaces/n/leases/l");
  EXPECT_EQ(ElectionJson::parse(request.body), ElectionJson::parse(R"({"apiVersion":"coordination.k8s.io/v1",
    "kind":"Lease","metadata":{"name":"l","namespace":"n","resourceVersion":"7"},"spec":{"holderIdentity":"x",
    "leaseDurationSeconds":15,"acquireTime":"A","renewTime":"R","leaseTransitions":2}})"));
  EXPECT_EQ(requestToWrite({}, "n", "l").method, "POST");
}

TEST(Lease, SaysHowItsHoldersProbesEnded) {
  auto lease = leaseOf(R"({"kind":"Lease","metadata":{"resourceVersion":"7",
    "annotations":{"lastout.dev/probes":"{\"https://a\":\"denied\"}","other":"x"}},"spec":{}})");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->probes, R"({"https://a":"denied"})");
  lease->probes = "{}";
  EXPECT_EQ(ElectionJson::parse(requestToWrite(*lease, "n", "l").body)["metadata"]["annotations"],
            ElectionJson({{"lastout.dev/probes", "{}"}}));
}

TEST(Lease, IsNotBelievedWhateverItSays) {
  EXPECT_FALSE(leaseOf(R"({"kind":"Status","metadata":{}})"));
  EXPECT_FALSE(leaseOf(R"({"kind":"Lease","metadata":{}})"));
  EXPECT_FALSE(leaseOf(R"([])"));
  const auto lease = leaseOf(R"({"kind":"Lease","metadata":{"resourceVersion":"7"},"spec":{"holderIdentity":3,
    "leaseDurationSeconds":9000000000000000000,"leaseTransitions":-1}})");
  ASSERT_TRUE(lease);
  EXPECT_EQ(lease->holder, "");
  EXPECT_EQ(lease->duration, std::chrono::hours(1));
  EXPECT_EQ(lease->transitions, 0);
}

}  // namespace
}  // namespace lastout::server
