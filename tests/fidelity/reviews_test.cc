// The embedded cluster sends the AdmissionReviews that a real one sent for the same requests, as
// tests/recordings/kubernetes-1.26/admission/README.md tells them, and docs/fidelity.md says so.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>

#include "tests/fidelity/page.h"
#include "tests/fidelity/recorded_review.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::testing {
namespace {

using simulator::Json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr const char* kMerge = "application/merge-patch+json";

// What differs, as places in the review, and why that is right.
struct Difference {
  std::string places;
  std::string reason;
};
const std::map<int, Difference>& differences() {
  static const std::map<int, Difference> kDifferences = {
      {17,
       {"remove /object/status/fullyLabeledReplicas, replace /object/status/replicas, "
        "remove /oldObject/status/fullyLabeledReplicas, replace /oldObject/status/replicas",
        "`status` already counts no Pod: here a Pod takes half a second to go even where no node runs it, "
        "and the "
        "ReplicaSet is counted again before the collector lets it go"}},
      {40,
       {"remove /oldObject/metadata/deletionGracePeriodSeconds, remove "
        "/oldObject/metadata/deletionTimestamp, "
        "replace /oldObject/metadata/generation",
        "The object is not marked deleted yet. What was recorded is the second review of one DELETE: "
        "meanwhile the "
        "clean-up of the CustomResourceDefinition had marked it, and the API server asked again. Here the "
        "agent "
        "and the clean-up take turns, and the agent leaves alone what it finds marked."}},
      {43,
       {"add /oldObject/spec/deletionIntent, add /oldObject/spec/enforcement, add /oldObject/spec/guard",
        "`spec.deletionIntent`, `spec.enforcement` and `spec.guard` are there: "
        "today's "
        "CustomResourceDefinition "
        "of CriticalService has these fields, with defaults."}},
      {44,
       {"add /oldObject/spec/deletionIntent, add /oldObject/spec/enforcement, add /oldObject/spec/guard",
        "As 43."}},
  };
  return kDifferences;
}

// A webhook that takes down what it is asked, and allows it unless `denies` says no.
struct Recorder {
  std::mutex mutex;
  std::vector<Json> asked;
  std::function<bool(const Json&)> denies = [](const Json&) { return false; };
};

simulator::EmbeddedOptions recordedBy(const std::shared_ptr<Recorder>& recorder) {
  simulator::EmbeddedOptions options;
  options.kubernetes = kube::KubernetesVersion::V1_26;
  options.timing.podReady = std::chrono::hours(1000);  // where it was recorded, there was no node
  options.callWebhook = webhookThat([recorder](const simulator::Webhook&, const Json& request) -> Json {
    const std::scoped_lock lock(recorder->mutex);
    recorder->asked.push_back(request);
    return {{"allowed", !recorder->denies(request)}};
  });
  return options;
}

// Of two reviews: are they about the same kind of request, made by the same user?
bool isSameKind(const Json& one, const Json& other) {
  for (const char* key : {"operation", "resource", "subResource", "dryRun"}) {
    if (one.value(key, Json()) != other.value(key, Json())) return false;
  }
  return one["userInfo"]["username"] == other["userInfo"]["username"];
}

std::string placesOf(const Json& difference) {
  std::string places;
  for (const Json& change : difference)
    places += (places.empty() ? "" : ", ") + change["op"].get<std::string>() + " " +
              change["path"].get<std::string>();
  return places;
}

class RecordedReviews : public ClusterTest {
 protected:
  RecordedReviews() : RecordedReviews(std::make_shared<Recorder>()) {}
  explicit RecordedReviews(std::shared_ptr<Recorder> recorder)
      : ClusterTest(recordedBy(recorder)), recorder_(std::move(recorder)), recorded_(recordedReviews()) {
    createWebhook("ValidatingWebhookConfiguration", "records.test.dev", {"CREATE", "UPDATE", "DELETE"},
                  "*/*");
  }

  // Since the last time, reviews like these recorded ones were sent.
  void reviewed(int first, int last) {
    for (const RecordedReview& recorded : recorded_) {
      if (recorded.number >= first && recorded.number <= last) compare(recorded);
    }
    recorder_->asked.clear();
  }

  void compare(const RecordedReview& recorded) {
    const Json wanted = comparable(recorded.request);
    Json least;
    for (const Json& asked : recorder_->asked) {
      if (!isSameKind(wanted, asked)) continue;
      Json difference = Json::diff(wanted, comparable(asked));
      if (least.is_null() || difference.size() < least.size()) least = std::move(difference);
    }
    const auto known = differences().find(recorded.number);
    const Difference expected = known == differences().end() ? Difference{} : known->second;
    EXPECT_FALSE(least.is_null()) << recorded.name << " was not sent";
    EXPECT_EQ(placesOf(least), expected.places) << recorded.name << "\n" << least.dump();
    rows_[recorded.number] = "| [" + recorded.name + "](../tests/recordings/kubernetes-1.26/admission/" +
                             recorded.name + ".json) | " +
                             (expected.reason.empty() ? "same" : expected.reason) + " |\n";
  }

  const Json& recorded(int number) const { return recorded_[static_cast<size_t>(number) - 1].request; }
  // As a client first sent what a recorded review shows.
  static Json asWritten(Json object) {
    for (const char* key : {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
                            "deletionGracePeriodSeconds", "managedFields", "ownerReferences"})
      object["metadata"].erase(key);
    object["metadata"].erase("finalizers");
    if (object["metadata"].contains("annotations"))
      object["metadata"]["annotations"].erase("deployment.kubernetes.io/revision");
    object.erase("status");
    return object;
  }
  // Every controller that is about to do something does it; statuses are written.
  void settle() { pass(seconds(1)); }

  std::shared_ptr<Recorder> recorder_;
  std::vector<RecordedReview> recorded_;
  std::map<int, std::string> rows_;  // of the page

  void workload();
  void orphans();
  void namespaceGoes();
  void definition();
  void collection();
  void story();

  const std::string deployments_ = "/apis/apps/v1/namespaces/demo/deployments";
  const std::string created_ = "?fieldManager=kubectl-create&fieldValidation=Strict";
  const std::string applied_ = "?fieldManager=kubectl-client-side-apply&fieldValidation=Strict";
};

void RecordedReviews::workload() {
  expect(201, "POST", "/api/v1/namespaces" + created_, asWritten(recorded(1)["object"]));
  settle();
  expect(201, "POST", deployments_ + created_, asWritten(recorded(3)["object"]));
  settle();
  reviewed(1, 7);
  const auto label = [&](const Json& value) {
    expect(200, "PATCH", deployments_ + "/web?fieldManager=kubectl-label",
           {{"metadata", {{"labels", {{"orkestra.io/deletion-protection", value}}}}}}, kMerge);
  };
  label("true");
  label(nullptr);
  expect(200, "PATCH", deployments_ + "/web", {{"metadata", {{"annotations", {{"a", "b"}}}}}}, kMerge);
  settle();
  reviewed(9, 10);
  const auto scale = [&](int replicas) {
    expect(200, "PATCH", deployments_ + "/web/scale", {{"spec", {{"replicas", replicas}}}}, kMerge);
  };
  scale(0);
  pass(milliseconds(110));  // nobody has noticed yet that this is done
  scale(1);
  settle();
  reviewed(11, 12);
  expect(200, "DELETE", deployments_ + "/web", {{"propagationPolicy", "Background"}, {"dryRun", {"All"}}});
  reviewed(13, 13);
  expect(200, "DELETE", deployments_ + "/web", {{"propagationPolicy", "Foreground"}});
  pass(seconds(2));
  reviewed(14, 18);
}

void RecordedReviews::orphans() {
  expect(201, "POST", deployments_ + created_, asWritten(recorded(3)["object"]));
  settle();
  expect(200, "DELETE", deployments_ + "/web", {{"propagationPolicy", "Orphan"}});
  settle();
  reviewed(19, 19);
  const std::string sets = "/apis/apps/v1/namespaces/demo/replicasets";
  const Json found = expect(200, "GET", sets)["items"];
  for (const Json& set : found)
    expect(200, "DELETE", sets + "/" + set["metadata"]["name"].get<std::string>(),
           {{"propagationPolicy", "Background"}});
  settle();
  reviewed(20, 20);
}

void RecordedReviews::namespaceGoes() {
  const std::string maps = "/api/v1/namespaces/demo/configmaps";
  expect(201, "POST", maps + created_, asWritten(recorded(21)["object"]));
  expect(200, "DELETE", maps + "/cm", {{"gracePeriodSeconds", 0}, {"propagationPolicy", "Background"}});
  reviewed(21, 22);
  const Json uid = expect(200, "GET", "/api/v1/namespaces/demo")["metadata"]["uid"];
  expect(200, "DELETE", "/api/v1/namespaces/demo",
         {{"propagationPolicy", "Background"}, {"preconditions", {{"uid", uid}}}});
  pass(seconds(30));
  reviewed(23, 27);
}

void RecordedReviews::definition() {
  const std::string definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const Json made = expect(201, "POST", definitions + applied_, asWritten(recorded(28)["object"]));
  settle();
  expect(200, "DELETE", definitions + "/coolresources.my.crd.group",
         {{"propagationPolicy", "Background"}, {"preconditions", {{"uid", made["metadata"]["uid"]}}}});
  pass(seconds(30));
  reviewed(28, 32);
}

void RecordedReviews::collection() {
  createNamespace("finalizer-namespace");
  const std::string deployments = "/apis/apps/v1/namespaces/finalizer-namespace/deployments";
  const auto create = [&] {
    expect(201, "POST", deployments + applied_, asWritten(recorded(33)["oldObject"]));
    settle();
  };
  create();
  expect(200, "DELETE", deployments);
  pass(seconds(5));
  reviewed(33, 34);
  create();
  expect(200, "DELETE", deployments + "/finalizer-deployment?dryRun=All");
  expect(200, "DELETE", deployments + "/finalizer-deployment");
  pass(seconds(5));
  reviewed(35, 36);
  expect(200, "DELETE", "/api/v1/namespaces/finalizer-namespace");
  pass(seconds(30));
}

// While the instance keeps its finalizer, the guard of the recorded story denies the provider's works.
void RecordedReviews::story() {
  createNamespace("cluster1");
  const std::string works = "/apis/work.open-cluster-management.io/v1/namespaces/cluster1/manifestworks";
  const auto work = [&](const std::string& name, const Json& manifests) {
    expect(201, "POST", works,
           {{"apiVersion", "work.open-cluster-management.io/v1"},
            {"kind", "ManifestWork"},
            {"metadata", {{"name", name}, {"namespace", "cluster1"}}},
            {"spec", {{"workload", {{"manifests", manifests}}}}}});
    pass(seconds(20));
  };
  work("crd", recorded(37)["oldObject"]["spec"]["workload"]["manifests"]);
  work("cr", recorded(8)["oldObject"]["spec"]["workload"]["manifests"]);
  Json manifests = Json::array();
  for (const int number : {43, 41, 42}) manifests.push_back(asWritten(recorded(number)["oldObject"]));
  manifests[1]["metadata"].erase("labels");
  work("finalizer", manifests);
  recorder_->asked.clear();
  recorder_->denies = [](const Json& request) {
    const std::string resource = request["resource"]["resource"];
    return request["operation"] == "DELETE" &&
           (resource == "criticalservices" || resource == "deployments" || resource == "namespaces");
  };
  for (const char* name : {"crd", "cr", "finalizer"}) expect(200, "DELETE", works + "/" + name);
  pass(seconds(20));
  reviewed(37, 46);
  expect(200, "PATCH", "/apis/my.crd.group/v1/coolresources/some-instance",
         {{"metadata", {{"finalizers", nullptr}}}}, kMerge);
  pass(seconds(20));
  reviewed(8, 8);
}

constexpr const char* kHeading = R"(## Reviews

What a webhook is asked, when a client does what caused the recorded AdmissionReviews: the same fields, the same absent fields, the
same values. Not compared are, beside what is said above, generated names; and a hub is called by its namespace here, where the
recorded agent takes a hash of its address. That uids agree with each other is compared.

| recorded | review |
|---|---|
)";

TEST_F(RecordedReviews, AreSentForTheSameRequests) {
  workload();
  orphans();
  namespaceGoes();
  definition();
  collection();
  story();
  ASSERT_EQ(rows_.size(), recorded_.size());
  std::string reviews = kHeading;
  for (const auto& [number, row] : rows_) reviews += row;
  fidelity::PageParts page = fidelity::readPage();
  if (std::getenv("LASTOUT_UPDATE_DOCS") != nullptr) {
    page.reviews = reviews;
    fidelity::writePage(page);
    return;
  }
  EXPECT_EQ(page.reviews, reviews) << "scripts/update-docs writes docs/fidelity.md anew";
}

}  // namespace
}  // namespace lastout::testing
