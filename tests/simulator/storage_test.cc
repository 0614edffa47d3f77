#include "simulator/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace lastout::simulator {
namespace {

using ::testing::ElementsAre;

const kube::GroupResource kCool{"my.crd.group", "coolresources"};
constexpr size_t kHistory = 4;
constexpr size_t kAll = 1 << 20;  // bytes, of all writes here

kube::ObjectKey keyOf(std::string space, std::string name) {
  return {kCool, std::move(space), std::move(name)};
}

Json objectNamed(std::string_view name, int size) {
  return {{"metadata", {{"name", name}}}, {"spec", {{"size", size}}}};
}

std::vector<std::string> namesOf(const std::vector<RecordRef>& records) {
  std::vector<std::string> names;
  names.reserve(records.size());
  for (const RecordRef& record : records)
    names.push_back(record->key().namespaceName + "/" + record->key().name + "=" +
                    record->object()["spec"]["size"].dump());
  return names;
}

class StorageTest : public ::testing::Test {
 public:
  RecordRef put(std::string space, const std::string& name, int size) {
    return storage.put(keyOf(std::move(space), name), objectNamed(name, size));
  }
  Storage storage{kHistory};
};

TEST_F(StorageTest, EveryWriteHasAHigherVersionThatTheObjectCarries) {
  const RecordRef first = put("a", "x", 1);
  const RecordRef second = put("a", "x", 2);
  EXPECT_GT(second->version(), first->version());
  EXPECT_EQ(second->object()["metadata"]["resourceVersion"], std::to_string(second->version()));
  EXPECT_EQ(storage.version(), second->version());
  EXPECT_EQ(storage.find(keyOf("a", "x")), second);
}

// As etcd orders its keys: what a namespace's name begins with is not enough to be before it.
TEST_F(StorageTest, ListsInTheOrderOfPathNames) {
  put("demo", "z", 1);
  put("demo", "y", 2);
  put("demo-2", "x", 3);
  put("demos", "y", 4);
  EXPECT_THAT(namesOf(storage.list(kCool, "")),
              ElementsAre("demo-2/x=3", "demo/y=2", "demo/z=1", "demos/y=4"));
  EXPECT_THAT(namesOf(storage.list(kCool, "demo")), ElementsAre("demo/y=2", "demo/z=1"));
  EXPECT_TRUE(storage.list({"", "pods"}, "").empty());
}

TEST_F(StorageTest, ANameWithASlashIsNoPathToAnother) {
  put("a", "x", 1);
  EXPECT_EQ(storage.find(keyOf("", "a/x")), nullptr);
  EXPECT_EQ(storage.erase(keyOf("", "a/x")), nullptr);
}

TEST_F(StorageTest, WhatCannotBeStoredLeavesNoTrace) {
  const uint64_t then = storage.version();
  EXPECT_ANY_THROW(storage.put(keyOf("a", "x"), {{"metadata", "none"}}));
  EXPECT_EQ(storage.version(), then);
  EXPECT_EQ(storage.find(keyOf("a", "x")), nullptr);
  EXPECT_TRUE(storage.list(kCool, "").empty());
}

TEST_F(StorageTest, AnEarlierVersionIsListedAsItWas) {
  put("a", "x", 1);
  const uint64_t then = put("a", "y", 1)->version();
  put("a", "x", 2);
  storage.erase(keyOf("a", "y"));
  put("b", "z", 1);
  const auto at = [&](uint64_t version, std::string_view space) {
    return namesOf(storage.listAt(kCool, version, {space, ""}).value().records);
  };
  EXPECT_THAT(at(then, ""), ElementsAre("a/x=1", "a/y=1"));
  EXPECT_THAT(at(then + 1, "a"), ElementsAre("a/x=2", "a/y=1"));
  EXPECT_THAT(at(storage.version(), ""), ElementsAre("a/x=2", "b/z=1"));
  put("b", "z", 2);
  put("b", "z", 3);
  EXPECT_FALSE(storage.listAt(kCool, then, {}).has_value()) << "more than the history keeps ago";
  EXPECT_FALSE(storage.listAt(kCool, storage.version() + 1, {}).has_value());
}

// Objects come, change and go between any two pages; together the pages are the list at the first one.
TEST(Storage, PagesTogetherAreTheListThatTheFirstWasOf) {
  std::mt19937 random(7);
  Storage storage(1000);
  const std::vector<std::string> spaces = {"demo", "demo-2", "demos"};
  const auto change = [&] {
    const kube::ObjectKey key = keyOf(spaces[random() % 3], "n" + std::to_string(random() % 20));
    if (random() % 3 == 0)
      storage.erase(key);
    else
      storage.put(key, objectNamed(key.name, static_cast<int>(storage.version())));
  };
  for (int i = 0; i < 40; ++i) change();
  for (const std::string_view space : {"", "demo"}) {
    const uint64_t version = storage.version();
    const std::vector<RecordRef> all = storage.list(kCool, space);
    std::vector<RecordRef> paged;
    std::string last;
    for (size_t left = 1; left != 0; last = pathName(paged.back()->key())) {
      const StoragePage page = storage.listAt(kCool, version, {space, last, 3}).value();
      paged.insert(paged.end(), page.records.begin(), page.records.end());
      left = page.left;
      ASSERT_EQ(paged.size() + left, all.size());
      for (int i = 0; i < 10; ++i) change();
    }
    EXPECT_EQ(paged, all);
    EXPECT_TRUE(storage.listAt(kCool, version, {space, "zzz"}).value().records.empty());
  }
}

TEST(Storage, LargeObjectsHaveAShorterHistory) {
  constexpr size_t kMiB = size_t{1} << 20;
  Storage storage(100, 3 * kMiB);
  const auto put = [&](const std::string& name, size_t bytes) {
    const Json object = {{"metadata", {{"name", name}}}, {"data", std::string(bytes, 'x')}};
    return storage.put(keyOf("a", name), object)->version();
  };
  const auto kept = [&] { return storage.history(kCool)->writes.size(); };
  for (const char* name : {"v", "w", "x", "y"}) put(name, kMiB);
  EXPECT_EQ(kept(), 4U) << "what is stored now is there anyway";
  const uint64_t second = put("x", kMiB);
  put("x", kMiB);
  EXPECT_EQ(kept(), 6U);
  put("x", 1);
  EXPECT_EQ(kept(), 2U) << "three replaced states of a MiB and a bit are too much";
  EXPECT_EQ(storage.history(kCool)->knownSince, second);
  storage.erase(keyOf("a", "v"));
  EXPECT_EQ(kept(), 1U) << "the state before and the last one";
  put("large", 4 * kMiB);
  put("large", 4 * kMiB);
  EXPECT_EQ(kept(), 1U) << "the last write is always known";
}

TEST_F(StorageTest, ATypeThatIsGoneIsForgotten) {
  const uint64_t before = put("a", "x", 1)->version();
  const auto history = storage.history(kCool);
  storage.drop(kCool);
  EXPECT_TRUE(history->ended);
  EXPECT_TRUE(storage.list(kCool, "").empty());
  put("a", "y", 1);
  EXPECT_FALSE(storage.listAt(kCool, before - 1, {}).has_value());
  std::vector<Write> writes;
  EXPECT_FALSE(storage.history(kCool)->after(before - 1, kAll, writes));
  EXPECT_EQ(history->writes.size(), 1U) << "what follows is another type's";
}

TEST_F(StorageTest, WritesAreToldInOrderUntilTheyAreForgotten) {
  const uint64_t start = storage.version();
  put("a", "x", 1);
  put("a", "x", 2);
  const RecordRef last = storage.erase(keyOf("a", "x"));
  std::vector<Write> writes;
  ASSERT_TRUE(storage.history(kCool)->after(start, kAll, writes));
  ASSERT_EQ(writes.size(), 3U);
  EXPECT_EQ(writes[0].kind, Write::Kind::Added);
  EXPECT_EQ(writes[1].kind, Write::Kind::Modified);
  EXPECT_EQ(writes[1].before, writes[0].record);
  EXPECT_EQ(writes[2].kind, Write::Kind::Deleted);
  EXPECT_EQ(writes[2].record, last);
  EXPECT_EQ(last->object()["spec"]["size"], 2) << "as it was last";
  EXPECT_EQ(last->object()["metadata"]["resourceVersion"], std::to_string(storage.version()));
  writes.clear();
  ASSERT_TRUE(storage.history(kCool)->after(start + 1, 1, writes));
  EXPECT_EQ(writes.size(), 1U) << "larger than that, but no piece is empty";
  put("a", "y", 1);
  put("a", "y", 2);
  EXPECT_FALSE(storage.history(kCool)->after(start, kAll, writes));
  EXPECT_TRUE(storage.history(kCool)->after(storage.history(kCool)->knownSince, kAll, writes));
}

TEST_F(StorageTest, OfMetadataAloneThereIsATextOfItsOwn) {
  const RecordRef record = put("a", "x", 1);
  EXPECT_EQ(Json::parse(record->text()), record->object());
  EXPECT_EQ(Json::parse(record->metadataText()), Json({{"kind", "PartialObjectMetadata"},
                                                       {"apiVersion", "meta.k8s.io/v1"},
                                                       {"metadata", record->object()["metadata"]}}));
}

}  // namespace
}  // namespace lastout::simulator
