// Statuses at a real API: written once, by the holder of the Lease, and not again when nothing has changed.
#include "server/controllers/status_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "kube/encoding.h"
#include "kube/parse.h"
#include "kube/value.h"
#include "server/controllers/lease_holder.h"
#include "server/server.h"
#include "simulator/webhook_client.h"
#include "tests/client/tls_peer.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::Json;
using lastout::testing::kCoolResources;
using lastout::testing::kProvider;
using lastout::testing::kSoonAgain;
using lastout::testing::noLog;
using lastout::testing::oneHalf;
using lastout::testing::ServerWorld;
using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kStatusOf = "/apis/lastout.dev/v1alpha1/criticalservices/s";
constexpr const char* kStatusProvider = "/apis/apps/v1/namespaces/default/deployments/provider";
constexpr const char* kStatusLease = "/apis/coordination.k8s.io/v1/namespaces/default/leases/lastout";

class StatusTest : public ServerWorld {
 public:
  Json get(const std::string& path) {
    return ask({.method = "GET", .target = path, .body = {}, .headers = {}}).json();
  }
  Json status() { return get(kStatusOf).value("status", Json::object()); }
  // "True CriteriaMet"; empty: there is no such condition.
  std::string condition(const std::string& type) {
    for (const Json& one : status().value("conditions", Json::array())) {
      if (one["type"] == type)
        return one["status"].get<std::string>() + " " + one["reason"].get<std::string>();
    }
    return "";
  }
  void waitForCondition(const std::string& type, const std::string& wanted) {
    waitUntil([&] { return condition(type) == wanted; });
  }
  void patch(const std::string& path, const std::string& body) {
    EXPECT_EQ(ask({.method = "PATCH",
                   .target = path,
                   .body = body,
                   .headers = {"Content-Type: application/merge-patch+json"}})
                  .status,
              200);
  }
};

class StatusWriterTest : public StatusTest {
 public:
  StatusWriterTest() {
    options.mayWrite = [this] {
      ++looks;
      return leads.load();
    };
    options.enforcement = [](const auto&, const auto&) {
      return WebhookEnforcement{std::nullopt, "ProbePending", "no probe"};
    };
    options.clock = [this] { return std::chrono::sys_seconds(std::chrono::seconds(time.load())); };
    options.random = oneHalf;
    options.backoff = kSoonAgain;
    options.detailPause = milliseconds(0);
    options.log = [this](Level /*level*/, const std::string& line) {
      const std::lock_guard lock(mutex_);
      lines_.push_back(line);
    };
  }
  ~StatusWriterTest() override {
    if (watches) watches->stop();
    if (writer) writer->stop();
  }

  // With all that the status depends on: what is written then is the last word.
  void followTheStory() {
    follow();
    waitFor(kCoolResources, graph::Knowledge::Synced);
    waitFor(kProvider.type, graph::Knowledge::Synced);
  }
  void write() {
    writer = std::make_unique<StatusWriter>(access, view, options);
    writer->start();
  }
  // Looks again and again until that is so.
  void writeUntil(const std::function<bool()>& holds) {
    waitUntil([&] {
      writer->reconsider();
      return holds();
    });
  }
  void writeUntilCondition(const std::string& type, const std::string& wanted) {
    writeUntil([&] { return condition(type) == wanted; });
  }
  // Likewise, after something that has nothing to do with it.
  void lookAnew() {
    const std::string name = "n" + std::to_string(looks);
    create("/api/v1/namespaces",
           {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});
    waitUntil([&] {
      bool found = false;
      view.inspect([&](const admission::ClusterView& cluster, const kube::ResourceMap&) {
        found = cluster.graph().find({{"", "namespaces"}, "", name}).has_value();
      });
      return found;
    });
    lookAFewTimes();
  }
  // Some more looks, to their end.
  void lookAFewTimes() {
    for (int i = 0; i < 3; ++i) {
      const int before = looks;
      writeUntil([&] { return looks > before + 1; });
    }
  }
  std::vector<std::string> lines() {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

  StatusWriterOptions options;
  std::atomic<bool> leads{true};
  std::atomic<int> looks{0};
  std::atomic<int64_t> time{1'760'000'000};
  std::unique_ptr<StatusWriter> writer;

 private:
  std::mutex mutex_;
  std::vector<std::string> lines_;
};

TEST_F(StatusWriterTest, WritesWhatIsSoAndNotAgain) {
  createStory();
  cluster.runUntil(std::chrono::minutes(1));
  followTheStory();
  write();
  writeUntilCondition("Satisfied", "False CriterionUnmet");
  writeUntilCondition("ProviderReady", "True PodsReady");
  const Json written = get(kStatusOf);
  EXPECT_EQ(written["status"]["provider"],
            (Json{{"uid", get(kStatusProvider)["metadata"]["uid"]}, {"present", true}, {"ready", true}}));
  EXPECT_EQ(written["status"]["observedGeneration"], written["metadata"]["generation"]);
  ASSERT_EQ(written["status"]["unmetCriteria"].size(), 2U);
  EXPECT_EQ(written["status"]["unmetCriteria"][0]["examples"], Json{"coolresources.my.crd.group/instance"});
  time += 3'600;
  lookAFewTimes();
  const int before = patches;
  lookAnew();
  EXPECT_EQ(patches, before);
  EXPECT_EQ(get(kStatusOf)["metadata"]["resourceVersion"], written["metadata"]["resourceVersion"]);
  EXPECT_TRUE(lines().empty()) << lines().front();

  clearTheWay(std::chrono::minutes(2));
  writeUntilCondition("Satisfied", "True CriteriaMet");
  EXPECT_FALSE(status().contains("unmetCriteria"));
  const Json conditions = status()["conditions"];
  for (const Json& one : conditions) {
    if (one["type"] == "Degraded") continue;  // it may have been so until the type was known to be gone
    EXPECT_EQ(one["lastTransitionTime"],
              one["type"] == "Satisfied" ? "2025-10-09T09:53:20Z" : "2025-10-09T08:53:20Z")
        << one["type"];
  }
}

TEST_F(StatusWriterTest, AReplacedProviderIsReported) {
  createStory();
  follow();
  write();
  writeUntilCondition("Satisfied", "False CriterionUnmet");
  const std::string first = status()["provider"]["uid"];
  clearTheWay();
  remove(kStatusProvider);
  cluster.runUntil(std::chrono::minutes(2));
  writeUntilCondition("ProviderReady", "False ProviderAbsent");
  createStoryWithoutService();
  writeUntil([&] { return status()["provider"].contains("replacedBy"); });
  EXPECT_EQ(status()["provider"]["uid"], first);
  EXPECT_EQ(status()["provider"]["replacedBy"], get(kStatusProvider)["metadata"]["uid"]);
}

// It knows fewer fields, and drops the others.
TEST_F(StatusWriterTest, AnOlderCrdIsNoReasonToWriteForEver) {
  const auto text = kube::readFile("deploy/crd/criticalservices.yaml");
  Json older = kube::toJson(kube::parseYaml(*text, "").value().front());
  older["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["status"]["properties"]["provider"]
       ["properties"]
           .erase("present");
  create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", older);
  cluster.runUntil(std::chrono::minutes(1));
  createStory();
  followTheStory();
  write();
  writeUntilCondition("Satisfied", "False CriterionUnmet");
  lookAFewTimes();
  const Json written = get(kStatusOf);
  EXPECT_FALSE(written["status"]["provider"].contains("present"));
  const int before = patches;
  lookAnew();
  EXPECT_EQ(patches, before);
  EXPECT_EQ(get(kStatusOf)["metadata"]["resourceVersion"], written["metadata"]["resourceVersion"]);
}

TEST_F(StatusWriterTest, KubectlShowsIt) {
  createStory();
  follow();
  write();
  writeUntilCondition("Satisfied", "False CriterionUnmet");
  const Json table = ask({.method = "GET",
                          .target = "/apis/lastout.dev/v1alpha1/criticalservices",
                          .body = {},
                          .headers = {"Accept: application/json;as=Table;v=v1;g=meta.k8s.io"}})
                         .json();
  std::map<std::string, Json> cells;
  for (size_t i = 0; i < table["columnDefinitions"].size(); ++i)
    cells[table["columnDefinitions"][i]["name"]] = table["rows"][0]["cells"][i];
  EXPECT_EQ(cells["Provider"], "provider");
  EXPECT_EQ(cells["Satisfied"], "False");
}

TEST_F(StatusWriterTest, AProblemIsToldOnceAndOvercome) {
  createStory();
  follow();
  auto nobody = accessWith([](client::ConnectionConfig& connection) { connection.server.port = 1; });
  std::atomic<int> failures{0};
  options.failed = [&failures] { ++failures; };
  writer = std::make_unique<StatusWriter>(nobody, view, options);
  writer->start();
  writeUntil([this] { return !lines().empty(); });
  lookAFewTimes();
  EXPECT_THAT(lines(), ElementsAre(HasSubstr("status of CriticalServices: cannot be written: ")));
  EXPECT_GT(failures, 0);
  writer->stop();
  write();
  writeUntilCondition("Satisfied", "False CriterionUnmet");
  writer->stop();  // it knows of the failures
}

// The view is behind: what it would write is refused, until the watch has told of what stands there.
TEST_F(StatusWriterTest, WritesNothingOverWhatItHasNotSeen) {
  createStory();
  follow();
  waitFor(kCoolResources, graph::Knowledge::Synced);
  watches->stop();
  patch(std::string(kStatusOf) + "/status", R"({"status":{"provider":{"uid":"the-first"}}})");
  const Json before = get(kStatusOf);
  write();
  lookAFewTimes();
  EXPECT_EQ(get(kStatusOf), before);
  EXPECT_TRUE(lines().empty()) << lines().front();
  follow();
  writeUntilCondition("Satisfied", "False CriterionUnmet");
  EXPECT_EQ(status()["provider"]["uid"], "the-first");
}

// Another webhook denies writes of the one that comes first, or breaks over them.
class RefusedStatusTest : public StatusWriterTest {
 public:
  RefusedStatusTest() {
    callWebhook = [this](const simulator::Webhook& called, const std::string& body) {
      return caller_.post(called, body);
    };
  }
  ~RefusedStatusTest() override {
    if (writer) writer->stop();
    listener.reset();  // calls the webhook no longer
  }

  // `why`: in the answer to the write that is refused.
  void theOthersAreWritten(const std::string& why) {
    create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
           {{"apiVersion", "admissionregistration.k8s.io/v1"},
            {"kind", "ValidatingWebhookConfiguration"},
            {"metadata", {{"name", "other"}}},
            {"webhooks",
             {{{"name", "other.test.dev"},
               {"admissionReviewVersions", {"v1"}},
               {"sideEffects", "None"},
               {"objectSelector", {{"matchLabels", {{"refused", "yes"}}}}},
               {"clientConfig",
                {{"url", "https://127.0.0.1:" + std::to_string(webhook.port()) + "/"},
                 {"caBundle", kube::toBase64(lastout::testing::pki().authority.certificate)}}},
               {"rules",
                {{{"operations", {"UPDATE"}},
                  {"apiGroups", {"lastout.dev"}},
                  {"apiVersions", {"*"}},
                  {"resources", {"criticalservices/status"}}}}}}}}});
    createStory();
    Json refused = criticalService();
    refused["metadata"] = {{"name", "a"}, {"labels", {{"refused", "yes"}}}};
    refused["spec"]["provider"]["name"] = "other";
    create("/apis/lastout.dev/v1alpha1/criticalservices", refused);
    follow();
    write();
    writeUntilCondition("Satisfied", "False CriterionUnmet");
    writeUntil([this] { return !lines().empty(); });
    EXPECT_THAT(lines(),
                ElementsAre(AllOf(HasSubstr("status of criticalservices.lastout.dev/a: cannot be written: "),
                                  HasSubstr(why))));
  }
  static std::string http(const std::string& status, const std::string& body) {
    return "HTTP/1.1 " + status +
           "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
           "\r\n\r\n" + body;
  }

  std::atomic<bool> denies{true};  // false: it breaks
  lastout::testing::TlsPeer webhook{[this](lastout::testing::PeerConnection& connection) {
    for (std::string text = connection.request(); !text.empty(); text = connection.request()) {
      const Json review = Json::parse(text.substr(text.find("\r\n\r\n") + 4), nullptr, false);
      const Json denial = {{"apiVersion", "admission.k8s.io/v1"},
                           {"kind", "AdmissionReview"},
                           {"response",
                            {{"uid", review["request"]["uid"]},
                             {"allowed", false},
                             {"status", {{"code", 403}, {"message", "not this one"}}}}}};
      connection.send(denies ? http("200 OK", denial.dump()) : http("500 Broken", ""));
    }
  }};

 private:
  simulator::WebhookClient caller_{{}};
};

TEST_F(RefusedStatusTest, OneThatIsDeniedKeepsNoOthersWaiting) { theOthersAreWritten("not this one"); }

TEST_F(RefusedStatusTest, OneThatBreaksKeepsNoOthersWaiting) {
  denies = false;
  theOthersAreWritten("failed calling webhook");
}

TEST_F(StatusWriterTest, SaysWhatIsNotUnderstood) {
  Json nonsense = criticalService();
  nonsense["spec"]["criteria"][0]["finalizer"]["finalizerName"] = "no name";
  create("/apis/lastout.dev/v1alpha1/criticalservices", nonsense);
  follow();
  write();
  writeUntilCondition("Degraded", "True NotUnderstood");
  EXPECT_EQ(condition("Satisfied"), "Unknown CriterionUnknown");
  EXPECT_THAT(status()["unmetCriteria"].dump(), HasSubstr("no finalizer's name"));
}

// It could be written as long as no CRD told that operators have no namespace.
TEST_F(StatusWriterTest, SaysThatNothingIsGuardedByTheNameOfNoObject) {
  createStory();
  Json misnamed = criticalService();
  misnamed["metadata"]["name"] = "misnamed";
  misnamed["spec"]["provider"] = {
      {"group", "late.example.com"}, {"resource", "operators"}, {"namespace", "default"}, {"name", "one"}};
  misnamed["spec"]["guard"] = {{"dependencies", Json::array({misnamed["spec"]["provider"]})}};
  misnamed["spec"]["guard"]["dependencies"][0]["name"] = "other";
  create("/apis/lastout.dev/v1alpha1/criticalservices", misnamed);
  followTheStory();
  write();
  writeUntilCondition("Satisfied", "False CriterionUnmet");
  const auto conditionOf = [this](const char* type) {
    const Json conditions =
        get("/apis/lastout.dev/v1alpha1/criticalservices/misnamed")["status"]["conditions"];
    const auto found = std::ranges::find(conditions, type, [](const Json& one) { return one["type"]; });
    return found == conditions.end() ? Json() : *found;
  };
  writeUntil([&] { return conditionOf("Degraded").is_object(); });
  EXPECT_EQ(conditionOf("Degraded")["status"], "False") << "there may be such a CRD yet";
  Json definition = get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group");
  definition["metadata"] = {{"name", "operators.late.example.com"}};
  definition["spec"]["group"] = "late.example.com";
  definition["spec"]["names"] = {{"kind", "Operator"}, {"plural", "operators"}};
  create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  writeUntil([&] { return conditionOf("Degraded")["reason"] == "NotUnderstood"; });
  EXPECT_EQ(
      conditionOf("Degraded")["message"],
      "spec.provider: operators.late.example.com are cluster-scoped: leave the namespace out; "
      "spec.guard.dependencies[0]: operators.late.example.com are cluster-scoped: leave the namespace out");
  EXPECT_EQ(conditionOf("DependenciesKnown")["reason"], "NotUnderstood");
}

// So that they are absent without their CRDs to a lastout that starts then.
TEST_F(StatusWriterTest, RemembersWhichTypesWereThere) {
  createStory();
  follow();
  write();
  writeUntil([this] { return status().contains("seenTypes"); });
  EXPECT_EQ(status()["seenTypes"], Json::array({"coolresources.my.crd.group"}));
}

TEST_F(StatusWriterTest, SaysThatNothingIsGuardedWhereNotEvenTheProviderCanBeRead) {
  Json nonsense = criticalService();
  nonsense["spec"]["provider"]["group"] = "apps/v1";
  create("/apis/lastout.dev/v1alpha1/criticalservices", nonsense);
  follow();
  write();
  writeUntilCondition("Enforced", "False NotUnderstood");
}

// --- the Lease, and who writes

class LeaseHolderTest : public StatusTest {
 public:
  std::unique_ptr<LeaseHolder> holder(const std::string& identity) {
    auto made = std::make_unique<LeaseHolder>(access, leaseOptions(identity));
    made->start();
    return made;
  }
  static LeaseHolderOptions leaseOptions(const std::string& identity) {
    LeaseHolderOptions options;
    options.identity = identity;
    options.times.retry = milliseconds(20);
    options.random = oneHalf;
    options.clock = [ticks = std::make_shared<std::atomic<int64_t>>(1'760'000'000'000'000)] {
      return WallTime(std::chrono::microseconds(++*ticks));
    };
    options.log = noLog();
    return options;
  }
  std::string leaseOf() {  // its holder
    const Json spec = get(kStatusLease)["spec"];
    return spec.is_object() ? spec.value("holderIdentity", std::string()) : "";
  }

  std::unique_ptr<Server> serve(const std::string& identity) {
    ServerOptions options = serverOptions(identity);
    options.lease = leaseOptions(identity);
    options.clock = options.lease.clock;
    auto server = Server::open(access, std::move(options));
    EXPECT_TRUE(server) << server.error().message;
    return std::move(*server);
  }
};

TEST_F(LeaseHolderTest, OneHoldsItAndGivesItBackToTheOther) {
  auto first = holder("first");
  waitUntil([&] { return first->holds(); });
  EXPECT_EQ(leaseOf(), "first");
  auto second = holder("second");
  const std::string renewed = get(kStatusLease)["metadata"]["resourceVersion"];
  waitUntil([&] { return get(kStatusLease)["metadata"]["resourceVersion"] != renewed; });
  EXPECT_FALSE(second->holds());
  first->stop();
  EXPECT_FALSE(first->holds());
  waitUntil([&] { return second->holds(); });
  EXPECT_EQ(leaseOf(), "second");
  EXPECT_EQ(get(kStatusLease)["spec"]["leaseTransitions"], 1);
  second->stop();
  EXPECT_EQ(leaseOf(), "");
}

// It was killed, and gave nothing back.
TEST_F(LeaseHolderTest, ADeadHoldersLeaseIsTakenOver) {
  create("/apis/coordination.k8s.io/v1/namespaces/default/leases",
         {{"apiVersion", "coordination.k8s.io/v1"},
          {"kind", "Lease"},
          {"metadata", {{"name", "lastout"}}},
          {"spec",
           {{"holderIdentity", "dead"},
            {"leaseDurationSeconds", 1},
            {"renewTime", "2030-01-01T00:00:00.000000Z"}}}});
  auto one = holder("one");
  waitUntil([&] { return one->holds(); });
  EXPECT_EQ(leaseOf(), "one");
  EXPECT_EQ(get(kStatusLease)["spec"]["leaseTransitions"], 1);
}

// It lapsed unseen, between two renewals: whoever waits to write has to hear that it may again.
TEST_F(LeaseHolderTest, TellsThatItHoldsItAgain) {
  std::atomic<bool> mayHold{true};
  std::atomic<int> taken{0};
  LeaseHolderOptions options = leaseOptions("one");
  options.times.renewWithin = milliseconds(200);
  options.mayHold = [&] { return mayHold.load(); };
  options.taken = [&] { ++taken; };
  LeaseHolder one(access, options);
  one.start();
  waitUntil([&] { return one.holds(); });
  mayHold = false;
  waitUntil([&] { return !one.holds(); });
  const int before = taken;
  mayHold = true;
  waitUntil([&] { return taken > before && one.holds(); });
}

TEST_F(LeaseHolderTest, IsMadeAnewAndLeavesLabelsAlone) {
  auto one = holder("one");
  waitUntil([&] { return one->holds(); });
  patch(kStatusLease, R"({"metadata":{"labels":{"a":"b"}}})");
  waitUntil([&] { return leaseOf() == "one" && one->holds(); });
  const std::string labelled = get(kStatusLease)["metadata"]["resourceVersion"];
  waitUntil([&] { return get(kStatusLease)["metadata"]["resourceVersion"] != labelled; });
  EXPECT_EQ(get(kStatusLease)["metadata"]["labels"]["a"], "b");
  remove(kStatusLease);
  waitUntil([&] { return leaseOf() == "one"; });
}

// Nobody can make it there, which is said once: that it can be read (there is none) is no good news.
TEST_F(LeaseHolderTest, SaysOnceThatItsNamespaceIsMissing) {
  std::mutex mutex;
  std::vector<std::string> lines;
  std::atomic<int> looks{0};
  LeaseHolderOptions options = leaseOptions("one");
  options.namespaceName = "nowhere";
  options.clock = [&looks] { return WallTime(std::chrono::microseconds(++looks)); };
  options.log = [&](Level /*level*/, const std::string& line) {
    const std::lock_guard lock(mutex);
    lines.push_back(line);
  };
  LeaseHolder one(access, options);
  one.start();
  waitUntil([&] { return looks > 10; });
  one.stop();
  EXPECT_THAT(lines, ElementsAre(HasSubstr("lease nowhere/lastout: 404")));
}

TEST_F(LeaseHolderTest, OfTwoServersTheHolderWrites) {
  createStory();
  auto first = serve("first");
  waitForCondition("Satisfied", "False CriterionUnmet");
  EXPECT_EQ(leaseOf(), "first");
  auto second = serve("second");
  waitUntil([&] { return second->isReady(); });
  EXPECT_EQ(condition("Enforced"), "Unknown WebhookNotManaged");
  EXPECT_EQ(first->standing().leads, true);
  EXPECT_EQ(second->standing().leads, false);
  first->stop(milliseconds(0));
  waitUntil([&] { return leaseOf() == "second"; });
  removeFinalizers("instance");
  waitUntil([&] { return status()["unmetCriteria"].size() == 1; });
  second->stop(milliseconds(0));
  EXPECT_EQ(leaseOf(), "");
}

}  // namespace
}  // namespace lastout::server
