// The Secret of all replicas at a real API: made by one, used by all, renewed in virtual time.
#include "server/webhook/certificate_secret.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <list>

#include "kube/parse.h"
#include "tests/support/server_world.h"

namespace lastout::server {
namespace {

using lastout::testing::WireAnswer;
using ::testing::_;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kSecrets = "/api/v1/namespaces/default/secrets";
constexpr const char* kSecret = "/api/v1/namespaces/default/secrets/lastout-tls";
constexpr int64_t kSecretsDay = 86'400;

class CertificateSecretTest : public lastout::testing::ServerWorld {
 public:
  struct Replica {
    std::mutex mutex;
    SharedCertificate used;
    std::unique_ptr<CertificateSecret> secret;
    SharedCertificate uses() {
      const std::lock_guard lock(mutex);
      return used;
    }
  };

  Replica& startReplica(bool renews = true) {
    Replica& replica = replicas.emplace_back();
    CertificateSecretOptions options;
    options.namespaceName = namespaceName;
    options.name = "lastout-tls";
    options.names = {{"lastout.default.svc"}, {}};
    options.renews = renews;
    options.labels = labels;
    options.lookAfter = std::chrono::milliseconds(10);
    options.clock = [this] {
      ++looks;
      return now.load();
    };
    options.watcher.reflector.backoff = lastout::testing::kSoonAgain;
    options.random = lastout::testing::oneHalf;
    options.log = [this](Level /*level*/, const std::string& line) {
      const std::lock_guard lock(mutex);
      lines.push_back(line);
    };
    options.use = [&replica](const SharedCertificate& shared) {
      const std::lock_guard lock(replica.mutex);
      replica.used = shared;
      return kube::Result<void>();
    };
    replica.secret = std::make_unique<CertificateSecret>(access, std::move(options));
    replica.secret->start();
    return replica;
  }

  SharedCertificate stored() {
    const WireAnswer answer = ask({.method = "GET", .target = kSecret, .body = {}, .headers = {}});
    if (answer.status != 200) return {};
    return sharedCertificateIn(kube::parseJson(answer.body, "").value());
  }

  std::vector<std::string> logged() {
    const std::lock_guard lock(mutex);
    return lines;
  }

  std::string namespaceName = "default";
  kube::Labels labels;
  std::atomic<int64_t> now{20'000 * kSecretsDay};
  std::atomic<int> looks{0};
  std::mutex mutex;
  std::vector<std::string> lines;
  std::list<Replica> replicas;
};

// It has no right to: that is for the process with the other role.
TEST_F(CertificateSecretTest, IsUsedAndNotMadeByOneThatDoesNotRenewIt) {
  Replica& reader = startReplica(false);
  waitUntil([&] { return !logged().empty(); });
  EXPECT_THAT(
      logged(),
      ElementsAre("no review is answered before there is a certificate in Secret default/lastout-tls: "
                  "it is not there; lastout serve --roles controller makes it"));
  startReplica();
  waitUntil([&] { return reader.secret->isKnown(); });
  EXPECT_EQ(reader.uses(), stored());
  remove(kSecret);
  waitUntil([&] { return !stored().key.empty() && reader.uses() == stored(); });
  EXPECT_THAT(logged(), ElementsAre(_, "there is a certificate to answer reviews with"));
}

TEST_F(CertificateSecretTest, IsMadeOnceAndUsedByAll) {
  Replica& first = startReplica();
  Replica& second = startReplica();
  waitUntil([&] { return first.secret->isKnown() && second.secret->isKnown(); });
  EXPECT_EQ(first.uses(), second.uses());
  EXPECT_EQ(first.uses(), stored());
  EXPECT_TRUE(isUsable(stored(), now));
}

TEST_F(CertificateSecretTest, HasTheLabelsThatItIsToHave) {
  const auto labelOf = [this] {
    const WireAnswer answer = ask({.method = "GET", .target = kSecret, .body = {}, .headers = {}});
    return answer.json()["metadata"]["labels"].value("example.com/keep", "");
  };
  Replica& before = startReplica();
  waitUntil([&] { return before.secret->isKnown(); });
  EXPECT_EQ(labelOf(), "");
  const SharedCertificate made = stored();
  before.secret->stop();
  labels = {{"example.com/keep", "true"}};
  startReplica();
  waitUntil([&] { return labelOf() == "true"; });
  patch(kSecret, {{"metadata", {{"labels", {{"example.com/keep", nullptr}}}}}});
  waitUntil([&] { return labelOf() == "true"; });
  EXPECT_EQ(stored(), made);
}

TEST_F(CertificateSecretTest, IsRenewedInTimeForAll) {
  Replica& first = startReplica();
  Replica& second = startReplica();
  waitUntil([&] { return first.secret->isKnown() && second.secret->isKnown(); });
  const SharedCertificate before = stored();
  now += 61 * kSecretsDay;
  waitUntil([&] { return first.uses() != before && second.uses() == first.uses(); });
  EXPECT_EQ(stored().authorities, before.authorities);
  EXPECT_TRUE(isUsable(stored(), now + 80 * kSecretsDay));
}

TEST_F(CertificateSecretTest, IsMadeAnewWhenItIsDeletedOrBroken) {
  Replica& replica = startReplica();
  waitUntil([&] { return replica.secret->isKnown(); });
  const SharedCertificate before = stored();
  remove(kSecret);
  waitUntil([&] { return isUsable(stored(), now) && stored() == replica.uses() && stored() != before; });
  EXPECT_EQ(ask({.method = "PATCH",
                 .target = kSecret,
                 .body = R"({"metadata":{"labels":{"a":"b"}},"data":{"tls.key":"bm8ga2V5"}})",
                 .headers = {"Content-Type: application/merge-patch+json"}})
                .status,
            200);
  waitUntil([&] { return isUsable(stored(), now) && stored() == replica.uses(); });
  const WireAnswer answer = ask({.method = "GET", .target = kSecret, .body = {}, .headers = {}});
  EXPECT_EQ(answer.json()["metadata"]["labels"]["a"], "b") << "others may label it";
}

TEST_F(CertificateSecretTest, OfOthersIsOnlyRead) {
  const auto others = nextCertificate({}, {{"lastout.default.svc"}, {}}, {}, now).value().value();
  lastout::testing::Json secret = secretOf("default", "lastout-tls", others);
  secret["data"].erase("ca.key");
  create(kSecrets, secret);
  Replica& replica = startReplica();
  waitUntil([&] { return replica.secret->isKnown(); });
  EXPECT_EQ(replica.uses().certificate, others.certificate);
  const size_t before = logged().size();
  now += 91 * kSecretsDay;
  waitUntil([&] { return logged().size() > before; });
  EXPECT_EQ(stored().certificate, others.certificate) << "it is not lastout's to renew";
}

// The ca.key was left over when somebody else took the Secret over.
TEST_F(CertificateSecretTest, OfOthersGetsNoOtherPath) {
  const auto former = nextCertificate({}, {{"lastout.default.svc"}, {}}, {}, now).value().value();
  SharedCertificate others = nextCertificate({}, {{"lastout.default.svc"}, {}}, {}, now).value().value();
  others.authorityKey = former.authorityKey;
  others = withNewPath(std::move(others), std::string(32, 'a'));
  create(kSecrets, secretOf("default", "lastout-tls", others));
  Replica& replica = startReplica();
  waitUntil([&] { return replica.secret->isKnown(); });
  EXPECT_FALSE(replica.secret->renewPath());
  replica.secret->leaveFormerPath();
  const int before = looks;
  waitUntil([&] { return looks > before + 4; });
  EXPECT_EQ(stored(), others);
}

TEST_F(CertificateSecretTest, ItsOwnGetsAnotherPath) {
  Replica& replica = startReplica();
  EXPECT_FALSE(startReplica(false).secret->renewPath()) << "another process makes it";
  waitUntil([&] { return replica.secret->isKnown(); });
  EXPECT_TRUE(replica.secret->renewPath());
  waitUntil([&] { return stored().pathSeeds.size() == 2; });
  waitUntil([&] {
    replica.secret->leaveFormerPath();  // again and again, until it has seen the new one
    return stored().pathSeeds.size() == 1;
  });
}

// As after `kubectl delete -k`: its namespace is gone.
TEST_F(CertificateSecretTest, AProblemIsLoggedOnceHoweverOftenItIsTried) {
  namespaceName = "later";
  Replica& replica = startReplica();
  waitUntil([&] { return looks > 10; });
  EXPECT_THAT(logged(), ElementsAre(AllOf(HasSubstr("the certificate's Secret cannot be renewed: 404"),
                                          HasSubstr("namespaces \"later\" not found"))));
  create("/api/v1/namespaces",
         {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", "later"}}}});
  waitUntil([&] { return replica.secret->isKnown() && logged().size() > 1; });
  EXPECT_EQ(logged().back(), "the certificate's Secret is as it should be again");
  EXPECT_EQ(logged().size(), 2U);
}

}  // namespace
}  // namespace lastout::server
