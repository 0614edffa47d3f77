#include "tests/client/reflector_fixture.h"

#include <utility>

namespace lastout::testing {

using client::ListPage;
using client::StreamedObject;
using client::WatchFrom;

StreamedObject objectAt(const std::string& name, const std::string& version, const std::string& uid) {
  StreamedObject result;
  result.meta.namespaceName = "app";
  result.meta.name = name;
  result.meta.uid = uid.empty() ? "uid-" + name : uid;
  result.meta.resourceVersion = version;
  return result;
}

ReflectorTest::ReflectorTest()
    : reflector({}, [] { return 0.5; },
                {[this](const StreamedObject& upsert) {
                   told_.push_back(upsert.meta.name + " at " + upsert.meta.resourceVersion);
                 },
                 [this](const client::Removed& removed) { told_.push_back(removed.uid + " removed"); },
                 [](const client::SyncStatus&) {}}) {}

std::vector<std::string> ReflectorTest::told() { return std::exchange(told_, {}); }

client::Next ReflectorTest::passBackoff() {
  client::Next next = reflector.next(now);
  if (const auto* wait = std::get_if<client::WaitUntil>(&next)) {
    now = wait->when;
    next = reflector.next(now);
  }
  return next;
}

ListPage ReflectorTest::nextIsList() {
  const client::Next next = passBackoff();
  const auto* page = std::get_if<ListPage>(&next);
  EXPECT_NE(page, nullptr);
  return page == nullptr ? ListPage{} : *page;
}

std::string ReflectorTest::nextIsWatch() {
  const client::Next next = passBackoff();
  const auto* from = std::get_if<WatchFrom>(&next);
  EXPECT_NE(from, nullptr);
  reflector.watchBegan(now);
  return from == nullptr ? "" : from->resourceVersion;
}

void ReflectorTest::list(const std::vector<StreamedObject>& objects, const std::string& version) {
  nextIsList();
  answer(objects, version, "");
}

void ReflectorTest::answer(const std::vector<StreamedObject>& objects, const std::string& version,
                           const std::string& continueToken) {
  for (const StreamedObject& item : objects) EXPECT_TRUE(reflector.item(item, now));
  reflector.endOfPage(version, continueToken, now);
}

bool ReflectorTest::event(client::EventType type, StreamedObject about) {
  return reflector.event({type, std::move(about), {}}, now);
}

bool ReflectorTest::bookmark(const std::string& version) {
  return event(client::EventType::Bookmark, objectAt("", version));
}

bool ReflectorTest::error(int code, const std::string& reason) {
  return reflector.event({client::EventType::Error, {}, {code, reason, "words of the server", {}}}, now);
}

void ReflectorTest::fail(int code) { reflector.failed({code, "", "words", {}}, now); }

void ReflectorTest::follow() {
  list({objectAt("a", "5"), objectAt("b", "7")}, "10");
  EXPECT_EQ(nextIsWatch(), "10");
  told();
}

}  // namespace lastout::testing
