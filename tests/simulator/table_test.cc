// Objects as PartialObjectMetadata and as tables.
#include "simulator/table.h"

#include <gtest/gtest.h>

#include "tests/simulator/recorded.h"

namespace lastout::simulator {
namespace {

constexpr int64_t kNoon = 1795262400;  // 2026-11-21T12:00:00Z

// What a list in these forms says of itself: no `continue`, where there is nothing to continue.
Json versionOf(const Json& list) { return {{"resourceVersion", list["metadata"]["resourceVersion"]}}; }

// Of the recorded tables.
const TableOptions kAsRecorded{kNoon, IncludeObject::Metadata, true, kube::KubernetesVersion::V1_26};

std::vector<const Json*> pointersTo(const Json& list) {
  std::vector<const Json*> pointers;
  for (const Json& item : list) pointers.push_back(&item);
  return pointers;
}

ServedTypePointer served(const char* group, const char* resource) {
  return TypeRegistry().findPreferred({group, resource});
}

ServedType coolTableType() { return servedTypesOf(recordedRequest("010-create-crd"))->front(); }

// The columns that are shown without -o wide, by name.
Json shown(const ServedType& type, const char* object) {
  const Json table = toTable(type, Json::parse(object), {kNoon});
  Json cells = Json::object();
  for (size_t i = 0; i < table["columnDefinitions"].size(); ++i) {
    const Json& column = table["columnDefinitions"][i];
    if (column["priority"] == 0) cells[std::string(column["name"])] = table["rows"][0]["cells"][i];
  }
  return cells;
}

TEST(PartialMetadata, IsTheRecordedOne) {
  EXPECT_EQ(toPartialMetadata(recordedAnswer("041-get")), recordedAnswer("042-get-metadata-only"));
  const Json full = recordedExchange("029-list-all-namespaces")["response"]["body"]["items"];
  Json partial = Json::array();
  for (const Json& item : full) partial.push_back(toPartialMetadata(item));
  EXPECT_EQ(partial, recordedExchange("030-list-metadata-only")["response"]["body"]["items"]);
}

TEST(Table, OfACustomResourceIsTheRecordedOne) {
  const Json full = recordedExchange("029-list-all-namespaces")["response"]["body"];
  EXPECT_EQ(toTable(coolTableType(), pointersTo(full["items"]), versionOf(full), kAsRecorded),
            recordedExchange("031-list-table")["response"]["body"]);
  const Json recorded = recordedExchange("032-get-table")["response"]["body"];
  for (const Json& item : full["items"]) {
    if (item["metadata"]["name"] != "plain") continue;
    EXPECT_EQ(toTable(coolTableType(), item, kAsRecorded), recorded);
  }
}

TEST(Table, RepeatsOfTheObjectWhatIsAskedFor) {
  const Json object = recordedAnswer("041-get");
  EXPECT_EQ(toTable(coolTableType(), object, {kNoon, IncludeObject::Object})["rows"][0]["object"], object);
  EXPECT_EQ(toTable(coolTableType(), object, {kNoon, IncludeObject::None})["rows"][0]["object"], nullptr);
  EXPECT_EQ(parseIncludeObject(""), IncludeObject::Metadata);
  EXPECT_EQ(parseIncludeObject("None"), IncludeObject::None);
  EXPECT_EQ(parseIncludeObject("All"), std::nullopt);
}

TEST(Table, OfALaterWatchEventHasNoColumns) {
  const Json table =
      toTable(coolTableType(), recordedAnswer("041-get"), {kNoon, IncludeObject::Metadata, false});
  EXPECT_EQ(table["columnDefinitions"], nullptr);
  EXPECT_EQ(table["rows"][0]["cells"], Json::parse(R"(["some-instance", 1])"));
}

TEST(Table, ShowsOneCellForEachColumnOfACrdByItsType) {
  ServedType type = coolTableType();
  type.columns = {{"Text", "string", "", "", 0, ".spec.text"},
                  {"Number", "integer", "", "", 0, ".spec.number"},
                  {"Flag", "boolean", "", "", 0, ".spec.flag"},
                  {"When", "date", "", "", 0, ".spec.when"},
                  {"Missing", "string", "", "", 0, ".spec.nothing"}};
  EXPECT_EQ(
      shown(type, R"({"metadata": {"name": "x"}, "spec": {"text": 7, "number": "seven", "flag": true,
                                                                "when": "2026-11-21T11:55:00Z"}})"),
      Json::parse(
          R"({"Name": "x", "Text": "7", "Number": null, "Flag": true, "When": "5m", "Missing": null})"));
  type.columns.clear();
  EXPECT_EQ(shown(type, R"({"metadata": {"name": "x", "creationTimestamp": "2026-11-19T12:00:00Z"}})"),
            Json::parse(R"({"Name": "x", "Age": "2d"})"));
}

TEST(Table, OfAPodTellsHowItIs) {
  const auto pods = served("", "pods");
  EXPECT_EQ(
      shown(*pods, R"({"metadata": {"name": "p", "creationTimestamp": "2026-11-21T11:59:30Z"},
                             "spec": {"containers": [{}, {}]},
                             "status": {"phase": "Running", "containerStatuses": [{"ready": true, "restartCount": 2}]}})"),
      Json::parse(R"({"Name": "p", "Ready": "1/2", "Status": "Running", "Restarts": "2", "Age": "30s"})"));
  EXPECT_EQ(
      shown(*pods,
            R"({"metadata": {"deletionTimestamp": "2026-11-21T12:00:00Z"}, "status": {"phase": "Running"}})")
          ["Status"],
      "Terminating");
  EXPECT_EQ(shown(*pods, R"({"status": {"phase": "Pending", "containerStatuses": [
                             {"state": {"waiting": {"reason": "ImagePullBackOff"}}}]}})")["Status"],
            "ImagePullBackOff");
}

TEST(Table, OfWorkloadsTellsHowManyAreReady) {
  const char* object = R"({"metadata": {"name": "d"}, "spec": {"replicas": 3},
                           "status": {"replicas": 3, "readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 2}})";
  EXPECT_EQ(
      shown(*served("apps", "deployments"), object),
      Json::parse(R"({"Name": "d", "Ready": "2/3", "Up-to-date": 3, "Available": 2, "Age": "<unknown>"})"));
  EXPECT_EQ(shown(*served("apps", "replicasets"), object),
            Json::parse(R"({"Name": "d", "Desired": 3, "Current": 3, "Ready": 2, "Age": "<unknown>"})"));
}

TEST(Table, OfANamespaceTellsItsPhase) {
  const Json table =
      toTable(*served("", "namespaces"), recordedAnswer("093-get-namespace-terminating"), {kNoon});
  EXPECT_EQ(table["rows"][0]["cells"][1], "Terminating");
}

TEST(Table, OfOtherBuiltInTypesHasTheirColumns) {
  EXPECT_EQ(
      shown(*served("", "services"), R"({"metadata": {"name": "s"}, "spec": {"clusterIP": "10.0.0.1",
                                               "ports": [{"port": 80, "nodePort": 30080}, {"port": 53, "protocol": "UDP"}]}})"),
      Json::parse(R"json({"Name": "s", "Type": "ClusterIP", "Cluster-IP": "10.0.0.1", "External-IP": "<none>",
                            "Port(s)": "80:30080/TCP,53/UDP", "Age": "<unknown>"})json"));
  EXPECT_EQ(
      shown(*served("", "configmaps"), R"({"data": {"a": "1"}, "binaryData": {"b": "", "c": ""}})")["Data"],
      3);
  EXPECT_EQ(
      shown(*served("", "persistentvolumeclaims"),
            R"({"metadata": {"name": "c"}, "spec": {"volumeName": "v", "storageClassName": "fast"},
                      "status": {"phase": "Bound", "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}})"),
      Json::parse(R"({"Name": "c", "Status": "Bound", "Volume": "v", "Capacity": "1Gi", "Access Modes": "RWO",
                            "StorageClass": "fast", "Age": "<unknown>"})"));
  EXPECT_EQ(
      shown(*served("", "events"),
            R"({"lastTimestamp": "2026-11-21T11:58:00Z", "type": "Warning", "reason": "Denied",
                                             "message": "no", "involvedObject": {"kind": "Pod", "name": "p"}})"),
      Json::parse(
          R"({"Last Seen": "2m", "Type": "Warning", "Reason": "Denied", "Object": "pod/p", "Message": "no"})"));
  EXPECT_EQ(shown(*served("", "limitranges"), R"({"metadata": {"name": "b"}})"),
            Json::parse(R"({"Name": "b", "Age": "<unknown>"})"));
}

// As kubectl prints them of a real cluster.
TEST(Table, OfTypesThatAreOnlyStoredHasTheirColumns) {
  EXPECT_EQ(shown(*served("policy", "poddisruptionbudgets"),
                  R"({"metadata": {"name": "b"}, "spec": {"maxUnavailable": "50%"},
                      "status": {"disruptionsAllowed": 1}})"),
            Json::parse(R"({"Name": "b", "Min Available": "N/A", "Max Unavailable": "50%",
                            "Allowed Disruptions": 1, "Age": "<unknown>"})"));
  EXPECT_EQ(
      shown(*served("autoscaling", "horizontalpodautoscalers"),
            R"({"metadata": {"name": "h"}, "spec": {"scaleTargetRef": {"kind": "Deployment", "name": "web"},
                      "minReplicas": 1, "maxReplicas": 5, "metrics": [{"type": "Resource", "resource":
                          {"name": "cpu", "target": {"averageUtilization": 80}}}]}})"),
      Json::parse(R"({"Name": "h", "Reference": "Deployment/web", "Targets": "cpu: <unknown>/80%",
                            "MinPods": "1", "MaxPods": 5, "Replicas": 0, "Age": "<unknown>"})"));
  EXPECT_EQ(shown(*served("rbac.authorization.k8s.io", "rolebindings"),
                  R"({"metadata": {"name": "r"}, "roleRef": {"kind": "Role", "name": "reader"}})"),
            Json::parse(R"({"Name": "r", "Role": "Role/reader", "Age": "<unknown>"})"));
  EXPECT_EQ(
      shown(
          *served("", "endpoints"),
          R"({"metadata": {"name": "e"}, "subsets": [{"addresses": [{"ip": "192.0.2.1"}, {"ip": "192.0.2.2"}],
                      "ports": [{"port": 80}]}]})")["Endpoints"],
      "192.0.2.1:80,192.0.2.2:80");
  EXPECT_EQ(shown(*served("apiregistration.k8s.io", "apiservices"),
                  R"({"metadata": {"name": "a"}, "spec": {"service": {"namespace": "n", "name": "s"}},
                      "status": {"conditions": [{"type": "Available", "status": "False", "reason": "ServiceNotFound"}]}})"),
            Json::parse(R"json({"Name": "a", "Service": "n/s", "Available": "False (ServiceNotFound)",
                            "Age": "<unknown>"})json"));
  EXPECT_EQ(
      shown(*served("networking.k8s.io", "ingressclasses"),
            R"({"metadata": {"name": "i"}, "spec": {"controller": "example.org/c"}})"),
      Json::parse(
          R"({"Name": "i", "Controller": "example.org/c", "Parameters": "<none>", "Age": "<unknown>"})"));
}

TEST(Table, HoldsOutWhateverTheObjectsAre) {
  const TypeRegistry types;
  for (const ServedGroup& group : types.groups()) {
    for (const ServedTypePointer& type : types.typesOf(group.name, group.versions.front())) {
      for (const char* object :
           {"null", "[]", "{\"metadata\": 1, \"spec\": [], \"status\": \"x\"}",
            R"({"spec": {"ports": [1], "containers": {}}, "status": {"containerStatuses": [2, []]}})"}) {
        EXPECT_EQ(toTable(*type, Json::parse(object), {kNoon})["rows"].size(), 1U);
      }
    }
  }
}

// The times at which `kubectl get` changes units.
TEST(Age, IsShortenedAsKubectlDoes) {
  EXPECT_EQ(humanDuration(119), "119s");
  EXPECT_EQ(humanDuration(120), "2m");
  EXPECT_EQ(humanDuration(200), "3m20s");
  EXPECT_EQ(humanDuration(3600), "60m");
  EXPECT_EQ(humanDuration(3 * 3600), "3h");
  EXPECT_EQ(humanDuration(4 * 3600 + 600), "4h10m");
  EXPECT_EQ(humanDuration(47 * 3600 + 600), "47h");
  EXPECT_EQ(humanDuration(48 * 3600), "2d");
  EXPECT_EQ(humanDuration(51 * 3600), "2d3h");
  EXPECT_EQ(humanDuration(int64_t{500} * 86400), "500d");
  EXPECT_EQ(humanDuration(int64_t{800} * 86400), "2y70d");
  EXPECT_EQ(humanDuration(int64_t{9} * 365 * 86400), "9y");
  EXPECT_EQ(humanDuration(-1), "0s");
  EXPECT_EQ(humanDuration(-2), "<invalid>");
  EXPECT_EQ(ageOf("", kNoon), "<unknown>");
  EXPECT_EQ(ageOf("yesterday", kNoon), "<invalid>");
  EXPECT_EQ(ageOf("2026-11-21T11:59:00Z", kNoon), "60s");
}

}  // namespace
}  // namespace lastout::simulator
