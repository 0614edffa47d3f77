#include "client/metadata_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/client/recorded_answers.h"

namespace lastout::client {
namespace {

using lastout::testing::OrderedJson;
using lastout::testing::pushInPieces;
using lastout::testing::recordedBody;
using lastout::testing::recordedEvents;
using lastout::testing::recordedWatch;
using ::testing::HasSubstr;

// Texts are cut at each place that this divides.
#ifdef LASTOUT_SANITIZED
constexpr size_t kCutEach = 17;
#else
constexpr size_t kCutEach = 1;
#endif

// What is compared of an object: by the recording itself, or by what was streamed.
OrderedJson summary(const OrderedJson& metadata) {
  OrderedJson summary;
  for (const char* key : {"namespace", "name", "uid", "resourceVersion"})
    summary[key] = metadata.value(key, "");
  summary["generation"] = metadata.value("generation", 0);
  summary["finalizers"] = metadata.value("finalizers", OrderedJson::array());
  summary["terminating"] = metadata.contains("deletionTimestamp");
  summary["labels"] = nlohmann::json(metadata.value("labels", OrderedJson::object()));
  return summary;
}

OrderedJson summary(const kube::ObjectMeta& meta) {
  OrderedJson summary;
  summary["namespace"] = meta.namespaceName;
  summary["name"] = meta.name;
  summary["uid"] = meta.uid;
  summary["resourceVersion"] = meta.resourceVersion;
  summary["generation"] = meta.generation;
  summary["finalizers"] = meta.finalizers;
  summary["terminating"] = meta.deletionTimestamp.has_value();
  summary["labels"] = nlohmann::json::object();
  for (const auto& [key, value] : meta.labels) summary["labels"][key] = value;
  return summary;
}

struct Listed {
  std::vector<StreamedObject> objects;
  ListEnd end;
  std::string error;
};

Listed list(std::string_view text, size_t size, Content content = Content::Metadata,
            const StreamLimits& limits = {}) {
  Listed listed;
  ListStream stream(
      content, [&](StreamedObject object) { listed.objects.push_back(std::move(object)); }, limits);
  const auto pushed = pushInPieces(stream, text, size);
  const auto end = stream.finish();
  if (end) {
    listed.end = *end;
  } else {
    listed.error = end.error().message;
  }
  EXPECT_TRUE(pushed || pushed.error().message == listed.error);
  return listed;
}

TEST(ListStream, ReadsRecordedLists) {
  for (const char* name : {"029-list-all-namespaces", "030-list-metadata-only", "033-list-page-1",
                           "034-list-page-2-with-continue-of-page-1", "035-list-label-selector",
                           "040-list-from-cache", "073-list-replicasets-of-deployment",
                           "074-list-pods-of-deployment", "078-list-metadata-deployments"}) {
    const OrderedJson body = recordedBody(name);
    const std::string text = body.dump();
    for (const size_t size : {size_t{1}, size_t{7}, size_t{100}, text.size()}) {
      const Listed listed = list(text, size);
      EXPECT_EQ(listed.error, "") << name;
      ASSERT_EQ(listed.objects.size(), body["items"].size()) << name;
      for (size_t i = 0; i < listed.objects.size(); ++i) {
        EXPECT_EQ(summary(listed.objects[i].meta), summary(body["items"][i]["metadata"])) << name;
        EXPECT_TRUE(listed.objects[i].content.isNull());
      }
      EXPECT_EQ(listed.end.kind, body["kind"]);
      EXPECT_EQ(listed.end.resourceVersion, body["metadata"]["resourceVersion"]);
      EXPECT_EQ(listed.end.continueToken, body["metadata"].value("continue", ""));
      EXPECT_EQ(listed.end.remaining.value_or(0), body["metadata"].value("remainingItemCount", 0));
    }
  }
}

// They count, and need not even be objects that can be read.
TEST(ListStream, PassesOverItemsThatNobodyWants) {
  const std::string text =
      R"({"kind":"ThingList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[)"
      R"({"metadata":{"name":"a"}},{"unwanted":{}},{"metadata":{"name":"b"}}]})";
  std::vector<std::string> names;
  ListStream stream(
      Content::Metadata,
      [](std::string_view item) { return item.find("unwanted") == std::string_view::npos; },
      [&](const StreamedObject& object) { names.push_back(object.meta.name); });
  ASSERT_TRUE(stream.push(text));
  ASSERT_TRUE(stream.finish());
  EXPECT_EQ(names, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(stream.items(), 3);
}

TEST(ListStream, KeepsWholeObjectsWhereTheyAreWanted) {
  const OrderedJson body = recordedBody("029-list-all-namespaces");
  const Listed listed = list(body.dump(), 50, Content::Whole);
  ASSERT_EQ(listed.objects.size(), body["items"].size()) << listed.error;
  for (size_t i = 0; i < listed.objects.size(); ++i) {
    EXPECT_EQ(listed.objects[i].kind, "CoolResource");
    EXPECT_EQ(kube::toJson(listed.objects[i].content), body["items"][i]);
  }
}

TEST(ListStream, KeepsTheMetadataOfWhatRefersToTooMuch) {
  OrderedJson object = {{"metadata", {{"name", "x"}}}, {"subjects", OrderedJson::array()}};
  for (int i = 0; i < 100; ++i) object["subjects"].push_back("a");
  StreamLimits limits;
  limits.values = 50;
  const auto read = decodeObject(object.dump(), Content::References, limits);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->meta.name, "x");
  EXPECT_EQ(read->content.find("subjects"), nullptr);
  EXPECT_FALSE(decodeObject(object.dump(), Content::Whole, limits));
  EXPECT_FALSE(decodeObject("{", Content::References, limits));
}

// What is in a Secret's data, elsewhere in a status or in managedFields is nowhere afterwards.
TEST(ListStream, KeepsWhatNamesOthersAlone) {
  const std::string kept =
      R"({"metadata":{"name":"x"},"spec":{"template":{"spec":{"volumes":[{"name":"v"}]}},"jobTemplate":{},"names":{"kind":"K"},)"
      R"("conversion":{"strategy":"Webhook","webhook":{"clientConfig":{"service":{"name":"s"}}}},)"
      R"("selector":{"app":"p"},"replicas":2,"volumeClaimTemplates":[],"service":{"name":"s"}},)"
      R"("subjects":[{"kind":"ServiceAccount"}],"roleRef":{"name":"r"},)"
      R"("aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]},"imagePullSecrets":[{"name":"p"}],)"
      R"("rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"],"resourceNames":["x"]}],)"
      R"("status":{"appliedResources":[{"name":"a"}],"replicas":1}})";
  OrderedJson whole = OrderedJson::parse(kept);
  whole["metadata"]["managedFields"] = OrderedJson::array({1});
  whole["spec"]["clusterIP"] = "10.0.0.1";
  whole["spec"]["versions"] = OrderedJson::array({1});
  whole["spec"]["conversion"]["webhook"]["conversionReviewVersions"] = OrderedJson::array({"v1"});
  whole["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] = "Y2VydA==";
  whole["status"]["readyReplicas"] = 1;
  whole["data"]["key"] = "c2VjcmV0";
  whole["rules"][0]["nonResourceURLs"] = OrderedJson::array({"/x"});
  const auto object = decodeObject(whole.dump(), Content::References);
  ASSERT_TRUE(object) << object.error().message;
  EXPECT_EQ(kube::toJson(object->content).dump(), kept);
  whole["metadata"]["resourceVersion"] = "7";
  const auto event =
      decodeEvent(OrderedJson{{"type", "ADDED"}, {"object", whole}}.dump(), Content::References);
  ASSERT_TRUE(event) << event.error().message;
  const OrderedJson streamed = OrderedJson::parse(kube::toJson(event->object.content).dump());
  EXPECT_EQ(streamed["spec"].size(), 8U);
  EXPECT_EQ(streamed["status"].size(), 2U);
  EXPECT_FALSE(streamed.contains("data")) << streamed;
  EXPECT_FALSE(streamed["metadata"].contains("managedFields")) << streamed;
}

TEST(ListStream, KeepsThePodTemplateOfAControllerRevision) {
  const auto kept = [](const std::string& data) {
    const auto object = decodeObject(R"({"metadata":{"name":"x"},"data":)" + data + "}", Content::References);
    return object ? kube::toJson(object->content)["data"].dump() : object.error().message;
  };
  EXPECT_EQ(kept(R"({"spec":{"template":{"spec":{"volumes":[]}},"other":1},"key":"c2VjcmV0"})"),
            R"({"spec":{"template":{"spec":{"volumes":[]}}}})");
  for (const char* other : {R"({"spec":"c2VjcmV0"})", R"("c2VjcmV0")", "{}", "[1]", "null"})
    EXPECT_EQ(kept(other), "null") << other;
}

TEST(ListStream, ObjectsThatSayNotWhatTheyAreGetTheKindOfTheirType) {
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  auto streamed = decodeObject(R"({"metadata":{"name":"web","namespace":"app"},"spec":{}})", Content::Whole);
  const kube::Object pod = toObject(std::move(streamed.value()), *types.find({"", "pods"}));
  EXPECT_EQ(toString(pod.key), "pods/app/web");
  EXPECT_EQ(pod.apiVersion + " " + pod.kind, "v1 Pod");
  EXPECT_EQ(kube::toJson(pod.content).dump(),
            R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"app"},"spec":{}})");
}

TEST(ListStream, MetadataAloneGetsTheKindOfItsType) {
  const Listed listed = list(recordedBody("078-list-metadata-deployments").dump(), 100);
  ASSERT_FALSE(listed.objects.empty());
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  const kube::Object object = toObject(listed.objects[0], *types.find({"apps", "deployments"}));
  EXPECT_EQ(object.apiVersion + " " + object.kind, "apps/v1 Deployment");
}

TEST(ListStream, IsNoListBeforeItsEnd) {
  const std::string text = recordedBody("030-list-metadata-only").dump();
  const size_t all = list(text, text.size()).objects.size();
  for (size_t cut = 0; cut < text.size(); cut += kCutEach) {
    const Listed listed = list(std::string_view(text).substr(0, cut), 1'000);
    ASSERT_EQ(listed.error, "the list ended before it was whole") << cut;
    ASSERT_LE(listed.objects.size(), all);
  }
}

TEST(ListStream, RefusesWhatIsNoListOfObjects) {
  const std::pair<std::string, const char*> mistakes[] = {
      {recordedBody("043-get-not-found").dump(), "the answer is no list, but \"Status\""},
      {recordedBody("031-list-table").dump(), "the answer is no list, but \"Table\""},
      {recordedBody("041-get").dump(), "the answer is no list, but \"CoolResource\""},
      {R"({"kind":"PodList","items":[]})", "the list has no metadata"},
      {R"({"kind":"PodList","metadata":[],"items":[]})", "the list has no metadata"},
      {R"({"kind":"PodList","metadata":{}})", "the answer is no list, but \"PodList\""},
      {R"({"kind":"PodList","metadata":{},"items":{}})", "the answer is no list, but \"PodList\""},
      {R"({"kind":"PodList","metadata":{},"\u0069tems":[{"metadata":{"name":"a"}}]})",
       "the answer is no list, but \"PodList\""},
      {R"({"kind":7,"metadata":{},"items":[]})", "the answer is no list, but \"\""},
      {R"({"kind":"PodList","kind":"PodList","metadata":{},"items":[]})",
       "the list is it has the key \"kind\" twice in one map"},
  };
  for (const auto& [text, error] : mistakes) EXPECT_EQ(list(text, 9).error, error) << text.substr(0, 200);
}

// Nobody's object is to hide those of others: each is told as what it is, and the others as ever.
TEST(ListStream, ReadsWhatStandsBesideAnItemThatCannotBeRead) {
  StreamLimits limits;
  limits.values = 50;
  limits.itemBytes = 1'000;
  const auto unread = [&](const std::string& item) {
    const std::string end = R"(],"kind":"ThingList","metadata":{"resourceVersion":"7"}})";
    std::string told;
    for (const Content content : {Content::Metadata, Content::References, Content::Whole}) {
      const Listed listed = list(
          R"({"items":[{"metadata":{"name":"before"}},)" + item + R"(,{"metadata":{"name":"after"}})" + end,
          9, content, limits);
      EXPECT_EQ(listed.error, "") << item;
      if (listed.objects.size() != 3) return "objects: " + std::to_string(listed.objects.size());
      EXPECT_EQ(listed.objects[0].meta.name + listed.objects[2].meta.name, "beforeafter");
      EXPECT_EQ(listed.objects[0].unread + listed.objects[2].unread, "");
      EXPECT_TRUE(listed.objects[1].content.isNull() || listed.objects[1].unread.empty());
      told = listed.objects[1].unread.empty() ? "" : whyUnread(listed.objects[1]);
    }
    return told;
  };
  const auto item = [](const std::string& metadata) {
    return R"({"metadata":{"namespace":"app","name":"x\n1","uid":"u","resourceVersion":"5",)" + metadata +
           "}}";
  };
  const std::string name = R"(app/x\x0a1 cannot be read: )";
  EXPECT_EQ(unread("{}"), "an object cannot be read: it is no object with metadata");
  EXPECT_EQ(unread(R"({"metadata":{}})"), "an object cannot be read: it has no name");
  EXPECT_EQ(unread(R"({"metadata":{"name":["a"]}})"),
            "an object cannot be read: metadata.name must be a string, not a list");
  EXPECT_EQ(unread(item(R"("finalizers":7)")), name + "metadata.finalizers must be a list, not an integer");
  std::string many = "1";
  for (int i = 0; i < 60; ++i) many += ",1";
  EXPECT_EQ(unread(item(R"("finalizers":[)" + many + "]")), name + "larger than 50 values");
  EXPECT_EQ(unread(item(R"("labels":{"a":")" + std::string(1'000, 'x') + "\"}")),
            "an object cannot be read: it is longer than 1000 bytes");
  EXPECT_EQ(unread(R"({"metadata":{"name":"a"},"a":1e999})").substr(0, 30), "an object cannot be read: not ");
  EXPECT_EQ(unread(item(R"("labels":{"a":")"
                        "\xff\"}"))
                .substr(0, 30),
            "an object cannot be read: not ");
}

// How deep it is nested is up to whoever wrote the object, and the API server tells it in managedFields.
TEST(ListStream, ReadsTheMetadataOfWhatIsNestedDeep) {
  const std::string deep = std::string(3'000, '[') + std::string(3'000, ']');
  const std::string object = R"({"metadata":{"name":"a","managedFields":)" + deep +
                             R"(},"spec":{"replicas":1,"template":)" + deep + "}}";
  for (const Content content : {Content::Metadata, Content::References}) {
    const auto read = decodeObject(object, content);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->meta.name, "a");
  }
  const auto whole = decodeObject(object, Content::Whole);
  ASSERT_FALSE(whole);
  EXPECT_EQ(whole.error().message, "nested more than 256 deep");
}

TEST(DecodeObject, RefusesWhatIsHostile) {
  const auto inItem = [](const std::string& item) { return R"({"metadata":{"name":"a"},)" + item; };
  StreamLimits limits;
  limits.values = 50;
  const std::pair<std::string, const char*> mistakes[] = {
      {inItem("\"a\":\"\xff\"}"), "not JSON that is read here"},
      {inItem("\"a\":\"\xc0\x80\"}"), "not JSON that is read here"},
      {inItem("\"a\":\"\\ud800\"}"), "not JSON that is read here"},
      {inItem("\"a\":\"" + std::string(1, '\0') + "\"}"), "not JSON that is read here"},
      {inItem("\"a\":[}"), "not JSON that is read here"},
      {inItem("\"a\":1e999}"), "not JSON that is read here"},
      {inItem("\"a\":NaN}"), "not JSON that is read here"},
      {inItem("\"kind\":\"b\",\"kind\":\"b\"}"), "it has the key"},
      {inItem("\"metadata\":{\"name\":\"b\"}}"), "it has the key"},
      {R"({"metadata":{"name":"a","x":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,)"
       R"(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}})",
       "larger than 50 values"},
  };
  for (const auto& [text, error] : mistakes) {
    const auto read = decodeObject(text, Content::Metadata, limits);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().message.rfind(error, 0), 0U) << read.error().message << "\n" << text;
  }
}

struct Watched {
  std::vector<WatchEvent> events;
  std::string error;
};

Watched watch(std::string_view text, size_t size, Content content = Content::Metadata) {
  Watched watched;
  WatchStream stream(content, [&](WatchEvent event) { watched.events.push_back(std::move(event)); });
  const auto pushed = pushInPieces(stream, text, size);
  const auto finished = stream.finish();
  EXPECT_TRUE(pushed || !finished);
  if (!finished) watched.error = finished.error().message;
  return watched;
}

constexpr const char* kWords[] = {"ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"};

TEST(WatchStream, ReadsRecordedWatches) {
  for (const char* name : {"080-watch-full-objects", "081-watch-metadata-only"}) {
    const std::vector<OrderedJson> recorded = recordedEvents(name);
    const std::string text = recordedWatch(name);
    for (const size_t size : {size_t{1}, size_t{13}, size_t{4'096}, text.size()}) {
      const Watched watched = watch(text, size);
      EXPECT_EQ(watched.error, "") << name;
      ASSERT_EQ(watched.events.size(), recorded.size()) << name;
      for (size_t i = 0; i < recorded.size(); ++i) {
        EXPECT_EQ(kWords[static_cast<size_t>(watched.events[i].type)], recorded[i]["type"]);
        EXPECT_EQ(summary(watched.events[i].object.meta), summary(recorded[i]["object"]["metadata"]));
      }
      EXPECT_EQ(watched.events.back().type, EventType::Bookmark);
    }
  }
}

TEST(WatchStream, KeepsWholeObjectsWhereTheyAreWanted) {
  const std::vector<OrderedJson> recorded = recordedEvents("080-watch-full-objects");
  const Watched watched = watch(recordedWatch("080-watch-full-objects"), 100, Content::Whole);
  ASSERT_EQ(watched.events.size(), recorded.size());
  for (size_t i = 0; i < recorded.size(); ++i)
    EXPECT_EQ(kube::toJson(watched.events[i].object.content), recorded[i]["object"]);
}

TEST(WatchStream, SaysThatAVersionIsTooOld) {
  const Watched watched = watch(recordedBody("070-watch-too-old").dump() + "\n", 10);
  ASSERT_EQ(watched.events.size(), 1U) << watched.error;
  EXPECT_EQ(watched.events[0].type, EventType::Error);
  EXPECT_TRUE(isExpired(watched.events[0].status));
  EXPECT_EQ(toString(watched.events[0].status), "410 Expired: too old resource version: 1 (740)");
}

TEST(WatchStream, CutAnywhereHasTheEventsBefore) {
  const std::string text = recordedWatch("081-watch-metadata-only");
  size_t before = 0;
  for (size_t cut = 0; cut < text.size(); ++cut) {
    if (cut > 0 && text[cut - 1] == '\n') ++before;
    const bool between = cut == 0 || text[cut - 1] == '\n';
    if (!between && cut % kCutEach != 0) continue;
    const Watched watched = watch(std::string_view(text).substr(0, cut), 4'096);
    ASSERT_EQ(watched.events.size(), before) << cut;
    ASSERT_EQ(watched.error, between ? "" : "the watch was cut off inside an event") << cut;
  }
}

TEST(WatchStream, RefusesWhatIsNoEvent) {
  const std::string named = R"({"metadata":{"name":"a","resourceVersion":"1"}})";
  const std::pair<std::string, std::string> mistakes[] = {
      {"5", "the watch has an event of type \"\""},
      {"[]", "the watch has an event of type \"\""},
      {"{}", "the watch has an event of type \"\""},
      {R"({"type":["ADDED"],"object":)" + named + "}", "the watch has an event of type \"\""},
      {R"({"type":"added","object":)" + named + "}", "the watch has an event of type \"added\""},
      {R"({"type":"BOOKMARK","object":{"metadata":{}}})",
       "the object of an event BOOKMARK cannot be read: it has no resourceVersion"},
      {R"({"type":"ERROR","object":)" + named + "}",
       "the object of an event ERROR cannot be read: it is no Status"},
      {R"({"type":"ADDED","object":)" + named + "} {}",
       "an event of the watch cannot be read: not JSON that is read here"},
      {R"({"type":"ADDED","object":)" + named,
       "an event of the watch cannot be read: not JSON that is read here"},
      {R"({"type":"ADDED","type":"DELETED","object":)" + named + "}",
       "an event of the watch cannot be read: it has the key \"type\" twice in one map"},
      {"{\"type\":\"ADDED\xfe\"}", "an event of the watch cannot be read: not JSON that is read here"},
  };
  for (const auto& [text, error] : mistakes) {
    for (const Content content : {Content::Metadata, Content::References, Content::Whole}) {
      const Watched watched = watch(text + "\n", 9, content);
      EXPECT_EQ(watched.error.rfind(error, 0), 0U) << text << "\n" << watched.error;
      EXPECT_TRUE(watched.events.empty());
    }
  }
}

TEST(WatchStream, GoesOnAfterAnObjectThatCannotBeRead) {
  const std::string deep = std::string(3'000, '[') + std::string(3'000, ']');
  const auto event = [](const char* type, const std::string& object) {
    return R"({"type":")" + std::string(type) + R"(","object":)" + object + "}\n";
  };
  std::string longName;
  longName.resize(9'000'000, 'x');
  const std::string identity = R"("name":"x\n1","namespace":"app","uid":"u","resourceVersion":"5")";
  const std::string text =
      event("ADDED", R"({"metadata":{)" + identity + R"(,"managedFields":)" + deep + "}}") +
      event("MODIFIED", R"({"metadata":{)" + identity + R"(,"finalizers":7}})") +
      event("DELETED", R"({"metadata":{)" + identity + R"(,"labels":[]}})") + event("ADDED", "7") +
      event("DELETED", R"({"metadata":{"name":"a"}})") +
      event("MODIFIED", R"({"metadata":{"name":")" + longName + "\"}}") +
      event("ADDED", R"({"metadata":{"name":"a","resourceVersion":"6"}})");
  for (const Content content : {Content::Metadata, Content::References}) {
    const Watched watched = watch(text, 4'096, content);
    EXPECT_EQ(watched.error, "");
    std::vector<std::string> told;
    for (const WatchEvent& each : watched.events)
      told.push_back(kWords[static_cast<size_t>(each.type)] + std::string(" ") + each.object.meta.name + " " +
                     each.object.meta.resourceVersion + (each.object.unread.empty() ? "" : " unread"));
    EXPECT_THAT(
        told, ::testing::ElementsAre("ADDED x\n1 5", "MODIFIED x\n1 5 unread", "DELETED x\n1 5 unread",
                                     "ADDED   unread", "DELETED   unread", "MODIFIED   unread", "ADDED a 6"));
  }
}

// Whatever bytes come, the size of their pieces changes nothing.
TEST(WatchStream, ReadsBrokenTextTheSameInAnyPieces) {
  std::mt19937 random(20'261'121);  // NOLINT(cert-msc51-cpp): the same each time
  const std::string listed = recordedBody("030-list-metadata-only").dump();
  const std::string watched = recordedWatch("081-watch-metadata-only").substr(0, 6'000);
  const std::string bytes = "{}[]\",:\\ \n\xff\xc3x0";
  for (int round = 0; round < 300; ++round) {
    std::string listText = listed;
    std::string watchText = watched;
    for (int change = 0; change < 1 + round % 3; ++change) {
      listText[random() % listText.size()] = bytes[random() % bytes.size()];
      watchText[random() % watchText.size()] = bytes[random() % bytes.size()];
    }
    const size_t size = 1 + random() % 700;
    const Listed a = list(listText, listText.size());
    const Listed b = list(listText, size);
    EXPECT_EQ(a.error, b.error);
    EXPECT_EQ(a.objects.size(), b.objects.size());
    const Watched c = watch(watchText, watchText.size());
    const Watched d = watch(watchText, size);
    EXPECT_EQ(c.error, d.error);
    EXPECT_EQ(c.events.size(), d.events.size());
  }
}

TEST(Status, IsReadFromAnAnswer) {
  const ServerStatus future = statusOfAnswer(504, recordedBody("071-list-future-resource-version").dump());
  EXPECT_EQ(future.code, 504);
  EXPECT_EQ(future.reason, "Timeout");
  EXPECT_EQ(future.retryAfter, std::chrono::seconds(1));
  EXPECT_TRUE(future.isBehind);
  EXPECT_FALSE(statusOfAnswer(404, "404 page not found\n").isBehind);
  EXPECT_EQ(toString(statusOfAnswer(404, "404 page not found\n")), "404: 404 page not found");
  EXPECT_EQ(toString(statusOfAnswer(502, "")), "502");
  EXPECT_EQ(toString(statusOfAnswer(500, "\xff{")), "500: \\xff{");
  const ServerStatus strange =
      statusOfAnswer(403, R"({"kind":"Status","code":"x","reason":[],"details":{"retryAfterSeconds":-1}})");
  EXPECT_EQ(toString(strange), "403");
  EXPECT_FALSE(strange.retryAfter);
  EXPECT_FALSE(isExpired(strange));
  EXPECT_TRUE(isExpired(statusOfAnswer(410, "gone")));
  EXPECT_FALSE(isTooLarge(future)) << "that is about a version";
  EXPECT_FALSE(isTooLarge(statusOfAnswer(500, "the request is broken")));
  EXPECT_TRUE(isTooLarge(statusOfAnswer(413, "")));
  EXPECT_TRUE(isTooLarge(statusOfAnswer(500, "etcdserver: request is too large")));
  EXPECT_TRUE(isTooLarge(statusOfAnswer(
      500, "rpc error: code = ResourceExhausted desc = trying to send message larger than max (3 vs. 2)")));
}

// The path at which a webhook is asked may be a secret.
TEST(Status, DoesNotTellThePathsOfUrls) {
  const OrderedJson recorded = recordedBody("110-delete-webhook-down-failurepolicy-fail");
  ASSERT_THAT(recorded.dump(), HasSubstr("https://127.0.0.1:19443/validate?timeout=2s"));
  EXPECT_THAT(toString(statusOfAnswer(500, recorded.dump())),
              HasSubstr("Post \"https://127.0.0.1:19443/...\": dial tcp 127.0.0.1:19443"));
  EXPECT_EQ(statusOfAnswer(502, "https://a https://b/c?d 'https://e:1/f' https://").message,
            "https://a https://b/... 'https://e:1/...' https://");
}

}  // namespace
}  // namespace lastout::client
