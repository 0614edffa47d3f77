// A ServerTest that follows DeletionPolicies, too.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server/review/policy_reviewer.h"
#include "server/watch/policy_view.h"
#include "server/watch/policy_watches.h"
#include "tests/support/server_fixture.h"

namespace lastout::testing {

inline constexpr const char* kSpaces = "/api/v1/namespaces";
inline constexpr const char* kDefinitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
inline constexpr const char* kComposites = "/apis/vshn.appcat.vshn.io/v1/xvshnpostgresqls";

// A CustomResourceDefinition whose only version is v1.
Json definition(const std::string& group, const std::string& plural, const std::string& kind,
                const std::string& scope = "Cluster", const Json& labels = Json::object());
// The labels of what belongs to the composite `pg`.
Json ownerLabels();
Json objectOf(const char* apiVersion, const char* kind, const std::string& name, const Json& labels);

class PoliciesTest : public ServerTest {
 public:
  explicit PoliciesTest(protection::PolicyMode mode = protection::PolicyMode::ApiServer,
                        const server::PolicyClusters* clusters = nullptr);
  ~PoliciesTest() override;

  // Follows the cluster and its policies from now on, until both are known.
  void followAll();
  // Creates the policy with that spec, and waits until it is known.
  void apply(std::string_view spec, const std::string& name = "p");
  // The same of the policies of a profile, each as `change` leaves it.
  void applyProfile(
      std::string_view profile, const std::function<void(Json& policy)>& change = [](Json&) {});
  // The `response` to the review of a DELETE of the object as it stands, once it is `allowed` or not, and,
  // when it is not, the message contains `said`.
  Json deletionOf(const std::string& path, const kube::ObjectKey& key, bool allowed,
                  const std::string& said = "", const Json& more = Json::object());

  static Json jsonOf(std::string_view yaml);

  server::PolicyView policies;
  server::PolicyReviewer policyReviews;
  std::unique_ptr<server::PolicyWatches> policyWatches;

 private:
  size_t applied_ = 0;
};

}  // namespace lastout::testing
