#include "apiserver/storage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lastout::apiserver {
namespace {

using ::testing::ElementsAre;

const kube::GroupResource kCool{"my.crd.group", "coolresources"};
constexpr size_t kHistory = 4;

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
  EXPECT_EQ(storage.count(), 1U);
}

TEST_F(StorageTest, ListsInTheOrderOfNamespacesAndNames) {
  put("b", "x", 1);
  put("a", "z", 2);
  put("a", "y", 3);
  put("ab", "y", 4);
  EXPECT_THAT(namesOf(storage.list(kCool, "")), ElementsAre("a/y=3", "a/z=2", "ab/y=4", "b/x=1"));
  EXPECT_THAT(namesOf(storage.list(kCool, "a")), ElementsAre("a/y=3", "a/z=2"));
  EXPECT_TRUE(storage.list({"", "pods"}, "").empty());
}

TEST_F(StorageTest, AnEarlierVersionIsListedAsItWas) {
  put("a", "x", 1);
  const uint64_t then = put("a", "y", 1)->version();
  put("a", "x", 2);
  storage.erase(keyOf("a", "y"));
  put("b", "z", 1);
  EXPECT_THAT(namesOf(storage.listAt(kCool, "", then).value()), ElementsAre("a/x=1", "a/y=1"));
  EXPECT_THAT(namesOf(storage.listAt(kCool, "a", then + 1).value()), ElementsAre("a/x=2", "a/y=1"));
  EXPECT_THAT(namesOf(storage.listAt(kCool, "", storage.version()).value()), ElementsAre("a/x=2", "b/z=1"));
  put("b", "z", 2);
  put("b", "z", 3);
  EXPECT_FALSE(storage.listAt(kCool, "", then).has_value()) << "more than the history keeps ago";
}

TEST_F(StorageTest, WritesAreToldInOrderUntilTheyAreForgotten) {
  const uint64_t start = storage.version();
  put("a", "x", 1);
  put("a", "x", 2);
  const RecordRef last = storage.erase(keyOf("a", "x"));
  std::vector<Write> writes;
  ASSERT_TRUE(storage.writesAfter(kCool, start, 10, writes));
  ASSERT_EQ(writes.size(), 3U);
  EXPECT_EQ(writes[0].kind, Write::Kind::Added);
  EXPECT_EQ(writes[1].kind, Write::Kind::Modified);
  EXPECT_EQ(writes[1].before, writes[0].record);
  EXPECT_EQ(writes[2].kind, Write::Kind::Deleted);
  EXPECT_EQ(writes[2].record, last);
  EXPECT_EQ(last->object()["spec"]["size"], 2) << "as it was last";
  EXPECT_EQ(last->object()["metadata"]["resourceVersion"], std::to_string(storage.version()));
  writes.clear();
  ASSERT_TRUE(storage.writesAfter(kCool, start + 1, 1, writes));
  EXPECT_EQ(writes.size(), 1U);
  put("a", "y", 1);
  put("a", "y", 2);
  EXPECT_FALSE(storage.writesAfter(kCool, start, 10, writes));
  EXPECT_TRUE(storage.writesAfter(kCool, storage.knownSince(kCool), 10, writes));
}

TEST_F(StorageTest, OfMetadataAloneThereIsATextOfItsOwn) {
  const RecordRef record = put("a", "x", 1);
  EXPECT_EQ(Json::parse(record->text()), record->object());
  EXPECT_EQ(Json::parse(record->metadataText()), Json({{"kind", "PartialObjectMetadata"},
                                                       {"apiVersion", "meta.k8s.io/v1"},
                                                       {"metadata", record->object()["metadata"]}}));
}

}  // namespace
}  // namespace lastout::apiserver
