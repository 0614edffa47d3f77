// Events at a real API: one for each change, by the holder of the Lease, and never waited for.
#include "server/controllers/event_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "server/server.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::ServerWorld;
using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

constexpr const char* kEventsPath = "/api/v1/namespaces/default/events";
constexpr const char* kToldWebhook =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/lastout";

Json conditions(const std::vector<std::array<const char*, 3>>& all) {
  Json status = {{"conditions", Json::array()}};
  for (const auto& [type, value, reason] : all)
    status["conditions"].push_back(
        {{"type", type}, {"status", value}, {"reason", reason}, {"message", std::string("of ") + type}});
  return status;
}

// "Warning Stuck: of Stuck"
std::vector<std::string> told(const Json& before, const Json& after) {
  std::vector<std::string> texts;
  for (const Event& event : eventsOf("s", "u", before, after))
    texts.push_back((event.warning ? "Warning " : "Normal ") + event.reason + ": " + event.message);
  return texts;
}

TEST(Events, TellOfAPolicyThatIsNotUnderstoodOrNamesWhatIsNotThere) {
  const auto toldOfPolicy = [](const Json& before, const Json& after) {
    std::vector<std::string> texts;
    for (const Event& event : eventsOfPolicy("p", "u", before, after)) {
      EXPECT_EQ(event.kind, "DeletionPolicy");
      texts.push_back((event.warning ? "Warning " : "Normal ") + event.reason + ": " + event.message);
    }
    return texts;
  };
  const Json well = conditions({{"Accepted", "True", "Accepted"}, {"TypesKnown", "True", "Known"}});
  const Json worse =
      conditions({{"Accepted", "False", "NotUnderstood"}, {"TypesKnown", "False", "NotFound"}});
  EXPECT_THAT(toldOfPolicy(Json(), well), IsEmpty());
  EXPECT_THAT(toldOfPolicy(well, worse),
              ElementsAre("Warning NotUnderstood: of Accepted", "Warning TypesNotFound: of TypesKnown"));
  EXPECT_THAT(toldOfPolicy(Json(), worse), ::testing::SizeIs(2));
  EXPECT_THAT(toldOfPolicy(worse, worse), IsEmpty());
  EXPECT_THAT(toldOfPolicy(worse, well),
              ElementsAre("Normal Understood: of Accepted", "Normal TypesFound: of TypesKnown"));
  Json other = worse;
  other["conditions"][1]["message"] = "of another type";
  EXPECT_THAT(toldOfPolicy(worse, other), ElementsAre("Warning TypesNotFound: of another type"));
}

TEST(Events, TellWhatHasBecomeOfIt) {
  const Json well = conditions({{"Satisfied", "False", "CriterionUnmet"},
                                {"Enforced", "True", "ProbeDenied"},
                                {"Stuck", "False", "NothingBeingDeleted"}});
  EXPECT_THAT(told(Json(), well), ElementsAre("Normal Enforced: of Enforced"));
  EXPECT_THAT(told(well, well), IsEmpty());
  const Json worse = conditions({{"Satisfied", "True", "CriteriaMet"},
                                 {"Enforced", "False", "ProbeFailed"},
                                 {"Stuck", "True", "ProviderAbsent"}});
  EXPECT_THAT(told(well, worse), ElementsAre("Warning Stuck: of Stuck", "Normal Satisfied: of Satisfied",
                                             "Warning NotEnforced: of Enforced"));
  EXPECT_THAT(told(worse, well),
              ElementsAre("Normal NoLongerStuck: of Stuck", "Normal Enforced: of Enforced"));
  const Json alarming = conditions({{"Enforced", "False", "ProbeAllowed"}, {"Stuck", "True", "Cycle"}});
  EXPECT_THAT(told(worse, alarming),
              ElementsAre("Warning Stuck: of Stuck", "Warning NotEnforced: of Enforced"));
  EXPECT_THAT(told(alarming, conditions({{"Enforced", "Unknown", "WebhookNotManaged"}})), IsEmpty());
}

TEST(Events, TellOfAMisspeltFinalizer) {
  const Json unknown = conditions({{"NamesKnown", "Unknown", "FinalizerNotSeenYet"}});
  const Json misspelt = conditions({{"NamesKnown", "False", "FinalizerNeverSeen"}});
  const Json seen = conditions({{"NamesKnown", "True", "FinalizersSeen"}});
  for (const Json& before : {Json(), unknown, seen})
    EXPECT_THAT(told(before, misspelt), ElementsAre("Warning FinalizerNeverSeen: of NamesKnown"));
  EXPECT_THAT(told(misspelt, misspelt), IsEmpty());
  EXPECT_THAT(told(misspelt, seen), ElementsAre("Normal FinalizerSeen: of NamesKnown"));
  EXPECT_THAT(told(misspelt, unknown), IsEmpty());
  EXPECT_THAT(told(unknown, seen), IsEmpty());
  Json other = misspelt;
  other["conditions"][0]["message"] = "another";
  EXPECT_THAT(told(misspelt, other), ElementsAre("Warning FinalizerNeverSeen: another"));
}

TEST(Events, TellOfWhatIsNotUnderstood) {
  const Json well = conditions({{"Degraded", "False", "AllKnown"}});
  const Json unknown = conditions({{"Degraded", "True", "TypeForbidden"}});
  const Json meaningless = conditions({{"Degraded", "True", "NotUnderstood"}});
  EXPECT_THAT(told(well, unknown), IsEmpty());
  EXPECT_THAT(told(unknown, meaningless), ElementsAre("Warning NotUnderstood: of Degraded"));
  EXPECT_THAT(told(meaningless, meaningless), IsEmpty());
}

TEST(Events, TellOfTooManyDependencies) {
  const Json well = conditions({{"DependenciesKnown", "True", "Found"}});
  const Json tooMany = conditions({{"DependenciesKnown", "False", "TooMany"}});
  EXPECT_THAT(told(well, tooMany), ElementsAre("Warning TooManyDependencies: of DependenciesKnown"));
  EXPECT_THAT(told(tooMany, tooMany), IsEmpty());
  EXPECT_THAT(told(tooMany, well), IsEmpty());
}

TEST(Events, TellOfAnotherProvider) {
  Json replaced = conditions({{"ProviderReady", "True", "PodsReady"}});
  replaced["provider"] = {{"uid", "a"}, {"replacedBy", "b"}};
  EXPECT_THAT(told(Json(), replaced), ElementsAre("Warning ProviderReplaced: of ProviderReady"));
  EXPECT_THAT(told(replaced, replaced), IsEmpty());
}

// What others wrote there is not believed.
TEST(Events, TellOfWhatIsTakenAway) {
  const kube::ObjectKey role{{"rbac.authorization.k8s.io", "clusterroles"}, "", "r"};
  const Event event = eventOf({admission::Weakening::Kind::Dependency, "s", "u", role, "it allows less"});
  EXPECT_EQ(event.kind + " " + event.name + " " + event.uid + " " + event.reason,
            "CriticalService s u DependencyChanged");
  EXPECT_TRUE(event.warning);
  EXPECT_EQ(event.message,
            "clusterroles.rbac.authorization.k8s.io/r was changed while criteria are unmet: it allows less");
  EXPECT_EQ(event.subject, "clusterroles.rbac.authorization.k8s.io/r")
      << "of another one it is another Event";
  EXPECT_EQ(eventOf({admission::Weakening::Kind::CriticalService, "s", "u", role, "x"}).reason,
            "GuardWeakened");
}

TEST(Events, ReadAnyStatus) {
  for (const char* text :
       {"7", "[]", R"({"conditions":{}})", R"({"conditions":[7,{"type":7}],"provider":"x"})",
        R"({"conditions":[{"type":"Stuck","status":true}],"provider":{"replacedBy":7}})"}) {
    EXPECT_THAT(told(Json::parse(text), Json::parse(text)), IsEmpty()) << text;
  }
}

class EventWriterTest : public ServerWorld {
 public:
  // By what access; the same is not told again.
  void start(const std::shared_ptr<client::Access>& by) {
    EventWriterOptions options;
    options.instance = "me";
    options.clock = [this] {
      ++attempts;
      return std::chrono::sys_seconds(std::chrono::seconds(1'760'000'000));
    };
    options.log = [this](Level /*level*/, const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
    writer = std::make_unique<EventWriter>(by, std::move(options));
    writer->start();
  }
  static Event event(const std::string& reason, std::string message = "it is so") {
    return {"lastout.dev/v1alpha1", "CriticalService", "s", "u", true, reason, std::move(message)};
  }
  static Event longEvent() {
    Event made = event("Long");
    made.name = std::string(49, 'a') + ".b";
    made.uid = "v";
    return made;
  }
  Json events() {
    return ask({.method = "GET", .target = kEventsPath, .body = {}, .headers = {}}).json()["items"];
  }
  std::vector<std::string> reasons(const std::string& kind) {
    std::vector<std::string> found;
    for (const Json& one : events())
      if (one["involvedObject"]["kind"] == kind) found.push_back(one["reason"]);
    return found;
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  std::atomic<int> attempts{0};
  std::unique_ptr<EventWriter> writer;

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST_F(EventWriterTest, WritesWhatKubectlReads) {
  start(access);
  writer->tell(event("Stuck", std::string(999, 'x') + "\xc3\xa4"));
  writer->tell(event("Stuck"));
  writer->tell(longEvent());
  waitUntil([this] { return reasons("CriticalService").size() >= 2 || !lines().empty(); });
  writer->tell(event("Last"));
  waitUntil(
      [this] { return !lines().empty() || std::ranges::count(reasons("CriticalService"), "Last") == 1; });
  ASSERT_THAT(lines(), IsEmpty());
  EXPECT_THAT(reasons("CriticalService"), UnorderedElementsAre("Stuck", "Long", "Last"));
  Json written;
  for (const Json& one : events())
    if (one["reason"] == "Stuck") written = one;
  EXPECT_EQ(
      written["involvedObject"],
      (Json{
          {"apiVersion", "lastout.dev/v1alpha1"}, {"kind", "CriticalService"}, {"name", "s"}, {"uid", "u"}}));
  EXPECT_EQ(written["type"], "Warning");
  EXPECT_EQ(written["message"], std::string(999, 'x'));
  EXPECT_EQ(written["lastTimestamp"], "2025-10-09T08:53:20Z");
  EXPECT_EQ(written["count"], 1);
  EXPECT_THAT(written["metadata"]["name"].get<std::string>(), ::testing::StartsWith("s-"));
  EXPECT_THAT(lines(), IsEmpty());
}

TEST_F(EventWriterTest, AProblemIsToldOnce) {
  start(accessWith([](client::ConnectionConfig& connection) { connection.server.port = 1; }));
  for (int i = 0; i < 5; ++i) writer->tell(event("Reason" + std::to_string(i)));
  waitUntil([this] { return attempts == 5; });  // of which four have ended
  writer->stop();
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("events: cannot be told: ")));
}

// --- all of `lastout serve`

class TellingServerTest : public EventWriterTest {
 public:
  std::unique_ptr<Server> serve(const std::string& identity, bool keepsWebhook) {
    ServerOptions options = serverOptions(identity);
    if (keepsWebhook) {
      options.webhook = WebhookAddress{};
      options.webhook->url = "https://127.0.0.1:1";
      options.webhook->authorities = authority.certificate;
    }
    options.restored = [this](milliseconds) { ++restored; };
    return Server::open(access, std::move(options)).value();
  }
  std::atomic<int> restored{0};
};

TEST_F(TellingServerTest, OfTwoServersOneTells) {
  createStory();
  cluster.runUntil(std::chrono::minutes(1));
  auto first = serve("first", true);
  auto second = serve("second", true);
  const std::string lease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/lastout";
  waitUntil([&] { return ask({.method = "GET", .target = lease, .body = {}, .headers = {}}).status == 200; });
  waitUntil([&] {
    return ask({.method = "GET", .target = kToldWebhook, .body = {}, .headers = {}}).status == 200;
  });
  waitUntil(
      [&] { return first->standing().webhookInForce == true && second->standing().webhookInForce == true; });
  remove(kToldWebhook);
  waitUntil([&] { return restored == 1; });
  const auto timesTold = [this] {
    return std::ranges::count(reasons("ValidatingWebhookConfiguration"), "Restored");
  };
  waitUntil([&] { return timesTold() > 0; });
  const Json standing = ask({.method = "GET", .target = kToldWebhook, .body = {}, .headers = {}}).json();
  for (const Json& one : events()) {
    if (one["reason"] == "Restored") {
      EXPECT_EQ(one["involvedObject"]["uid"], standing["metadata"]["uid"]);
      EXPECT_THAT(one["message"].get<std::string>(), HasSubstr(" ms it did not ask"));
    }
  }
  first->stop(milliseconds(0));
  second->stop(milliseconds(0));
  EXPECT_EQ(timesTold(), 1);
}

// Both see it; its criteria are unmet.
TEST_F(TellingServerTest, OfTwoServersOneTellsThatLessIsGuarded) {
  createStory();
  auto first = serve("first", false);
  auto second = serve("second", false);
  waitUntil([&] {
    return first->isReady() && second->isReady() &&
           (first->standing().leads == true || second->standing().leads == true);
  });
  patch("/apis/lastout.dev/v1alpha1/criticalservices/s", {{"spec", {{"guard", {{"dependencies", "None"}}}}}});
  const auto timesTold = [this] { return std::ranges::count(reasons("CriticalService"), "GuardWeakened"); };
  waitUntil([&] { return timesTold() > 0; });
  first->stop(milliseconds(0));
  second->stop(milliseconds(0));
  EXPECT_EQ(timesTold(), 1);
}

TEST_F(TellingServerTest, TellsThatTheProviderMayGo) {
  createStory();
  auto server = serve("me", false);
  waitUntil([&] { return server->isReady(); });
  clearTheWay(std::chrono::minutes(2));
  waitUntil([&] { return std::ranges::count(reasons("CriticalService"), "Satisfied") == 1; });
  server->stop(milliseconds(0));
}

}  // namespace
}  // namespace lastout::server
