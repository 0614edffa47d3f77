// ReviewsTest: an embedded cluster whose webhook takes down what it is asked, beside the AdmissionReviews
// that a real control plane sent for the same requests.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "kube/kubernetes_version.h"
#include "tests/fidelity/page.h"
#include "tests/fidelity/recorded_review.h"
#include "tests/simulator/cluster_fixture.h"

namespace lastout::testing {

constexpr const char* kNotSent = "it was not sent";

// What differs, as places in the review or kNotSent, and why that is right.
struct ReviewDifference {
  std::string places;
  std::string reason;
};
using ReviewDifferences = std::map<int, ReviewDifference>;  // by the number of the review

class ReviewsTest : public ClusterTest {
 protected:
  // `recording`: a folder of tests/recordings.
  ReviewsTest(const std::string& recording, kube::KubernetesVersion version, ReviewDifferences differences);

  // Expects that since the last call reviews like these recorded ones were sent.
  void reviewed(int first, int last);
  // Expects that each recorded review was compared, and docs/fidelity.md says so in that part of it.
  void expectPage(std::string fidelity::PageParts::*part);

  const simulator::Json& recorded(int number) const {
    return recorded_[static_cast<size_t>(number) - 1].request;
  }
  // As a client first sent what a recorded review shows.
  static simulator::Json asWritten(simulator::Json object);
  // Every controller that is about to do something does it; statuses are written.
  void settle() { pass(std::chrono::seconds(1)); }
  // From now on the webhook denies these requests.
  void deny(std::function<bool(const simulator::Json& request)> isDenied);

  // --- requests that both sessions made, in namespace demo

  // As `kubectl create deployment`, by the recorded review of that number.
  void createDeployment(int number);
  // The dry run, with its recorded review, and the deletion in the foreground.
  void deleteInForeground(int reviewOfDryRun);
  void deleteReplicaSets();
  // As `kubectl delete` of a Namespace or a CRD, which names the uid.
  void deleteByUid(const std::string& path);

  static inline const std::string kDeployments = "/apis/apps/v1/namespaces/demo/deployments";
  static inline const std::string kCreated = "?fieldManager=kubectl-create&fieldValidation=Strict";
  static inline const std::string kApplied = "?fieldManager=kubectl-client-side-apply&fieldValidation=Strict";

 private:
  struct Recorder {
    std::mutex mutex;
    std::vector<simulator::Json> asked;
    std::function<bool(const simulator::Json&)> denies = [](const simulator::Json&) { return false; };
  };
  static simulator::EmbeddedOptions recordedBy(const std::shared_ptr<Recorder>& recorder,
                                               kube::KubernetesVersion version);
  ReviewsTest(const std::string& recording, kube::KubernetesVersion version, ReviewDifferences differences,
              std::shared_ptr<Recorder> recorder);
  void compare(const RecordedReview& recorded);

  const std::string recording_;
  const ReviewDifferences differences_;
  std::shared_ptr<Recorder> recorder_;
  std::vector<RecordedReview> recorded_;
  std::map<int, std::string> rows_;  // of the page
};

}  // namespace lastout::testing
