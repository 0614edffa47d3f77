// The reads before an ALLOW, at a server whose every answer a test decides.
#include "server/review/confirming_reads.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <latch>
#include <mutex>
#include <semaphore>
#include <vector>

#include "kube/well_known.h"
#include "tests/client/tls_peer.h"

namespace lastout::server {
namespace {

using lastout::testing::PeerConnection;
using lastout::testing::pki;
using lastout::testing::TlsPeer;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const kube::GroupResource kConfigMaps{"", "configmaps"};
const kube::GroupResource kReadThings{"example.com", "things"};

graph::Condition carriers(const std::string& finalizer = "example.com/f") {
  return {graph::Condition::Kind::Finalizer, kConfigMaps, finalizer, {}, {}, {}};
}

graph::Condition existence(const kube::GroupResource& type, const std::string& name) {
  return {graph::Condition::Kind::Object, type, {}, "default", name, {}};
}

std::string answer(int status, const std::string& body) {
  return "HTTP/1.1 " + std::to_string(status) +
         " Said\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string item(const std::string& name, const std::string& finalizer) {
  return R"({"metadata":{"namespace":"default","name":")" + name + R"(","uid":"u-)" + name +
         R"(","resourceVersion":"7","finalizers":[)" + (finalizer.empty() ? "" : '"' + finalizer + '"') +
         "]}}";
}

// `remaining`: "" or what the server says of the pages to come.
std::string list(const std::string& items, const std::string& next, const std::string& remaining = "") {
  return answer(200, R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
                     R"({"resourceVersion":"9","continue":")" +
                         next + '"' + (remaining.empty() ? "" : R"(,"remainingItemCount":)" + remaining) +
                         R"(},"items":[)" + items + "]}");
}

std::string notFound(const std::string& message) {
  return answer(404,
                R"({"kind":"Status","apiVersion":"v1","status":"Failure","reason":"NotFound","code":404,)"
                R"("message":")" +
                    message + "\"}");
}

client::Discovery discovery() {
  client::Discovery found;
  found.types = kube::ResourceMap::builtIn();
  for (const kube::GroupResource& type : {kConfigMaps, kube::kCustomResourceDefinitions}) {
    client::DiscoveredType served;
    served.type = *found.types.find(type);
    served.canGet = served.canList = served.canWatch = true;
    found.served.emplace(type, served);
  }
  return found;
}

class ConfirmingReadsTest : public ::testing::Test {
 public:
  ConfirmingReadsTest() {
    view.discovered(discovery(), steady_clock::now());
    client::ConnectionConfig connection;
    connection.server = {true, "127.0.0.1", peer->port(), ""};
    connection.authority = pki().authority.certificate;
    access = client::Access::open(std::move(connection), [] { return int64_t{0}; }).value();
    begin({});
  }
  ~ConfirmingReadsTest() override { end(); }

  // Both sides; a request may have come at last, and nobody waits for its answer.
  void end() {
    reads.reset();
    peer.reset();
  }

  void begin(const ConfirmingReadsOptions& options) {
    reads = std::make_unique<ConfirmingReads>(
        access, view,
        [this](const ConfirmingReads::Done& read) {
          outcome = read.outcome;
          ended.release();
        },
        options);
  }
  // What the watch tells.
  void tell(const std::string& name) {
    client::StreamedObject object;
    object.meta.namespaceName = "default";
    object.meta.name = name;
    object.meta.uid = "u-" + name;
    object.meta.resourceVersion = "7";
    view.upsert(*kube::ResourceMap::builtIn().find(kConfigMaps), std::move(object), steady_clock::now());
  }

  void tellDefinition(const std::string& name) {
    client::StreamedObject object;
    object.meta.name = name;
    object.meta.uid = "u-" + name;
    view.upsert(*kube::ResourceMap::builtIn().find(kube::kCustomResourceDefinitions), std::move(object),
                steady_clock::now());
  }
  // As discovery has told once.
  void serveThings() {
    client::Discovery found = discovery();
    client::DiscoveredType served = found.served.at(kConfigMaps);
    served.type.type = kReadThings;
    served.type.kind = "Thing";
    found.served.emplace(kReadThings, served);
    view.discovered(std::move(found), steady_clock::now());
  }

  // What each request for this target is answered with.
  void answerWith(std::function<std::string(const std::string& target)> say) {
    const std::lock_guard lock(mutex_);
    say_ = std::move(say);
  }
  // With an empty list, each when `mayEnd` is released.
  void answerWhenTheyMayEnd() {
    answerWith([this](const std::string&) {
      begun.release();
      mayEnd.acquire();
      return list("", "");
    });
  }
  std::vector<std::string> asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }
  kube::Result<ConfirmingReads::Holder> holderOf(const graph::Condition& condition,
                                                 seconds within = seconds(60)) {
    return reads->holderOf(condition, steady_clock::now() + within);
  }

  std::counting_semaphore<> begun{0};   // answers
  std::counting_semaphore<> mayEnd{0};  // likewise
  std::unique_ptr<TlsPeer> peer = std::make_unique<TlsPeer>([this](PeerConnection& connection) {
    for (std::string text = connection.request(); !text.empty(); text = connection.request()) {
      const size_t begin = text.find(' ') + 1;
      const std::string target = text.substr(begin, text.find(' ', begin) - begin);
      std::function<std::string(const std::string&)> say;
      {
        const std::lock_guard lock(mutex_);
        asked_.push_back(target);
        say = say_;
      }
      connection.send(say(target));
    }
  });
  LiveView view{{}};
  std::shared_ptr<client::Access> access;
  std::counting_semaphore<> ended{0};                                                       // reads
  std::atomic<ConfirmingReads::ReadOutcome> outcome{ConfirmingReads::ReadOutcome::Failed};  // of the last
  std::unique_ptr<ConfirmingReads> reads;

 private:
  std::mutex mutex_;
  std::vector<std::string> asked_;
  std::function<std::string(const std::string& target)> say_;
};

TEST_F(ConfirmingReadsTest, GoThroughAllPagesUntilTheFirstCarrier) {
  answerWith([](const std::string& target) {
    if (target.find("continue=two") != std::string::npos) return list(item("c", "example.com/f"), "three");
    return list(item("a", "") + "," + item("b", "other.com/f"), "two");
  });
  const auto holder = holderOf(carriers());
  ASSERT_TRUE(holder && *holder);
  EXPECT_EQ((*holder)->meta.name, "c");
  EXPECT_THAT(asked(),
              ElementsAre("/api/v1/configmaps?limit=500", "/api/v1/configmaps?limit=1000&continue=two"));
}

TEST_F(ConfirmingReadsTest, FindNothingOnTheLastPage) {
  answerWith([](const std::string&) { return list(item("a", ""), ""); });
  const auto holder = holderOf(carriers());
  ASSERT_TRUE(holder) << holder.error().message;
  EXPECT_FALSE(*holder);
}

TEST_F(ConfirmingReadsTest, LeaveOutWhatTheConditionDoes) {
  answerWith([](const std::string&) { return list(item("a", "example.com/f"), ""); });
  graph::Condition outside = carriers();
  outside.scope = kube::NamespaceScope::outside("default");
  const auto left = holderOf(outside);
  ASSERT_TRUE(left) << left.error().message;
  EXPECT_FALSE(*left) << "all of them are in that namespace";
  outside.scope = kube::NamespaceScope::outside("op");
  EXPECT_TRUE(holderOf(outside).value());
  EXPECT_TRUE(holderOf(carriers()).value());
}

// Two lists would be of two moments, between which a holder may come in one namespace, and go in the other.
TEST_F(ConfirmingReadsTest, ListTheOneNamespaceThatAConditionNames) {
  std::mutex mutex;
  std::vector<std::string> asked;
  answerWith([&](const std::string& target) {
    const std::scoped_lock lock(mutex);
    asked.push_back(target.substr(0, target.find('?')));
    return list(item("a", "example.com/f"), "");
  });
  graph::Condition within = carriers();
  const auto isHeldIn = [&](std::set<std::string> names) {
    within.scope = kube::NamespaceScope::within(std::move(names));
    return holderOf(within).value().has_value();
  };
  EXPECT_TRUE(isHeldIn({"default"}));
  EXPECT_FALSE(isHeldIn({"a"}));
  EXPECT_TRUE(isHeldIn({"a", "default"}));
  EXPECT_FALSE(isHeldIn({"a", "b"}));
  EXPECT_THAT(asked, ElementsAre("/api/v1/namespaces/default/configmaps", "/api/v1/namespaces/a/configmaps",
                                 "/api/v1/configmaps", "/api/v1/configmaps"));
}

TEST_F(ConfirmingReadsTest, DoNotBelieveAListThatIsCutOff) {
  answerWith([](const std::string&) {
    return "HTTP/1.1 200 OK\r\nContent-Length: 40\r\n\r\n{\"kind\":\"ConfigMapList\",\"items\":[]    ";
  });
  EXPECT_FALSE(holderOf(carriers(), seconds(2)));
}

// Nobody knows which finalizers it has, and most need not be read.
TEST_F(ConfirmingReadsTest, DoNotPassOverAnObjectThatCannotBeRead) {
  const auto spoilt = [](const std::string& finalizer) {
    return R"({"metadata":{"namespace":"a","name":"b","resourceVersion":"7","finalizers":{"x":")" +
           finalizer + R"("}}})";
  };
  answerWith([&](const std::string&) { return list(item("a", "") + "," + spoilt("example.com/f"), ""); });
  const auto holder = holderOf(carriers());
  ASSERT_FALSE(holder);
  EXPECT_THAT(holder.error().message, HasSubstr("reading configmaps: a/b cannot be read: "));
  answerWith([&](const std::string&) {
    return list(spoilt("example.com/f") + "," + item("a", "example.com/f"), "");
  });
  EXPECT_TRUE(holderOf(carriers()).value()) << "another one holds it";
  answerWith([&](const std::string&) { return list(spoilt("example.com/g"), ""); });
  EXPECT_FALSE(holderOf(carriers()).value()) << "it is not in its text";
}

TEST_F(ConfirmingReadsTest, TellAnObjectThatIsGoneFromATypeThatIs) {
  answerWith([](const std::string&) { return notFound(R"(configmaps \"m\" not found)"); });
  const auto gone = holderOf(existence(kConfigMaps, "m"));
  ASSERT_TRUE(gone) << gone.error().message;
  EXPECT_FALSE(*gone);
  answerWith([](const std::string&) { return notFound("the server could not find the requested resource"); });
  EXPECT_FALSE(holderOf(existence(kConfigMaps, "m")));
  answerWith([](const std::string&) { return answer(404, "404 page not found"); });
  EXPECT_FALSE(holderOf(existence(kConfigMaps, "m")));
  answerWith([](const std::string&) { return answer(200, item("m", "")); });
  EXPECT_TRUE(holderOf(existence(kConfigMaps, "m")).value());
  graph::Condition other = existence(kConfigMaps, "m");
  other.uid = "another";
  EXPECT_FALSE(holderOf(other).value()) << "another object has its name";
}

TEST_F(ConfirmingReadsTest, SayWhyTheyCannot) {
  answerWith([](const std::string&) {
    return answer(403,
                  R"({"kind":"Status","status":"Failure","reason":"Forbidden","message":"no","code":403})");
  });
  EXPECT_THAT(holderOf(carriers()).error().message, HasSubstr("403 Forbidden: no"));
  EXPECT_THAT(holderOf(existence(kReadThings, "x")).error().message,
              HasSubstr("the API server does not serve things.example.com"));
}

// It goes before anybody has found out again what is served; who waits for that waits needlessly.
TEST_F(ConfirmingReadsTest, NothingIsThereOfATypeWhoseCrdHasJustGone) {
  serveThings();
  bool isDefined = true;
  answerWith([&](const std::string& target) {
    if (target.find("customresourcedefinitions") == std::string::npos)
      return answer(404, "404 page not found");
    return isDefined ? answer(200, item("things.example.com", ""))
                     : notFound(R"(customresourcedefinitions \"things.example.com\" not found)");
  });
  EXPECT_FALSE(holderOf(existence(kReadThings, "x"))) << "no CRD of it was ever seen: it is away";
  tellDefinition("things.example.com");
  EXPECT_FALSE(holderOf(existence(kReadThings, "x"))) << "its CRD is there";
  isDefined = false;
  graph::Condition finalizers = carriers();
  finalizers.type = kReadThings;
  for (const graph::Condition& condition : {existence(kReadThings, "x"), finalizers}) {
    const auto holder = holderOf(condition);
    ASSERT_TRUE(holder) << holder.error().message;
    EXPECT_FALSE(*holder);
  }
  view.discovered(discovery(), steady_clock::now());
  const auto holder = holderOf(finalizers);
  ASSERT_TRUE(holder) << "and now discovery has told, but not the watch: " << holder.error().message;
  EXPECT_FALSE(*holder);
}

// It may be served in another way by now: only an answer that says it is not served makes way for its CRD's.
TEST_F(ConfirmingReadsTest, NothingIsBelievedOfAnApiServerThatFails) {
  serveThings();
  tellDefinition("things.example.com");
  int status = 503;
  answerWith([&](const std::string& target) {
    return target.find("customresourcedefinitions") == std::string::npos
               ? answer(status, "no")
               : notFound(R"(customresourcedefinitions \"things.example.com\" not found)");
  });
  const graph::Condition thing = existence(kReadThings, "x");
  EXPECT_FALSE(holderOf(thing));
  status = 404;
  EXPECT_TRUE(holderOf(thing));
  client::Discovery found = discovery();
  found.gaps.push_back({"example.com", "", "the API server behind it is away"});
  view.discovered(std::move(found), steady_clock::now());
  EXPECT_FALSE(holderOf(thing));
}

// One that starts may answer 404 for what it serves in the place of the CRD.
TEST_F(ConfirmingReadsTest, AnotherApiServerMayServeATypeWhoseCrdHasGone) {
  serveThings();
  tellDefinition("things.example.com");
  client::Discovery found = discovery();
  client::DiscoveredType apis = found.served.at(kConfigMaps);
  apis.type = *found.types.find(kube::kApiServices);
  found.served.emplace(kube::kApiServices, apis);
  found.gaps.push_back({"example.com", "v1", "404 page not found", true});
  view.discovered(std::move(found), steady_clock::now());
  std::string service = R"(,"service":{"namespace":"default","name":"api"})";
  int status = 200;
  answerWith([&](const std::string& target) {
    if (target.find("customresourcedefinitions") != std::string::npos)
      return notFound(R"(customresourcedefinitions \"things.example.com\" not found)");
    if (target.find("apiservices") == std::string::npos) return answer(404, "404 page not found");
    const std::string meta = R"({"metadata":{"name":"v1.example.com","uid":"u","resourceVersion":"7"},)";
    return status == 200 ? list(meta + R"("spec":{"group":"example.com","version":"v1")" + service + "}}", "")
                         : answer(status, "no");
  });
  const graph::Condition thing = existence(kReadThings, "x");
  EXPECT_FALSE(holderOf(thing));
  service.clear();
  EXPECT_TRUE(holderOf(thing)) << "the API server itself would serve it, and does not";
  status = 403;
  EXPECT_FALSE(holderOf(thing));
}

// Which types a pattern means is read, too: one of which the watch has not told holds the condition.
TEST_F(ConfirmingReadsTest, ATypeOfAGroupOfWhichNobodyHasToldIsFound) {
  serveThings();
  tellDefinition("things.example.com");
  auto service = client::decodeObject(
      R"({"metadata":{"name":"s","uid":"s"},"spec":{"provider":{"group":"apps","resource":"deployments",)"
      R"("namespace":"n","name":"d"},"criteria":[{"type":"Finalizer","finalizer":{"group":"example.com",)"
      R"("resource":"*","finalizerName":"example.com/f"}}]}})",
      client::Content::Whole);
  ASSERT_TRUE(service) << service.error().message;
  view.upsert(*kube::ResourceMap::builtIn().find({"lastout.dev", "criticalservices"}), std::move(*service),
              steady_clock::now());
  ASSERT_THAT(view.wanted(), ::testing::Contains(kReadThings));
  graph::Condition types;
  types.kind = graph::Condition::Kind::Instances;
  types.type = {"example.com", "*"};
  std::string more;
  int status = 200;
  answerWith([&](const std::string&) {
    const auto crd = [](const std::string& name) {
      return R"({"metadata":{"name":")" + name + R"(","uid":"u"}})";
    };
    return status == 200 ? list(crd("things.example.com") + "," + crd("late.example.org") + more, "")
                         : answer(status, "no");
  });
  const auto none = holderOf(types);
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_FALSE(*none) << "things are known, and late.example.org is of another group";
  more = R"(,{"metadata":{"name":"late.example.com","uid":"u"}})";
  const auto late = holderOf(types);
  ASSERT_TRUE(late) << late.error().message;
  ASSERT_TRUE(*late);
  EXPECT_EQ((*late)->meta.name, "late.example.com");
  status = 403;
  EXPECT_FALSE(holderOf(types)) << "CRDs that cannot be read are unknown, not none";
}

TEST_F(ConfirmingReadsTest, FindFinalizersByTheirBeginning) {
  answerWith([](const std::string&) {
    return list(item("a", "example.com/other-1") + "," + item("b", "example.com/f-7"), "");
  });
  const auto found = holderOf(carriers("example.com/f-*"));
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->meta.name, "b");
  const auto none = holderOf(carriers("example.com/g-*"));
  ASSERT_TRUE(none);
  EXPECT_FALSE(*none);
}

// Who asks while a read is under way waits for the next one, and all who do share it.
TEST_F(ConfirmingReadsTest, AreShared) {
  answerWhenTheyMayEnd();
  const auto ask = [this] { return holderOf(carriers()).has_value(); };
  std::vector<std::future<bool>> answers;
  answers.push_back(std::async(std::launch::async, ask));
  begun.acquire();
  for (int i = 0; i < 5; ++i) answers.push_back(std::async(std::launch::async, ask));
  while (reads->waiting() < 6) std::this_thread::yield();
  mayEnd.release(2);
  for (std::future<bool>& one : answers) EXPECT_TRUE(one.get());
  EXPECT_EQ(asked().size(), 2);
}

// Long before their deadlines.
TEST_F(ConfirmingReadsTest, AllWhoWaitAreToldOfTheEnd) {
  answerWhenTheyMayEnd();
  const auto ask = [this] { return holderOf(carriers(), seconds(3'600)); };
  auto ofTheRunning = std::async(std::launch::async, ask);
  begun.acquire();
  auto ofTheNext = std::async(std::launch::async, ask);
  while (reads->waiting() < 2) std::this_thread::yield();
  reads->stop();
  for (auto* one : {&ofTheRunning, &ofTheNext}) {
    const auto holder = one->get();
    ASSERT_FALSE(holder);
    EXPECT_EQ(holder.error().message, "lastout is about to end");
  }
  mayEnd.release(2);
}

TEST_F(ConfirmingReadsTest, WhoHasNoTimeLeftFailsAlone) {
  answerWhenTheyMayEnd();
  auto first = std::async(std::launch::async, [this] { return holderOf(carriers()).has_value(); });
  begun.acquire();
  auto patient = std::async(std::launch::async, [this] { return holderOf(carriers()).has_value(); });
  while (reads->waiting() < 2) std::this_thread::yield();
  EXPECT_THAT(holderOf(carriers(), seconds(0)).error().message, HasSubstr("longer than a review may"));
  mayEnd.release(2);
  EXPECT_TRUE(first.get());
  EXPECT_TRUE(patient.get());
}

// Of two criteria on one type, and of two objects.
TEST_F(ConfirmingReadsTest, AreMadeAtOnce) {
  answerWith([](const std::string&) { return list(item("a", "example.com/f"), ""); });
  const std::vector<graph::Condition> two{carriers(), carriers("example.com/g")};
  const auto holders = reads->holdersOf(reads->ask(two), steady_clock::now() + seconds(60));
  ASSERT_TRUE(holders[0] && holders[1]);
  EXPECT_TRUE(*holders[0]);
  EXPECT_FALSE(*holders[1]);
  EXPECT_EQ(asked().size(), 1);

  std::latch both(2);
  answerWith([&](const std::string&) {
    both.arrive_and_wait();
    return answer(200, item("m", ""));
  });
  const std::vector<graph::Condition> objects{existence(kConfigMaps, "m"), existence(kConfigMaps, "n")};
  for (const auto& holder : reads->holdersOf(reads->ask(objects), steady_clock::now() + seconds(60)))
    EXPECT_TRUE(holder && *holder);
}

// JSON may write each character of its name as an escape.
TEST_F(ConfirmingReadsTest, FindAFinalizerHoweverItIsWritten) {
  for (const char* written : {"example.com/f", R"(example.com\/f)", R"(\u0065xample.com/f)"}) {
    answerWith([written](const std::string&) {
      return list(item("a", "") + "," + item("b", "example.com/g") + "," + item("c", written), "");
    });
    const auto holder = holderOf(carriers());
    ASSERT_TRUE(holder && *holder) << written;
    EXPECT_EQ((*holder)->meta.name, "c");
  }
}

TEST_F(ConfirmingReadsTest, AskForLargerAndLargerPages) {
  answerWith([](const std::string& target) {
    constexpr std::string_view kContinue = "continue=page-";
    const size_t at = target.find(kContinue);
    const int page = at == std::string::npos ? 0 : std::stoi(target.substr(at + kContinue.size()));
    return list(item("a" + std::to_string(page), ""), page < 5 ? "page-" + std::to_string(page + 1) : "");
  });
  const auto holder = holderOf(carriers());
  ASSERT_TRUE(holder);
  EXPECT_FALSE(*holder);
  EXPECT_THAT(
      asked(),
      ElementsAre(HasSubstr("?limit=500"), HasSubstr("?limit=1000&continue=page-1"),
                  HasSubstr("?limit=2000&continue=page-2"), HasSubstr("?limit=4000&continue=page-3"),
                  HasSubstr("?limit=4000&continue=page-4"), HasSubstr("?limit=4000&continue=page-5")));
}

TEST_F(ConfirmingReadsTest, GoOnWhileSomethingElseIsDone) {
  answerWhenTheyMayEnd();
  const auto asked = reads->ask({carriers()});
  begun.acquire();  // although nobody waits
  mayEnd.release();
  const auto holders = reads->holdersOf(asked, steady_clock::now() + seconds(60));
  ASSERT_TRUE(holders[0]);
  EXPECT_FALSE(*holders[0]);
}

class LargeTypeTest : public ConfirmingReadsTest {
 public:
  // Two pages of one object each, of which the second comes when it may.
  LargeTypeTest() {
    answerWith([this](const std::string& target) {
      if (target.find("continue=") == std::string::npos) return list(item("a", ""), "two", "1");
      begun.release();
      mayEnd.acquire();
      return list(item("b", onSecondPage), "");
    });
  }
  ~LargeTypeTest() override {
    reads.reset();  // begins no other one
    mayEnd.release(100);
    end();
  }
  // Who asks has no time left; the read has ended afterwards.
  void readToTheEnd() {
    EXPECT_THAT(holderOf(carriers(), seconds(0)).error().message,
                HasSubstr("reading configmaps takes longer than a review may; it goes on in the background"));
    begun.acquire();
    EXPECT_FALSE(holderOf(carriers(), seconds(0))) << "it is not read to its end yet";
    mayEnd.release();
    ended.acquire();
  }

  std::string onSecondPage;
};

TEST_F(LargeTypeTest, IsReadToItsEndAndThenItsFirstPageIsEnough) {
  tell("a");
  tell("b");
  readToTheEnd();
  EXPECT_EQ(outcome, ConfirmingReads::ReadOutcome::Free);
  const size_t before = asked().size();
  const auto holder = holderOf(carriers());
  ASSERT_TRUE(holder) << holder.error().message;
  EXPECT_FALSE(*holder);
  EXPECT_EQ(asked().size(), before + 1) << "one page";
}

TEST_F(LargeTypeTest, IsNotConfirmedWhileTheWatchIsBehind) {
  tell("a");
  readToTheEnd();
  EXPECT_THAT(holderOf(carriers()).error().message, HasSubstr("the watch of configmaps is behind"));
  tell("b");
  EXPECT_TRUE(holderOf(carriers()));
}

TEST_F(LargeTypeTest, WhatWasNotSoughtThenIsReadWhole) {
  tell("a");
  tell("b");
  readToTheEnd();
  mayEnd.release();
  const size_t before = asked().size();
  EXPECT_TRUE(holderOf(carriers("example.com/g")));
  EXPECT_EQ(asked().size(), before + 2);
}

TEST_F(LargeTypeTest, WhatIsFoundThereIsNoReasonToAllow) {
  tell("a");
  tell("b");
  onSecondPage = "example.com/f";
  readToTheEnd();
  EXPECT_EQ(outcome, ConfirmingReads::ReadOutcome::Held);
  mayEnd.release();
  EXPECT_TRUE(holderOf(carriers()).value());
}

TEST_F(LargeTypeTest, NothingIsBelievedForLong) {
  begin({.counts = std::chrono::milliseconds(0)});
  tell("a");
  tell("b");
  readToTheEnd();
  onSecondPage = "example.com/f";
  mayEnd.release();
  EXPECT_TRUE(holderOf(carriers()).value()) << "it was read anew";
}

// Of two types the second pages are read again and again, and do not come.
TEST_F(LargeTypeTest, HalfOfTheReadersAreLeftToThoseWhoWait) {
  begin({.readers = 2, .renewAfter = std::chrono::milliseconds(0)});
  answerWith([this](const std::string& target) {
    if (target.ends_with("/m")) return notFound(R"(configmaps \"m\" not found)");
    if (target.find("continue=") == std::string::npos) return list(item("a", ""), "two", "1");
    begun.release();
    mayEnd.acquire();
    return list(item("b", ""), "");
  });
  serveThings();
  graph::Condition things = carriers();
  things.type = kReadThings;
  for (const graph::Condition& condition : {carriers(), things})
    EXPECT_FALSE(holderOf(condition, seconds(0)));
  for (int i = 0; i < 2; ++i) begun.acquire();
  mayEnd.release(2);
  for (int i = 0; i < 2; ++i) ended.acquire();
  begun.acquire();
  const auto holder = holderOf(existence(kConfigMaps, "m"));
  EXPECT_TRUE(holder) << holder.error().message;
  const std::vector<std::string> requests = asked();
  EXPECT_EQ(
      std::ranges::count_if(requests, [](const auto& one) { return one.find("continue=") != one.npos; }), 3)
      << "one type is read again, and no other";
}

TEST_F(LargeTypeTest, IsReadAnewForWhoAsksAgainLater) {
  begin({.renewAfter = std::chrono::milliseconds(0)});
  tell("a");
  tell("b");
  readToTheEnd();
  for (int i = 0; i < 3; ++i) {
    begun.acquire();
    mayEnd.release();
    ended.acquire();
  }
  EXPECT_TRUE(holderOf(carriers())) << "while it is read anew";
}

}  // namespace
}  // namespace lastout::server
