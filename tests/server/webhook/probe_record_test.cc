// What follows from probes, in virtual time; and what is read of API servers' answers and addresses.
#include "server/webhook/probe_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "server/webhook/api_addresses.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ProbeJson = nlohmann::json;

const kube::GroupResource kProbedDeployments{"apps", "deployments"};
const kube::GroupResource kJobs{"batch", "jobs"};
constexpr const char* kOneAddress = "https://10.0.0.1:6443";
constexpr const char* kOtherAddress = "https://10.0.0.2:6443";

// One guarded object of each type.
ReviewedObjects oneOf(const std::vector<kube::GroupResource>& types) {
  ReviewedObjects objects;
  for (const kube::GroupResource& type : types) {
    objects.deleted.insert({type, "app", "provider"});
    objects.providers.insert(type);
  }
  return objects;
}

ProbeAnswer deniedBy(const std::string& fingerprint) { return {ProbeAnswer::Kind::Denied, fingerprint, ""}; }
ProbeAnswer failedWith(const std::string& why) { return {ProbeAnswer::Kind::Failed, "", why}; }
const ProbeAnswer kAllowed{ProbeAnswer::Kind::Allowed, "", ""};

class ProbeRecordTest : public ::testing::Test {
 public:
  ProbeRecordTest() {
    record.declare({"aa", oneOf({kProbedDeployments}), now});
    record.setAddresses({kOneAddress});
    now += seconds(60);
  }
  // "True ProbeDenied"
  std::string enforced(const kube::GroupResource& type = kProbedDeployments) const {
    const WebhookEnforcement found = record.enforcementFor(oneOf({type}));
    return (!found.enforced ? "Unknown " : *found.enforced ? "True " : "False ") + found.reason;
  }
  ProbeResult took(const ProbeAnswer& answer, const char* address = kOneAddress) {
    const ProbeRecord::Taken taken = record.took(address, answer, now);
    hasNews = taken.news.has_value();
    return taken.result;
  }

  TimePoint now{seconds(1'000)};
  ProbeRecord record{seconds(10)};
  bool hasNews = false;
};

TEST_F(ProbeRecordTest, IsEnforcedOnceItWasDenied) {
  EXPECT_EQ(enforced(), "False ProbePending");
  EXPECT_FALSE(record.isProven());
  EXPECT_EQ(took(deniedBy("aa")), ProbeResult::Denied);
  EXPECT_TRUE(hasNews);
  EXPECT_EQ(enforced(), "True ProbeDenied");
  EXPECT_TRUE(record.isProven());
  EXPECT_EQ(enforced(kJobs), "False ProbePending");
  took(deniedBy("aa"));
  EXPECT_FALSE(hasNews);
}

// An API server goes by the older configuration for a while, which asks about less.
TEST_F(ProbeRecordTest, ANewObjectWaitsForItsOwnProbe) {
  took(deniedBy("aa"));
  record.declare({"bb", oneOf({kProbedDeployments, kJobs}), now});
  EXPECT_EQ(enforced(), "True ProbeDenied");
  EXPECT_EQ(took(deniedBy("aa")), ProbeResult::Outdated);
  EXPECT_EQ(enforced(), "True ProbeDenied");
  EXPECT_EQ(enforced(kJobs), "False ProbePending");
  EXPECT_FALSE(record.isProven());
  EXPECT_EQ(took(deniedBy("bb")), ProbeResult::Denied);
  EXPECT_EQ(enforced(kJobs), "True ProbeDenied");
  EXPECT_EQ(took(deniedBy("cc")), ProbeResult::Outdated) << "nobody here knows what that one asks about";
  EXPECT_EQ(enforced(), "False ProbePending");
}

TEST_F(ProbeRecordTest, SaysWhatElseIsAskedAbout) {
  const auto message = [&](WebhookScope scope) {
    record.declare({"aa", oneOf({kProbedDeployments}), now, scope});
    took(deniedBy("aa"));
    return record.enforcementFor(oneOf({kProbedDeployments})).message;
  };
  EXPECT_THAT(message(WebhookScope::Objects), ::testing::EndsWith("at the address that is known"));
  EXPECT_THAT(message(WebhookScope::Namespaces), HasSubstr("all objects of some types in some namespaces"));
  EXPECT_THAT(message(WebhookScope::Types),
              HasSubstr("all objects of these types, so that an outage denies"));
}

TEST_F(ProbeRecordTest, IsNotEnforcedWhereAProbeIsAllowed) {
  took(deniedBy("aa"));
  EXPECT_EQ(took(kAllowed), ProbeResult::Allowed);
  EXPECT_TRUE(hasNews);
  EXPECT_EQ(enforced(), "False ProbeAllowed");
  EXPECT_THAT(record.enforcementFor(oneOf({kProbedDeployments})).message, HasSubstr(kOneAddress));
  took(kAllowed);
  EXPECT_FALSE(hasNews) << "the alarm is raised once";
  took(deniedBy("aa"));
  EXPECT_TRUE(hasNews);
  EXPECT_EQ(enforced(), "True ProbeDenied");
}

TEST_F(ProbeRecordTest, AnApiServerHasSomeTimeToLearn) {
  took(deniedBy("aa"));
  record.declare({"aa", oneOf({kProbedDeployments}), now});  // somebody had deleted it
  now += seconds(9);
  EXPECT_EQ(took(kAllowed), ProbeResult::Outdated);
  EXPECT_EQ(enforced(), "False ProbePending");
  now += seconds(1);
  EXPECT_EQ(took(kAllowed), ProbeResult::Allowed);
}

TEST_F(ProbeRecordTest, OneFailureIsNoneWhereItWasWell) {
  EXPECT_EQ(took(failedWith("it is silent")), ProbeResult::Failed);
  EXPECT_EQ(enforced(), "False ProbeFailed") << "it never was well";
  took(deniedBy("aa"));
  EXPECT_EQ(took(failedWith("it is silent")), ProbeResult::Failed);
  EXPECT_FALSE(record.isProven()) << "it is tried again soon";
  took(failedWith("it is silent"));
  EXPECT_FALSE(hasNews);
  EXPECT_EQ(enforced(), "True ProbeDenied");
  took(deniedBy("aa"));
  for (int i = 0; i < 3; ++i) took(failedWith("it is silent"));
  EXPECT_TRUE(hasNews);
  EXPECT_EQ(enforced(), "False ProbeFailed");
  EXPECT_THAT(record.enforcementFor(oneOf({kProbedDeployments})).message, HasSubstr("it is silent"));
}

TEST_F(ProbeRecordTest, EveryAddressCounts) {
  record.setAddresses({kOneAddress, kOtherAddress});
  took(deniedBy("aa"));
  EXPECT_EQ(enforced(), "False ProbePending");
  took(deniedBy("aa"), kOtherAddress);
  EXPECT_EQ(enforced(), "True ProbeDenied");
  EXPECT_THAT(record.enforcementFor(oneOf({kProbedDeployments})).message,
              HasSubstr("each of its 2 addresses"));
  took(kAllowed, kOtherAddress);
  EXPECT_EQ(enforced(), "False ProbeAllowed");
  record.setAddresses({kOneAddress});
  EXPECT_EQ(enforced(), "True ProbeDenied") << "that API server is gone";
  took(kAllowed, kOtherAddress);
  EXPECT_EQ(enforced(), "True ProbeDenied");
}

ProbeAnswer answered(int status, const std::string& body) { return probeAnswer({{status, {}}, body}); }

TEST(Sentinel, OnlyLastoutsOwnRefusalCounts) {
  const auto refusal = [](const char* reason, const char* message) {
    return ProbeJson{
        {"kind", "Status"},
        {"message", "admission webhook denied the request"},
        {"details", {{"causes", ProbeJson::array({{{"reason", reason}, {"message", message}}})}}}}
        .dump();
  };
  EXPECT_EQ(answered(403, refusal("ProbedConfiguration", "0a1b")).fingerprint, "0a1b");
  EXPECT_EQ(answered(403, refusal("ProbedConfiguration", "no digits")).kind, ProbeAnswer::Kind::Failed);
  EXPECT_EQ(answered(403, refusal("SomebodyElse", "0a1b")).kind, ProbeAnswer::Kind::Failed);
  EXPECT_EQ(answered(500, refusal("ProbedConfiguration", "0a1b")).kind, ProbeAnswer::Kind::Failed);
  EXPECT_EQ(answered(403, "[").kind, ProbeAnswer::Kind::Failed);
  EXPECT_TRUE(answered(500, "failed calling webhook").hasServerFailed);
  EXPECT_FALSE(answered(403, "no right").hasServerFailed);
  EXPECT_FALSE(answered(429, "").hasServerFailed);
  EXPECT_THAT(answered(403, "no rights").why, HasSubstr("no rights"));
  EXPECT_EQ(answered(200, "").kind, ProbeAnswer::Kind::Allowed);
  EXPECT_EQ(answered(404, "").kind, ProbeAnswer::Kind::Missing);
}

std::vector<std::string> addressesIn(const std::string& text) {
  std::vector<std::string> addresses;
  const auto found = apiAddressesIn(kube::fromJson(ProbeJson::parse(text)));
  if (!found) return {found.error().message};
  for (const client::ServerAddress& address : *found) addresses.push_back(toString(address));
  return addresses;
}

TEST(ApiAddresses, AreThoseOfTheEndpointSlice) {
  EXPECT_THAT(
      addressesIn(R"({"kind":"EndpointSlice","ports":[{"name":"other","port":1},{"name":"https","port":6443}],
    "endpoints":[{"addresses":["10.0.0.1"],"conditions":{"ready":true}},{"addresses":["fd00::1"]},
    {"addresses":["10.0.0.3"],"conditions":{"ready":false}},{"addresses":["evil.example.com",7]},{}]})"),
      ElementsAre("https://10.0.0.1:6443", "https://[fd00::1]:6443"));
  EXPECT_THAT(addressesIn(R"({"kind":"Endpoints"})"), ElementsAre(HasSubstr("it is none")));
  EXPECT_THAT(addressesIn(R"({"kind":"EndpointSlice","ports":[{"port":70000}]})"),
              ElementsAre(HasSubstr("names no port")));
  ProbeJson many = {{"kind", "EndpointSlice"}, {"ports", ProbeJson::array({{{"port", 6443}}})}};
  for (int i = 0; i < 99; ++i) many["endpoints"].push_back({{"addresses", {"10.0.0." + std::to_string(i)}}});
  EXPECT_EQ(addressesIn(many.dump()).size(), kMostApiServers);
}

}  // namespace
}  // namespace lastout::server
