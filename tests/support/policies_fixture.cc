#include "tests/support/policies_fixture.h"

#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "kube/parse.h"
#include "protection/profiles.h"
#include "tests/protection/policies.h"

namespace lastout::testing {
namespace {

constexpr const char* kPolicies = "/apis/lastout.dev/v1alpha1/deletionpolicies";

}  // namespace

Json definition(const std::string& group, const std::string& plural, const std::string& kind,
                const std::string& scope, const Json& labels) {
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + "." + group}, {"labels", labels}}},
          {"spec",
           {{"group", group},
            {"scope", scope},
            {"names", {{"kind", kind}, {"plural", plural}}},
            {"versions",
             Json::array({{{"name", "v1"},
                           {"served", true},
                           {"storage", true},
                           {"schema",
                            {{"openAPIV3Schema",
                              {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}})}}}};
}

Json ownerLabels() {
  return {{"appcat.vshn.io/ownercomposite", "pg"},
          {"appcat.vshn.io/ownerkind", "XVSHNPostgreSQL"},
          {"appcat.vshn.io/ownergroup", "vshn.appcat.vshn.io"},
          {"appcat.vshn.io/ownerapiversion", "v1"}};
}

Json objectOf(const char* apiVersion, const char* kind, const std::string& name, const Json& labels) {
  return {{"apiVersion", apiVersion}, {"kind", kind}, {"metadata", {{"name", name}, {"labels", labels}}}};
}

PoliciesTest::PoliciesTest(protection::PolicyMode mode, const server::PolicyClusters* clusters)
    : policies(view, {.clusters = clusters}), policyReviews(access, view, policies, mode) {
  server::ReviewHandlerOptions options;
  options.budget = options.servicesPatience = std::chrono::seconds(60);
  options.policies = &policyReviews;
  reviews = std::make_unique<server::ReviewHandler>(view, *reads, *services, *rights, options,
                                                    [](const server::ReviewResult& /*verdict*/) {});
  server::PolicyWatchesOptions watching;
  watching.random = [] { return [] { return 0.5; }; };
  watching.log = [](server::Level /*level*/, const std::string&) {};
  watching.watcher.reflector.backoff = {std::chrono::milliseconds(5), std::chrono::milliseconds(20)};
  policyWatches = std::make_unique<server::PolicyWatches>(access, view, policies, std::move(watching));
}

PoliciesTest::~PoliciesTest() { policyWatches->stop(); }

void PoliciesTest::followAll() {
  follow();
  policyWatches->start();
  waitUntil([this] {
    policyWatches->reconsider();
    return policies.isKnown();
  });
}

void PoliciesTest::apply(std::string_view spec, const std::string& name) {
  create(kPolicies, jsonOf(protection::policyText(spec, name)));
  ++applied_;
  waitUntil([this] { return policies.policies()->all().size() == applied_; });
}

void PoliciesTest::applyProfile(std::string_view profile, const std::function<void(Json& policy)>& change) {
  const auto found = protection::findProfile(profile);
  ASSERT_TRUE(found) << found.error().message;
  const auto documents = kube::parseYaml(found->text, found->file);
  ASSERT_TRUE(documents) << documents.error().message;
  for (const kube::Value& document : *documents) {
    Json policy(kube::toJson(document));
    change(policy);
    create(kPolicies, policy);
    ++applied_;
  }
  waitUntil([this] { return policies.policies()->all().size() == applied_; });
}

Json PoliciesTest::jsonOf(std::string_view yaml) {
  auto documents = kube::parseYaml(yaml, "");
  EXPECT_TRUE(documents && documents->size() == 1) << yaml;
  return Json::parse(kube::toJson(documents->front()).dump());
}

Json PoliciesTest::deletionOf(const std::string& path, const kube::ObjectKey& key, bool allowed,
                              const std::string& said, const Json& more) {
  Json request = {{"operation", "DELETE"}, {"oldObject", get(path)}};
  request.update(more);
  Json response;
  waitUntil([&] {
    policyWatches->reconsider();
    response = reviewUpdate(key, request);
    if (response["allowed"] != allowed) return false;
    return allowed || response["status"]["message"].get<std::string>().find(said) != std::string::npos;
  });
  return response;
}

}  // namespace lastout::testing
