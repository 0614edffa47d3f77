// Uninstalling at a real API: what may not outlive lastout, in which order it goes, and what is left alone.
#include "server/uninstall/uninstall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "kube/well_known.h"
#include "tests/server/uninstall/uninstall_fixture.h"

namespace lastout::server {
namespace {

using std::chrono::seconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::SizeIs;

// The order of the design: whoever would put it back, whoever would be asked and does not answer, what holds.
TEST_F(UninstallTest, LeavesNothingThatHoldsOrDenies) {
  install();
  ASSERT_THAT(get(kOwnPods)["items"], Not(IsEmpty()));
  EXPECT_TRUE(run());
  EXPECT_THAT(complaints, IsEmpty());
  expectNothingHoldsOrDenies();
  EXPECT_THAT(server.writes,
              ElementsAre(std::string("DELETE ") + kOwnDeployment, std::string("DELETE ") + kOwnWebhook,
                          std::string("PATCH ") + kWork, std::string("DELETE ") + kOwnSecret,
                          std::string("DELETE ") + kOwnLease));
  EXPECT_THAT(told, IsSupersetOf({"deployments.apps/lastout/lastout: deleted, and its Pods are gone",
                                  "appliedmanifestworks.work.open-cluster-management.io/work: freed of "
                                  "lastout.dev/applied-objects",
                                  "  1 CriticalService, whose providers nobody guards now, whatever the "
                                  "status says"}));
  remove("/api/v1/namespaces/lastout");
}

// Whoever may not open it is told why the webhook stays.
TEST_F(UninstallTest, OpensTheLockOfItsWebhook) {
  install();
  lock("lastout-configuration");
  server.rule = [](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "DELETE" && request.target.starts_with(kOwnLock)) return 403;
    return std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, Contains(HasSubstr("validatingadmissionpolicybindings.admissionregistration.k8s.io/"
                                             "lastout-configuration: cannot be deleted")));
  EXPECT_TRUE(isThere(kOwnWebhook));
  server.allow();
  EXPECT_TRUE(run());
  EXPECT_THAT(
      told, Contains("validatingadmissionpolicybindings.admissionregistration.k8s.io/lastout-configuration: "
                     "deleted"));
  EXPECT_FALSE(isThere(kOwnLock));
  expectNothingHoldsOrDenies();
}

TEST_F(UninstallTest, SaysThatTheLockIsOpenWhenTheWebhookStays) {
  install();
  lock("lastout-configuration");
  server.rule = [this](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "DELETE" && request.target.starts_with(kOwnWebhook) && !isThere(kOwnLock))
      return 500;
    return std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_FALSE(isThere(kOwnLock));
  EXPECT_THAT(complaints,
              Contains(HasSubstr("lastout-configuration: is deleted, and the configuration that it "
                                 "locks is still there: run this again, or put it back")));
}

TEST_F(UninstallTest, ADryRunNamesTheLockOfItsWebhook) {
  install();
  lock("lastout-configuration");
  options.dryRun = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(told, Contains(HasSubstr("lastout-configuration: would be deleted, unless its policy lets this "
                                       "account delete validatingwebhookconfigurations")));
}

// While the configuration guards a Namespace, API servers deny the deletion of what answers them.
TEST_F(UninstallTest, OpensTheLockOfItsDeployments) {
  install();
  createDeployments();
  lock("lastout-installation");
  EXPECT_EQ(statusOfDelete("/apis/apps/v1/namespaces/lastout/deployments/lastout-webhook"), 403);
  server.rule = [](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "DELETE" && request.target.starts_with(kInstallationBinding)) return 403;
    return std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, Contains(HasSubstr("lastout-installation: cannot be deleted, a right is missing")));
  EXPECT_TRUE(isThere(kOwnWebhook));
  server.allow();
  EXPECT_TRUE(run());
  EXPECT_THAT(told,
              Contains("validatingadmissionpolicybindings.admissionregistration.k8s.io/lastout-installation: "
                       "deleted"));
  EXPECT_THAT(told, Contains("deployments.apps/lastout/lastout-webhook: deleted, and its Pods are gone"));
  expectNothingHoldsOrDenies();
}

// API servers go on denying for a moment after the binding is gone.
TEST_F(UninstallTest, AsksAgainWhileTheLockOfItsDeploymentsIsStillInForce) {
  install();
  createDeployments();
  lock("lastout-installation");
  const Json binding = {{"apiVersion", "admissionregistration.k8s.io/v1"},
                        {"kind", "ValidatingAdmissionPolicyBinding"},
                        {"metadata", {{"name", "late"}}},
                        {"spec",
                         {{"policyName", "lastout-installation"},
                          {"validationActions", {"Deny"}},
                          {"paramRef", {{"name", "lastout"}, {"parameterNotFoundAction", "Allow"}}}}}};
  const std::string bindings = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings";
  create(bindings, binding);
  meanwhile = [&] {
    if (!isThere(kInstallationBinding) && isThere(bindings + "/late")) remove(bindings + "/late");
  };
  EXPECT_TRUE(run());
  EXPECT_FALSE(isThere(bindings + "/late"));
  EXPECT_THAT(complaints, IsEmpty());
  expectNothingHoldsOrDenies();
}

TEST_F(UninstallTest, ADryRunNamesTheLockOfItsDeploymentsOnce) {
  install();
  createDeployments();
  lock("lastout-installation");
  options.dryRun = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_EQ(std::ranges::count_if(
                told, [](const std::string& line) { return line.find("lastout-installation") != line.npos; }),
            1);
  EXPECT_THAT(told, Contains(HasSubstr("lastout-installation: would be deleted, unless its policy lets this "
                                       "account delete deployments.apps/lastout/lastout-controller")));
}

TEST_F(UninstallTest, HasNothingToDoTheSecondTime) {
  install();
  EXPECT_TRUE(run());
  EXPECT_TRUE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(complaints, IsEmpty());
}

// After one more request each time: what was done stays done, and the last run ends all of it.
TEST_F(UninstallTest, MayBeInterruptedAnywhere) {
  install();
  deferDeletions();
  options.dropsDeferredDeletions = true;
  bool isDone = false;
  for (size_t most = 1; !isDone && most < 100; ++most) {
    server.rule = [&](const client::ApiRequest&) {
      return server.asked.size() > most ? std::optional(0) : std::nullopt;
    };
    server.asked.clear();
    isDone = uninstall(server, options).value_or(false);
  }
  EXPECT_TRUE(isDone);
  expectNothingHoldsOrDenies();
}

TEST_F(UninstallTest, ADryRunChangesNothing) {
  install();
  deferDeletions();
  options.dropsDeferredDeletions = options.dryRun = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(
      told,
      IsSupersetOf({"deployments.apps/lastout/lastout: would be deleted, and its Pods waited for",
                    "appliedmanifestworks.work.open-cluster-management.io/work: would be freed of "
                    "lastout.dev/applied-objects",
                    "criticalservices.lastout.dev/s: would be freed of 1 deferred deletion",
                    "secrets/lastout/lastout-tls: would be deleted",
                    "  1 CriticalService, whose providers nobody would guard then, whatever the status says",
                    "leases.coordination.k8s.io/lastout/lastout: would be deleted"}));
}

// One for each role, as deploy/ has them; the former one may be there, too.
TEST_F(UninstallTest, BothDeploymentsGo) {
  install();
  createDeployments();
  EXPECT_TRUE(run());
  expectNothingHoldsOrDenies();
  for (const std::string name : {"lastout-webhook", "lastout-controller", "lastout"}) {
    EXPECT_FALSE(isThere("/apis/apps/v1/namespaces/lastout/deployments/" + name));
    EXPECT_THAT(told, Contains("deployments.apps/lastout/" + name + ": deleted, and its Pods are gone"));
  }
  told.clear();
  EXPECT_TRUE(run());
  EXPECT_THAT(told, Contains("deployments.apps in namespace lastout: none of lastout's is there"));
}

// What stops it in between is no refusal that has left everything as it was.
TEST_F(UninstallTest, OneDeploymentThatMayNotBeDeletedKeepsTheRest) {
  install();
  Json deployment = ownDeployment();
  deployment["metadata"]["name"] = "lastout-controller";
  create("/apis/apps/v1/namespaces/lastout/deployments", deployment);
  server.rule = [](const client::ApiRequest& request) {
    return request.method == "DELETE" && request.target == kOwnDeployment ? std::optional(403) : std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_TRUE(isThere(kOwnWebhook));
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("a right is missing"), HasSubstr(kWayOut)));
}

// Nobody loses a deletion that is to be run without having said so.
TEST_F(UninstallTest, DeletionsThatAreDeferredNeedAYes) {
  install();
  deferDeletions();
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(told, ElementsAre("1 deletion is deferred, and lastout will not run it:",
                                "  deployments.apps/default/provider, asked for by agent"));
  EXPECT_THAT(complaints,
              ElementsAre(AllOf(HasSubstr("a teardown is under way: let a lastout that runs finish it"),
                                HasSubstr("--yes"))));
  options.dropsDeferredDeletions = true;
  EXPECT_TRUE(run());
  expectNothingHoldsOrDenies();
}

// Its Pods answer until they have ended.
TEST_F(UninstallTest, ATeardownThatBeginsMeanwhileNeedsAYes) {
  install();
  options.patience.pause = [this, pause = options.patience.pause, begun = false](auto time) mutable {
    if (!std::exchange(begun, true)) deferDeletions();
    pause(time);
  };
  EXPECT_FALSE(run());
  EXPECT_FALSE(isThere(kOwnDeployment));
  EXPECT_TRUE(isThere(kOwnWebhook)) << "what is guarded is denied";
  EXPECT_EQ(finalizersOf(kWork), Json({kube::kAppliedObjectsFinalizer, "others.io/f"}));
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("a teardown is under way"), HasSubstr(kWayOut)));
}

// Whatever it is, somebody has asked for it.
TEST_F(UninstallTest, WhatCannotBeUnderstoodIsDeferredToo) {
  install();
  patch(std::string(kRecordingService) + "/status",
        {{"status",
          {{"deferredDeletions", Json::array({{{"group", "apps"},
                                               {"resource", "deployments"},
                                               {"name", "provider"},
                                               {"uid", ""},
                                               {"requestedBy", "agent"},
                                               {"requestedAt", "2026-01-01T00:00:00Z"}}})}}}});
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(told, ElementsAre("1 deletion is deferred, and lastout will not run it:",
                                "  of criticalservices.lastout.dev/s 1 that cannot be understood"));
  options.dropsDeferredDeletions = true;
  EXPECT_TRUE(run());
  expectNothingHoldsOrDenies();
}

// As lastout wrote it before status.deferredDeletions had its name.
TEST_F(UninstallTest, WhatIsRecordedUnderTheFormerNameIsDeferredToo) {
  install();
  patch(std::string(kRecordingService) + "/status",
        {{"status",
          {{"putOff",
            Json::array(
                {{{"group", "apps"}, {"resource", "deployments"}, {"name", "provider"}, {"uid", "u"}}})}}}});
  EXPECT_FALSE(run());
  EXPECT_THAT(told, ElementsAre("1 deletion is deferred, and lastout will not run it:",
                                "  deployments.apps/provider, asked for by "));
  options.dropsDeferredDeletions = true;
  EXPECT_TRUE(run());
  expectNothingHoldsOrDenies();
}

// Whatever is to be finalized by it: it is gone as soon as the finalizer is off.
TEST_F(UninstallTest, ProvidersThatWaitForLastoutNeedAYes) {
  install();
  patch(kStoryProvider, {{"metadata", {{"finalizers", {kube::kCriteriaFinalizer, "others.io/f"}}}}});
  options.dryRun = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(told, Contains("deployments.apps/default/provider: would be freed of lastout.dev/criteria"));
  options.dryRun = false;
  remove(kOwnWebhook);  // nobody answers by now
  remove(kStoryProvider);
  create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", webhook());
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(told, ElementsAre("1 provider is being deleted and held by lastout, and goes next, whatever "
                                "still needs it:",
                                "  deployments.apps/default/provider"));
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("a teardown is under way")));
  options.dropsDeferredDeletions = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(told, Contains("deployments.apps/default/provider: freed of lastout.dev/criteria, while it is "
                             "being deleted"));
  EXPECT_EQ(finalizersOf(kStoryProvider), Json({"others.io/f"}));
  expectNothingHoldsOrDenies();
}

// What such a work has applied the garbage collector deletes as soon as the finalizer is off.
TEST_F(UninstallTest, WorksThatWaitForLastoutNeedAYes) {
  install();
  for (int i = 0; i < 25; ++i) {
    const std::string name = "w" + std::to_string(i);
    createWork(name, {kube::kAppliedObjectsFinalizer});
    remove(std::string(kWorks) + "/" + name);
  }
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(told, SizeIs(22));
  EXPECT_THAT(told, IsSupersetOf({"25 AppliedManifestWorks are being deleted and held by lastout; what they "
                                  "have applied the garbage collector deletes next, unguarded, in any order:",
                                  "  w0", "AppliedManifestWorks that wait for lastout: the same of 5 more"}));
  EXPECT_THAT(complaints,
              ElementsAre(HasSubstr("a teardown is under way: let a lastout that runs finish it")));
  options.dropsDeferredDeletions = true;
  EXPECT_TRUE(run());
  expectNothingHoldsOrDenies();
  EXPECT_FALSE(isThere(std::string(kWorks) + "/w0"));
}

TEST_F(UninstallTest, WhetherWorksWaitHasToBeKnown) {
  install();
  server.rule = [](const client::ApiRequest& request) {
    return request.target.starts_with(kWorks) ? std::optional(403) : std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(complaints, Contains(AllOf(HasSubstr("a right is missing"), HasSubstr("Works wait"))));
}

// Who runs is looked at when nobody answers reviews any more; that it cannot be has to be known before.
TEST_F(UninstallTest, NothingIsDoneWhereItCannotBeSeenWhoRuns) {
  install();
  for (const char* unseen : {"/replicasets", "/pods", "/namespaces/default/leases/lastout"}) {
    server.rule = [&](const client::ApiRequest& request) {
      return request.target.find(unseen) != std::string::npos ? std::optional(403) : std::nullopt;
    };
    EXPECT_FALSE(run());
    EXPECT_THAT(server.writes, IsEmpty()) << unseen;
    EXPECT_THAT(complaints, ElementsAre(HasSubstr("a right is missing"))) << unseen;
  }
}

TEST_F(UninstallTest, SaysHowToGoOnWhereItStopsWithoutAReplica) {
  install();
  server.rule = [&](const client::ApiRequest& request) {
    return !server.writes.empty() && request.target == kOwnLease ? std::optional(403) : std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, ElementsAre(std::string("DELETE ") + kOwnDeployment));
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("a right is missing"), HasSubstr(kWayOut)));
}

TEST_F(UninstallTest, ADryRunSaysThatAYesIsNeededAndGoesOn) {
  install();
  deferDeletions();
  options.dryRun = true;
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("this needs --yes")));
  EXPECT_THAT(told, Contains("leases.coordination.k8s.io/lastout/lastout: would be deleted"));
}

TEST_F(UninstallTest, WhetherDeletionsAreDeferredHasToBeKnown) {
  install();
  server.rule = [](const client::ApiRequest& request) {
    return request.target.find("/criticalservices") != std::string::npos ? std::optional(403) : std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(complaints, Contains(AllOf(HasSubstr("a right is missing"), HasSubstr("deferred"))));
}

TEST_F(UninstallTest, WhatCannotBeReadIsNotSaidToBeGone) {
  options.dropsDeferredDeletions = true;
  server.rule = [](const client::ApiRequest& request) {
    return request.target.starts_with("/apis/lastout.dev/") ? std::optional(403) : std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(told, Contains("  CriticalServices, if there are any: they could not be read"));
  EXPECT_THAT(told, Not(Contains("Nothing of lastout is left.")));
}

// A lastout outside of the cluster would put everything back.
TEST_F(UninstallTest, NothingIsDoneWhileSomebodyRenewsTheLease) {
  install();
  remove(kOwnDeployment);
  cluster.runUntil(seconds(60));
  now += seconds(60);
  meanwhile = [this] { renew("somebody_1"); };
  renew("somebody_1");
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, Each(HasSubstr("/deployments/lastout")));
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("\"somebody_1\" renews it"), HasSubstr(kWayOut)));
  EXPECT_TRUE(isThere(kOwnWebhook));
}

// A lastout that was killed has not given it back; by nobody's clock but this one it expires.
TEST_F(UninstallTest, ALeaseThatNobodyRenewsExpires) {
  install();
  renew("killed_1");
  const auto begun = now;
  EXPECT_TRUE(run());
  EXPECT_GE(now - begun, seconds(15 + 5));
  expectNothingHoldsOrDenies();
}

// Of the Deployments' Pods it is known that they have ended: their Lease need not expire.
TEST_F(UninstallTest, TheLeaseOfAPodThatHasEndedIsNotWaitedFor) {
  install();
  const std::string pod = get(kOwnPods)["items"][0]["metadata"]["name"];
  renew(pod + "_0123456789abcdef");
  const auto begun = now;
  EXPECT_TRUE(run());
  EXPECT_LT(now - begun, seconds(15));
  EXPECT_THAT(told, Contains("leases.coordination.k8s.io/lastout/lastout: deleted, as its holder \"" + pod +
                             "_0123456789abcdef\" has ended"));
  expectNothingHoldsOrDenies();
}

// Another may wait for it.
TEST_F(UninstallTest, AStandbyThatTakesTheLeaseOfAPodThatHasEndedIsSeen) {
  install();
  const std::string pod = get(kOwnPods)["items"][0]["metadata"]["name"];
  renew(pod + "_0123456789abcdef");
  meanwhile = [&] {
    if (!isThere(kOwnLease)) create(kOwnLeases, lease("standby_1"));
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("\"standby_1\" renews it"), HasSubstr(kWayOut)));
  EXPECT_TRUE(isThere(kOwnWebhook));
}

// One of a dead node may still run, whatever its name.
TEST_F(UninstallTest, TheLeaseOfAPodThatMayStillRunHasToExpire) {
  install();
  const std::string pod = get(kOwnPods)["items"][0]["metadata"]["name"];
  patch(kOwnPods + ("/" + pod), {{"metadata", {{"finalizers", {"others.io/f"}}}}});
  renew(pod + "_0123456789abcdef");
  options.timeout = seconds(30);
  meanwhile = [&] { renew(pod + "_0123456789abcdef"); };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, Contains(HasSubstr("renews it")));
  EXPECT_TRUE(isThere(kOwnWebhook));
}

// A standby outside of the cluster takes what the last holder has given back.
TEST_F(UninstallTest, ALeaseThatWasGivenBackIsWatchedForAWhile) {
  install();
  std::optional<client::TimePoint> seen;
  server.rule = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (!server.writes.empty() && request.target == kOwnLease && !seen) seen = now;
    return std::nullopt;
  };
  meanwhile = [&] {
    if (seen && now - *seen >= std::chrono::milliseconds(4'400)) renew("standby_1");
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("\"standby_1\" renews it"), HasSubstr(kWayOut)));
  EXPECT_TRUE(isThere(kOwnWebhook));
}

// Or makes the one that nobody has made.
TEST_F(UninstallTest, ALeaseThatIsMissingIsWatchedForAWhile) {
  install();
  remove(kOwnLease);
  std::optional<client::TimePoint> seen;
  server.rule = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (!server.writes.empty() && request.target == kOwnLease && !seen) seen = now;
    return std::nullopt;
  };
  meanwhile = [&] {
    if (seen && now - *seen >= std::chrono::milliseconds(4'400) && !isThere(kOwnLease))
      create(kOwnLeases, lease("standby_1"));
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("\"standby_1\" renews it"), HasSubstr(kWayOut)));
  EXPECT_TRUE(isThere(kOwnWebhook));
}

TEST_F(UninstallTest, ALeaseThatAppearsAfterwardsIsTold) {
  install();
  server.rule = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "GET" && request.target.find("lastout-sentinel") != std::string::npos)
      create(kOwnLeases, lease("late_1"));
    return std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("\"late_1\" holds it by now")));
}

// Its Lease has a name that nobody could guess.
TEST_F(UninstallTest, AWebhookThatIsThereAgainIsTold) {
  install();
  server.rule = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "GET" && request.target.find("lastout-sentinel") != std::string::npos)
      create("/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations", webhook());
    return std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, ElementsAre(AllOf(HasSubstr("validatingwebhookconfigurations"),
                                            HasSubstr("is there again: a lastout serve runs"))));
}

TEST_F(UninstallTest, AnotherLastoutIsLeftAlone) {
  install();
  options.namespaceName = "lastuot";
  options.leases = {{"lastuot", "lastout"}};
  for (const bool ownedByTheNamespace : {true, false}) {
    Json found = get(kOwnWebhook);
    found["webhooks"][0]["clientConfig"] = {{"service", {{"namespace", "lastout"}, {"name", "lastout"}}}};
    found["metadata"]["ownerReferences"] =
        ownedByTheNamespace
            ? Json::array({{{"apiVersion", "v1"}, {"kind", "Namespace"}, {"name", "lastout"}, {"uid", "u"}}})
            : Json();
    patch(kOwnWebhook, found);
    EXPECT_FALSE(run());
    EXPECT_THAT(server.writes, IsEmpty());
    EXPECT_THAT(complaints, ElementsAre(HasSubstr("is of the lastout in namespace \"lastout\", not in "
                                                  "\"lastuot\": say which one with --namespace")));
  }
}

TEST_F(UninstallTest, NothingIsDoneWhereItCannotBeSeenWhoseItIs) {
  install();
  server.rule = [](const client::ApiRequest& request) {
    return request.target == kOwnWebhook ? std::optional(500) : std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(server.writes, IsEmpty());
  EXPECT_THAT(complaints, ElementsAre(AllOf(HasSubstr("lastout: cannot be read"), HasSubstr("500"))));
}

TEST_F(UninstallTest, ADryRunNamesWhoMayHoldTheLeaseWhenTheDeploymentIsGone) {
  install();
  renew("somebody_1");
  options.dryRun = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(told, Contains("leases.coordination.k8s.io/lastout/lastout: \"somebody_1\" holds it; unless "
                             "its Pod goes with a Deployment, while that renews it, nothing is done"));
}

TEST_F(UninstallTest, ADryRunNamesWhoHoldsTheLease) {
  install();
  remove(kOwnDeployment);
  cluster.runUntil(seconds(60));
  renew("somebody_1");
  options.dryRun = true;
  EXPECT_TRUE(run());
  EXPECT_THAT(told,
              Contains("leases.coordination.k8s.io/lastout/lastout: \"somebody_1\" holds it; while that "
                       "renews it, nothing is done"));
}

TEST_F(UninstallTest, ALeaseThatIsTakenMeanwhileStays) {
  install();
  server.rule = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "DELETE" && request.target == kOwnSecret) renew("late_1");
    return std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints, ElementsAre(HasSubstr("\"late_1\" holds it by now")));
  EXPECT_TRUE(isThere(kOwnLease));
}

// While a Pod may still answer, the rest stays as it is.
TEST_F(UninstallTest, GoesNoFurtherWhileItsPodsAreThere) {
  install();
  const std::string sets = "/apis/apps/v1/namespaces/lastout/replicasets";
  patch(sets + ("/" + get(sets)["items"][0]["metadata"]["name"].get<std::string>()),
        {{"metadata", {{"finalizers", {"others.io/f"}}}}});
  options.timeout = seconds(30);
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints,
              ElementsAre(AllOf(HasSubstr("still there after 30 s"), HasSubstr("ReplicaSet lastout-")),
                          HasSubstr(kWayOut)));
  EXPECT_THAT(server.writes, SizeIs(1));
}

// Nobody says of a Pod on a dead node that it has ended; whether it runs the Lease tells.
TEST_F(UninstallTest, APodThatOnlyItsNodeCouldEndIsNotWaitedForForEver) {
  install();
  patch(kOwnPods + ("/" + get(kOwnPods)["items"][0]["metadata"]["name"].get<std::string>()),
        {{"metadata", {{"finalizers", {"others.io/f"}}}}});
  options.timeout = seconds(30);
  EXPECT_TRUE(run());
  EXPECT_THAT(complaints, ElementsAre(AllOf(HasSubstr("still there after 30 s: Pod lastout-"),
                                            HasSubstr("being deleted"))));
  EXPECT_FALSE(isThere(kOwnWebhook) || isThere(kOwnLease));
}

// Somebody writes between the read and the write.
TEST_F(UninstallTest, WhatOthersWriteMeanwhileIsKept) {
  install();
  bool isFirst = true;
  server.rule = [&](const client::ApiRequest& request) -> std::optional<int> {
    if (request.method == "PATCH" && request.target == kWork && std::exchange(isFirst, false))
      patch(request.target,
            {{"metadata", {{"finalizers", {"late.io/f", kube::kAppliedObjectsFinalizer, "others.io/f"}}}}});
    return std::nullopt;
  };
  EXPECT_TRUE(run());
  EXPECT_EQ(finalizersOf(kWork), Json({"late.io/f", "others.io/f"}));
}

TEST_F(UninstallTest, SaysWhichRightIsMissingAndDoesTheRest) {
  install();
  server.rule = [](const client::ApiRequest& request) {
    const bool isWork = request.method == "PATCH" && request.target == kWork;
    return isWork || (request.method == "DELETE" && request.target == kOwnWebhook) ? std::optional(403)
                                                                                   : std::nullopt;
  };
  EXPECT_FALSE(run());
  EXPECT_THAT(complaints,
              ElementsAre(HasSubstr("validatingwebhookconfigurations.admissionregistration.k8s.io/lastout: "
                                    "cannot be deleted, a right is missing: 403"),
                          HasSubstr(kWayOut),
                          HasSubstr("/work: cannot be freed of lastout.dev/applied-objects, a right is "
                                    "missing: 403")));
  EXPECT_FALSE(isThere(kOwnSecret));
  server.allow();
  EXPECT_TRUE(run());
  expectNothingHoldsOrDenies();
}

// cert-manager keeps the key of its authority to itself.
TEST_F(UninstallTest, ASecretOfSomebodyElseIsLeft) {
  install();
  remove(kOwnSecret);
  createSecret({{"tls.key", "a2V5"}});
  EXPECT_TRUE(run());
  EXPECT_TRUE(isThere(kOwnSecret));
  EXPECT_THAT(told, Contains("secrets/lastout/lastout-tls: is left, as somebody else made it"));
}

TEST_F(UninstallTest, ManyObjectsAreToldInFewLines) {
  for (int i = 0; i < 25; ++i) createWork("w" + std::to_string(i), {kube::kAppliedObjectsFinalizer});
  EXPECT_TRUE(run());
  EXPECT_EQ(std::ranges::count_if(told,
                                  [](const std::string& line) {
                                    return line.starts_with("appliedmanifestworks.") &&
                                           line.find("freed") != std::string::npos;
                                  }),
            20);
  EXPECT_THAT(told,
              Contains("finalizers of appliedmanifestworks.work.open-cluster-management.io: the same of "
                       "5 more"));
}

TEST_F(UninstallTest, FailsWhereNobodyAnswers) {
  server.rule = [](const client::ApiRequest&) { return 0; };
  EXPECT_FALSE(uninstall(server, options));
}

}  // namespace
}  // namespace lastout::server
