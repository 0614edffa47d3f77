// Judge: whether what lastout allowed was safe, and no work that it kept was gone too early. It goes by the
// API server's own record alone, what that stores write by write, and by the verdict of
// tests/support/by_the_document.h; nothing of lastout's own view is asked.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulator/embedded_cluster.h"
#include "simulator/webhooks.h"
#include "tests/support/by_the_document.h"

namespace lastout::testing {

// A CriticalService counts from when lastout has written in its status that it is enforced, or may be: until
// then nothing was promised. Safe for any number of threads.
class Judge {
 public:
  // `hearing`: how long it may take until lastout hears of a change to its configuration.
  Judge(std::string ownNamespace, std::chrono::seconds hearing) : hearing_(hearing) {
    truth_.ownNamespace = std::move(ownNamespace);
  }
  Judge(const Judge&) = delete;
  Judge& operator=(const Judge&) = delete;

  // From now on by this cluster's writes, which begins empty; another one is forgotten.
  void follow(simulator::EmbeddedCluster& cluster);
  // Calls webhooks with `call`, and listens to what is asked and answered.
  simulator::CallWebhook listening(simulator::CallWebhook call);
  // What the calling thread asks the cluster for, so that a write that nobody reviewed can be told from one
  // that was asked for when nobody was to review it.
  simulator::ExchangeResponse asked(const std::function<simulator::ExchangeResponse()>& ask);
  // lastout says so: nothing was guarded for so long, until now.
  void reported(std::chrono::milliseconds unguarded);
  // The same, in its log: a work, which the line names, is let go although something of it is there, once
  // that may go and cannot be deleted.
  void letGoEarly(const std::string& line);

  struct Counts {
    int allowed = 0;  // reviews of DELETEs of what is guarded
    int denied = 0;
    int failed = 0;                        // nobody answered
    int reported = 0;                      // intervals without guard
    std::chrono::milliseconds longest{0};  // of them
    int unguarded = 0;                     // what went within one although it had to stay
    int keptWorks = 0;                     // that are gone
  };
  Counts counts() const;
  // What was unsafe: lines for a person; empty: nothing was.
  std::string complaints() const;

 private:
  using Clock = std::chrono::steady_clock;
  using Blockers = std::vector<PlainBlocker>;
  struct Service {
    criticalservice::CriticalService service;
    bool counts = false;
  };
  // Of an object.
  struct Judged {
    std::vector<std::string> finalizers;
    std::set<std::string> owners;  // their uids
    std::vector<PlainReference> names;
    std::map<std::string, std::string> labels;
  };
  // A review of a DELETE that is under way.
  struct Review {
    kube::ObjectKey object;
    admission::DeletionEffect deletionEffect = admission::DeletionEffect::Ending;
    Blockers always;  // what denied at every moment since it began
  };
  struct Interval {
    Clock::time_point begin;
    Clock::time_point end;
  };
  // Something went that nobody was asked about, while nobody was to be asked.
  struct Unreviewed {
    Clock::time_point when;
    std::string what;
  };

  void note(const simulator::Write& write);
  void noteService(const simulator::Write& write);
  void noteConfiguration(const simulator::Write& write);
  void noteWork(const simulator::Write& write);
  void judgeGoneWork(const std::string& applied, const kube::ObjectKey& gone);
  void judgeCommit(const simulator::Write& write);
  bool wasAskedAbout(const simulator::Write& write, Clock::time_point since) const;
  PlainVerdict verdictNow(const kube::ObjectKey& object,
                          admission::DeletionEffect deletionEffect = admission::DeletionEffect::Ending) const;
  std::list<Review>::iterator begin(const simulator::Json& request);
  void end(std::list<Review>::iterator review, const simulator::Json& request, const simulator::Json& answer);

  const std::chrono::seconds hearing_;
  mutable std::mutex mutex_;  // over all below; taken under the plane's
  uint64_t cluster_ = 0;      // the number of the one that is followed
  PlainCluster truth_;        // objects and services are filled in from those below
  std::map<kube::ObjectKey, Judged> objects_;
  std::map<std::string, Service> services_;
  std::list<Review> reviews_;
  std::set<std::pair<kube::ObjectKey, std::string>> allowed_;  // and the uid of what may go
  // The webhooks by which the API server was to ask, from when.
  std::vector<std::pair<Clock::time_point, std::vector<simulator::Webhook>>> asksBy_;
  std::vector<Interval> reported_;
  std::vector<Unreviewed> unreviewed_;
  std::map<std::string, std::string> kept_;  // AppliedManifestWorks that lastout keeps, and their uids
  // What a work left behind that may go, by the AppliedManifestWork; and of which lastout has said so.
  std::vector<std::pair<std::string, std::string>> early_;
  std::vector<std::string> toldEarly_;
  Counts counts_;
  std::string complaints_;
};

}  // namespace lastout::testing
