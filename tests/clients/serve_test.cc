// `lastout serve` beside `lastout up`: two processes, real TLS between them, and kubectl.
#include <gmock/gmock.h>

#include <future>
#include <random>
#include <vector>

#include "tests/clients/serving.h"
#include "tests/support/seed.h"

namespace lastout::clients {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class Serve : public Serving {
 protected:
  // The story's objects in a cluster, and lastout beside it, in force.
  void begin(const std::vector<std::string>& options = {},
             const std::string& scenario = "scenarios/story-three-works.yaml") {
    start({"--speed", "50", "--load", scenario});
    serve(options);
    waitUntilTheProviderIsGuarded();
  }

  void waitUntilAnEventSays(const std::string& words) const {
    waitUntil(
        "kubectl get events -n default -o jsonpath='{range .items[*]}{.reason}: {.message}{\"\\n\"}{end}' | "
        "grep -qF '" +
        words + "'");
  }

  // A client for each of them, at once, that tries again until it is gone.
  std::vector<std::future<void>> clientsThatDelete(const std::vector<std::string>& objects) const {
    std::vector<std::future<void>> clients;
    clients.reserve(objects.size());
    for (const std::string& object : objects) {
      clients.push_back(std::async(std::launch::async, [this, object] {
        waitUntil("kubectl delete --ignore-not-found --timeout=2s " + object);
      }));
    }
    return clients;
  }
};

TEST_F(Serve, RefusesTheProviderInWords) {
  begin();
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              AllOf(HasSubstr("admission webhook \"deployments.apps.lastout.dev\" denied the request"),
                    HasSubstr("is the provider of criticalservices.lastout.dev/for-finalizer-deployment"),
                    HasSubstr("coolresources.my.crd.group/some-instance has finalizer")));
  EXPECT_THAT(kubectl("delete namespace finalizer-namespace", 1),
              HasSubstr("admission webhook \"namespaces.lastout.dev\" denied the request"));
}

// All at once, by clients that try again, in orders of chance.
TEST_F(Serve, TheStoryEndsEmptyInEveryOrder) {
  begin();
  std::vector<std::string> deletions = {"manifestwork cr -n cluster1", "manifestwork crd -n cluster1",
                                        "manifestwork finalizer -n cluster1", "namespace finalizer-namespace",
                                        "criticalservice for-finalizer-deployment"};
  const uint32_t seed = testing::seed();
  SCOPED_TRACE(testing::howToRepeat(seed));
  std::mt19937 order(seed);
  std::shuffle(deletions.begin(), deletions.end(), order);
  for (std::future<void>& client : clientsThatDelete(deletions)) client.get();
  EXPECT_THAT(kubectl("get namespaces,criticalservices,deployments,manifestworks -A -o name"),
              Not(HasSubstr("finalizer")));
  EXPECT_THAT(kubectl("get crds -o name"), Not(HasSubstr("coolresources")));
}

// Three works are deleted once, as they were when a real control plane never ended; nobody asks again. An
// instance that somebody else holds as well keeps the criteria from holding before the agent has asked.
TEST_F(Serve, TheRecordedDeadlockEndsEmpty) {
  begin({"--defer-for", "somebody,agent"}, "scenarios/story-deadlock.yaml");
  const std::string instance = "patch coolresources some-instance --type=json -p ";
  kubectl(instance + R"('[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/held"}]')");
  kubectl("delete manifestworks --all -n cluster1 --wait=false");
  waitUntilAnEventSays(
      "DeletionDeferred: deployments.apps/finalizer-namespace/finalizer-deployment: its deletion, asked for "
      "by "
      "agent, is deferred until it may go");
  waitUntil("kubectl get coolresources some-instance -o jsonpath='{.metadata.finalizers}' | grep -qv super");
  waitUntil(
      "kubectl get critsvc for-finalizer-deployment | grep -Eq ' +[1-9][0-9]* +[1-9][0-9]* +(True|False) '");
  EXPECT_THAT(kubectl("get critsvc"), HasSubstr("NAMESKNOWN   REMAINING   DEFERRED   STUCK   AGE"));
  kubectl(instance + R"('[{"op":"remove","path":"/metadata/finalizers/0"}]')");
  waitUntil("test -z \"$(kubectl get manifestworks,appliedmanifestworks -A -o name)\"");
  waitUntil(
      "test -z \"$(kubectl get namespaces,criticalservices,deployments,persistentvolumeclaims -A -o name | "
      "grep "
      "-e finalizer -e /data)\"");
  EXPECT_THAT(kubectl("get crds -o name"), Not(HasSubstr("coolresources")));
  waitUntilAnEventSays(
      "DeletionCarriedOut: deployments.apps/finalizer-namespace/finalizer-deployment is deleted now, as "
      "agent had asked");
}

TEST_F(Serve, ADeferredDeletionIsListedAndCancelled) {
  begin({"--defer-for", "somebody,agent"}, "scenarios/story-deadlock.yaml");
  EXPECT_EQ(run("lastout deferred --kubeconfig $CONFIG").out, "no deletion is deferred\n");
  kubectl(
      "patch coolresources some-instance --type=json -p "
      R"('[{"op":"add","path":"/metadata/finalizers/-","value":"example.com/held"}]')");
  kubectl("delete manifestworks --all -n cluster1 --wait=false");
  waitUntil(
      "lastout deferred list --kubeconfig $CONFIG | grep -Eq '^criticalservices.lastout.dev/"
      "for-finalizer-deployment: deployments.apps/finalizer-namespace/finalizer-deployment, deferred for "
      "agent since "
      "20.*Z: Waiting$'");
  EXPECT_THAT(run("lastout deferred -o json --kubeconfig $CONFIG").out,
              AllOf(HasSubstr("\"criticalService\": \"for-finalizer-deployment\""),
                    HasSubstr("\"requestedBy\": \"agent\""), HasSubstr("\"state\": \"Waiting\"")));
  const std::string cancel = "lastout deferred cancel --kubeconfig $CONFIG ";
  EXPECT_EQ(run(cancel + "deployment/nobody -n default").exitCode, 1);
  EXPECT_EQ(run(cancel + "nothing").exitCode, 2);
  const testing::Ran cancelled = run(cancel + "deployment/finalizer-deployment -n finalizer-namespace");
  EXPECT_EQ(cancelled.exitCode, 0) << cancelled.out;
  EXPECT_THAT(cancelled.out, ::testing::MatchesRegex(
                                 "criticalservices.lastout.dev/for-finalizer-deployment: deployments.apps/"
                                 "finalizer-namespace/finalizer-deployment, deferred for agent since "
                                 "20.*Z: cancelled\n"));
  waitUntilAnEventSays(
      "DeletionTakenBack: deployments.apps/finalizer-namespace/finalizer-deployment is not deleted, although "
      "agent had asked: it was cancelled by lastout deferred cancel");
}

TEST_F(Serve, AMisspeltFinalizerIsTold) {
  begin();
  write("misspelt.yaml",
        "apiVersion: lastout.dev/v1alpha1\n"
        "kind: CriticalService\n"
        "metadata: {name: misspelt}\n"
        "spec:\n"
        "  provider: {group: apps, resource: deployments, namespace: finalizer-namespace, name: "
        "finalizer-deployment}\n"
        "  criteria:\n"
        "  - type: Finalizer\n"
        "    finalizer: {group: my.crd.group, resource: coolresources, finalizerName: "
        "my.crd.group/super-importnat}\n");
  kubectl("create -f $FOLDER/misspelt.yaml");
  kubectl("wait --for=condition=NamesKnown=false critsvc/misspelt --timeout=50s");
  waitUntilAnEventSays(
      "FinalizerNeverSeen: spec.criteria[0]: no coolresources.my.crd.group was ever seen with finalizer "
      "my.crd.group/super-importnat, so it keeps nothing; did you mean \"my.crd.group/super-important\"?");
  kubectl("wait --for=condition=NamesKnown critsvc/for-finalizer-deployment --timeout=50s");
}

// Nothing that belongs to the user has to be deleted for it.
TEST_F(Serve, AWrongCriticalServiceIsRemovedAsItsDenialSays) {
  begin();
  EXPECT_THAT(
      kubectl("delete critsvc for-finalizer-deployment", 1),
      HasSubstr("is present; root blocker: coolresources.my.crd.group/some-instance; to stop guarding, "
                "set spec.deletionIntent of the CriticalService to BestEffortDeletion, and delete "
                "again; or delete the root blocker first"));
  kubectl(
      "patch critsvc for-finalizer-deployment --type merge -p "
      R"('{"spec":{"deletionIntent":"BestEffortDeletion"}}')");
  waitUntil("kubectl delete critsvc for-finalizer-deployment");
  kubectl("get coolresource some-instance");
  kubectl("get deployment finalizer-deployment -n finalizer-namespace");
}

// As a Pod that a Deployment replaces: API servers go on asking it until they know.
TEST_F(Serve, AnswersWhileItEnds) {
  begin({"--shutdown-delay", "1h"});
  terminate();
  ASSERT_TRUE(waitUntilItSays("it ends, and answers until then"));
  EXPECT_THAT(run("python3 -c 'import sys, urllib.request, urllib.error\n"
                  "try: print(urllib.request.urlopen(sys.argv[1]).read())\n"
                  "except urllib.error.HTTPError as error: print(error.code, error.read())' " +
                  answersUrl() + "/readyz")
                  .out,
              HasSubstr("503 b'not ready: ending"));
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("is the provider of criticalservices.lastout.dev/for-finalizer-deployment"));
  interrupt();  // it waits no longer
}

TEST_F(Serve, With429KubectlWaitsByItself) {
  begin({"--deny-status", "429"});
  auto waiting = std::async(std::launch::async, [this] {
    return kubectl("delete deployment finalizer-deployment -n finalizer-namespace --timeout=55s");
  });
  kubectl("delete manifestwork cr crd -n cluster1 --timeout=50s");
  EXPECT_THAT(waiting.get(), HasSubstr("deleted"));
}

// A server, a cluster and the file that this was loaded from are asked the same.
TEST_F(Serve, WhyIsTheSameWhoeverIsAsked) {
  begin();
  const std::string server = " --server " + answersUrl();
  const std::string file = " scenarios/story-three-works.yaml";
  const std::string cluster = " --kubeconfig $CONFIG";
  const std::string provider = "lastout why deployment/finalizer-deployment";
  waitUntil("[ \"$(" + provider + server + ")\" = \"$(" + provider + file + ")\" ]");
  for (const char* reference :
       {"deployment/finalizer-deployment -n finalizer-namespace", "namespace/finalizer-namespace",
        "criticalservice/for-finalizer-deployment", "coolresources/some-instance"}) {
    const std::string why = "lastout why " + std::string(reference);
    const testing::Ran told = run(why + file);
    EXPECT_LE(told.exitCode, 1) << told.out;
    for (const std::string& source : {server, cluster}) {
      const testing::Ran other = run(why + source);
      EXPECT_EQ(other.out, told.out);
      EXPECT_EQ(other.exitCode, told.exitCode);
    }
  }
  EXPECT_EQ(run("lastout graph --blocked" + server).out, run("lastout graph --blocked" + cluster).out);
  EXPECT_THAT(run("lastout why ns/nowhere" + server).out, HasSubstr("names nothing"));
  // A type that lastout does not follow is looked up in the cluster.
  EXPECT_THAT(run("lastout why serviceaccount/default -n default" + cluster).out,
              Not(HasSubstr("not there")));
  EXPECT_EQ(run("lastout why serviceaccount/nobody -n default" + cluster).exitCode, 2);
}

TEST_F(Serve, PutsItsWebhookBackAndSaysSo) {
  begin();
  kubectl("delete validatingwebhookconfiguration lastout");
  EXPECT_TRUE(waitUntilItSays("unguardedMilliseconds"));
  waitUntil("kubectl get validatingwebhookconfigurations lastout");
  waitUntilTheProviderIsGuarded();
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("must stay while"));
  waitUntil("kubectl get events -o jsonpath='{.items[*].reason}' | grep -q Restored");
  EXPECT_THAT(interrupt(), HasSubstr("the webhook configuration was changed, and is put back"));
}

// Each time without a word to anybody; what was deferred is run by clients that try again.
TEST_F(Serve, EndsEmptyAlthoughItIsKilledAgainAndAgain) {
  begin({"--identity", "the-one"});
  const std::vector<std::string> deletions = {"manifestwork cr -n cluster1",
                                              "manifestwork crd -n cluster1",
                                              "manifestwork finalizer -n cluster1",
                                              "namespace finalizer-namespace",
                                              "criticalservice for-finalizer-deployment",
                                              "deployment finalizer-deployment -n finalizer-namespace"};
  kill();
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("failed calling webhook"));
  std::vector<std::future<void>> clients = clientsThatDelete(deletions);
  for (int start = 0; start < 3; ++start) {
    serve({"--identity", "the-one"});
    kill();
  }
  serve({"--identity", "the-one"});
  for (std::future<void>& client : clients) client.get();
  EXPECT_THAT(kubectl("get namespaces,criticalservices,deployments,manifestworks -A -o name"),
              Not(HasSubstr("finalizer")));
  EXPECT_THAT(kubectl("get crds -o name"), Not(HasSubstr("coolresources")));
}

// Each has a certificate and a URL of its own: the API server asks the one that holds the Lease.
TEST_F(Serve, OfTwoTheOtherTakesOverWhenOneIsKilled) {
  begin({"--identity", "first"});
  const std::string holder = "get lease lastout -n default -o jsonpath={.spec.holderIdentity}";
  EXPECT_EQ(kubectl(holder), "first");
  const std::string url =
      "get validatingwebhookconfiguration lastout -o jsonpath={.webhooks[*].clientConfig.url}";
  const std::string ofTheFirst = kubectl(url);
  serveBeside({"--identity", "second"});
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("must stay while"));
  EXPECT_EQ(kubectl(url), ofTheFirst);
  kill();
  waitUntil(
      "kubectl delete deployment finalizer-deployment -n finalizer-namespace 2>&1 | grep -q 'must stay "
      "while'");
  EXPECT_EQ(kubectl(holder), "second");
  EXPECT_NE(kubectl(url), ofTheFirst);
}

// A new authority, too: the API server is told of it before it is used.
TEST_F(Serve, ReadsItsCertificateAgain) {
  const auto makeCertificate = [this](const std::string& name) {
    const testing::Ran made =
        run("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=" + name +
            " -addext subjectAltName=IP:127.0.0.1 -keyout $FOLDER/tls.key -out $FOLDER/tls.crt");
    EXPECT_EQ(made.exitCode, 0) << made.out;
  };
  makeCertificate("first");
  begin({"--tls-cert", (folder_ / "tls.crt").string(), "--tls-key", (folder_ / "tls.key").string()});
  makeCertificate("second");
  waitUntil("openssl s_client -connect " + address() + " </dev/null 2>/dev/null | grep -q CN.*second");
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace", 1),
              HasSubstr("must stay while"));
}

// Whom it takes reviews from; its own certificate, and whom API servers trust, stay as they are.
TEST_F(Serve, ReadsItsClientAuthorityAgain) {
  const auto makeClient = [this](const std::string& name) {
    const testing::Ran made =
        run("cd $FOLDER && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
            "-subj /CN=" +
            name + " -keyout " + name + ".key -out " + name + ".crt && cp " + name + ".crt clients.crt");
    EXPECT_EQ(made.exitCode, 0) << made.out;
  };
  const auto isAnsweredTo = [this](const std::string& name) {
    return "printf 'POST /review HTTP/1.1\\r\\nHost: lastout\\r\\nContent-Type: application/json\\r\\n"
           "Content-Length: 2\\r\\nConnection: close\\r\\n\\r\\n{}' | openssl s_client -quiet -connect " +
           address() + " -cert $FOLDER/" + name + ".crt -key $FOLDER/" + name +
           ".key 2>/dev/null | grep -q '^HTTP/1.1 404'";
  };
  makeClient("first");
  start({"--speed", "50"});
  serve({"--client-ca", (folder_ / "clients.crt").string()});
  waitUntil("kubectl get validatingwebhookconfigurations lastout");
  const std::string trusted =
      "get validatingwebhookconfiguration lastout -o jsonpath={.webhooks[*].clientConfig.caBundle}";
  const std::string before = kubectl(trusted);
  EXPECT_EQ(run(isAnsweredTo("first")).exitCode, 0);
  makeClient("second");
  waitUntil(isAnsweredTo("second"));
  EXPECT_NE(run(isAnsweredTo("first")).exitCode, 0) << "nobody vouches for it any more";
  EXPECT_EQ(kubectl(trusted), before);
}

TEST_F(Serve, AuditOnlyAllowsAndSaysWhatItWouldDeny) {
  start({"--speed", "50", "--load", "scenarios/story-three-works.yaml"});
  serve({"--audit-only"});
  waitUntil(
      "kubectl get validatingwebhookconfigurations lastout -o "
      "jsonpath='{.webhooks[*].rules[*].resources[*]}' | "
      "grep -q deployments");
  EXPECT_THAT(kubectl("delete deployment finalizer-deployment -n finalizer-namespace --wait=false"),
              AllOf(HasSubstr("Warning: lastout only watches; it would deny this"), HasSubstr("deleted")));
}

}  // namespace
}  // namespace lastout::clients
