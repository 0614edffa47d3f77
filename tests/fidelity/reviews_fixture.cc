#include "tests/fidelity/reviews_fixture.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

namespace lastout::testing {
namespace {

using simulator::Json;

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

}  // namespace

simulator::EmbeddedOptions ReviewsTest::recordedBy(const std::shared_ptr<Recorder>& recorder,
                                                   kube::KubernetesVersion version) {
  simulator::EmbeddedOptions options;
  options.kubernetes = version;
  options.timing.podReady = std::chrono::hours(1000);  // where it was recorded, there was no node
  options.callWebhook = webhookThat([recorder](const simulator::Webhook&, const Json& request) -> Json {
    const std::scoped_lock lock(recorder->mutex);
    recorder->asked.push_back(request);
    return {{"allowed", !recorder->denies(request)}};
  });
  return options;
}

ReviewsTest::ReviewsTest(const std::string& recording, kube::KubernetesVersion version,
                         ReviewDifferences differences)
    : ReviewsTest(recording, version, std::move(differences), std::make_shared<Recorder>()) {}

ReviewsTest::ReviewsTest(const std::string& recording, kube::KubernetesVersion version,
                         ReviewDifferences differences, std::shared_ptr<Recorder> recorder)
    : ClusterTest(recordedBy(recorder, version)),
      recording_(recording),
      differences_(std::move(differences)),
      recorder_(std::move(recorder)),
      recorded_(recordedReviews(recording)) {
  simulator::addCredential(user, "X509SHA256=" + std::string(64, '0'), version);  // as a listener does
  createWebhook("ValidatingWebhookConfiguration", "records.test.dev", {"CREATE", "UPDATE", "DELETE"}, "*/*");
}

void ReviewsTest::deny(std::function<bool(const Json& request)> isDenied) {
  const std::scoped_lock lock(recorder_->mutex);
  recorder_->asked.clear();
  recorder_->denies = std::move(isDenied);
}

void ReviewsTest::reviewed(int first, int last) {
  for (const RecordedReview& recorded : recorded_) {
    if (recorded.number >= first && recorded.number <= last) compare(recorded);
  }
  recorder_->asked.clear();
}

void ReviewsTest::compare(const RecordedReview& recorded) {
  const Json wanted = comparable(recorded.request);
  Json least;
  for (const Json& asked : recorder_->asked) {
    if (!isSameKind(wanted, asked)) continue;
    Json difference = Json::diff(wanted, comparable(asked));
    if (least.is_null() || difference.size() < least.size()) least = std::move(difference);
  }
  const auto known = differences_.find(recorded.number);
  const ReviewDifference expected = known == differences_.end() ? ReviewDifference{} : known->second;
  const std::string places = least.is_null() ? kNotSent : placesOf(least);
  EXPECT_EQ(places, expected.places) << recorded.name << "\n" << least.dump();
  rows_[recorded.number] = "| [" + recorded.name + "](../tests/recordings/" + recording_ + "/admission/" +
                           recorded.name + ".json) | " +
                           (expected.reason.empty() ? "same" : expected.reason) + " |\n";
}

void ReviewsTest::expectPage(std::string fidelity::PageParts::*part) {
  ASSERT_EQ(rows_.size(), recorded_.size());
  std::string reviews = "| recorded | review |\n|---|---|\n";
  for (const auto& [number, row] : rows_) reviews += row;
  fidelity::PageParts page = fidelity::readPage();
  if (std::getenv("LASTOUT_UPDATE_DOCS") != nullptr) {
    page.*part = reviews;
    fidelity::writePage(page);
    return;
  }
  EXPECT_EQ(page.*part, reviews) << "scripts/update-docs writes docs/fidelity.md";
}

void ReviewsTest::createDeployment(int number) {
  expect(201, "POST", kDeployments + kCreated, asWritten(recorded(number)["object"]));
  settle();
}

void ReviewsTest::deleteInForeground(int reviewOfDryRun) {
  expect(200, "DELETE", kDeployments + "/web", {{"propagationPolicy", "Background"}, {"dryRun", {"All"}}});
  reviewed(reviewOfDryRun, reviewOfDryRun);
  expect(200, "DELETE", kDeployments + "/web", {{"propagationPolicy", "Foreground"}});
  pass(std::chrono::seconds(2));
}

void ReviewsTest::deleteReplicaSets() {
  const std::string sets = "/apis/apps/v1/namespaces/demo/replicasets";
  const Json found = expect(200, "GET", sets)["items"];
  for (const Json& set : found)
    expect(200, "DELETE", sets + "/" + set["metadata"]["name"].get<std::string>(),
           {{"propagationPolicy", "Background"}});
  settle();
}

void ReviewsTest::deleteByUid(const std::string& path) {
  const Json uid = expect(200, "GET", path)["metadata"]["uid"];
  expect(200, "DELETE", path, {{"propagationPolicy", "Background"}, {"preconditions", {{"uid", uid}}}});
}

Json ReviewsTest::asWritten(Json object) {
  for (const char* key : {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp",
                          "deletionGracePeriodSeconds", "managedFields", "ownerReferences"})
    object["metadata"].erase(key);
  object["metadata"].erase("finalizers");
  if (object["metadata"].contains("annotations"))
    object["metadata"]["annotations"].erase("deployment.kubernetes.io/revision");
  object.erase("status");
  return object;
}

}  // namespace lastout::testing
