// Reflector: what to ask an API server about one type, and what its answers mean, so that somebody always has
// the type's objects: a list, a watch from there, and another list whenever the watch can no longer be
// trusted.
//
// It has no thread, no clock, no randomness and no connection of its own: whoever drives it (watcher.h) asks
// next(), does that, and tells what came.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>

#include "client/backoff.h"
#include "client/metadata_stream.h"
#include "client/status.h"

namespace lastout::client {

using TimePoint = std::chrono::steady_clock::time_point;

// How well the type's objects are known.
struct SyncStatus {
  enum class State : uint8_t {
    NeverSynced,  // no list was ever complete: objects that were told are some of them
    Synced,       // a watch follows; where it resumed, a server may still say that its version is too old
    Stale,        // no watch follows: changes after `asOf` may be missing
    Forbidden,    // the server does not let us read the type (403)
    NotServed,    // the server does not know the type (404)
  };
  State state = State::NeverSynced;
  // A list of this cluster was complete once. Objects stay told while a type is forbidden or not served:
  // neither proves that they are gone.
  bool listed = false;
  // When `listed`: what was told is all that there was then, as far as the server's caches knew. It moves
  // with each event and bookmark; of a list it is when that was asked for.
  TimePoint asOf;
  std::string why;  // what went wrong last, for a person; empty: nothing
  // One of the objects that could not be read, and why; empty: all could. It does not change `state`.
  std::string unread = {};

  // What to tell a person: `why`, or else `unread`.
  const std::string& problem() const { return why.empty() ? unread : why; }
};

// An object that is no more.
struct Removed {
  std::string namespaceName;
  std::string name;
  std::string uid;  // of the object that is gone: another one may have its name
};

// The functions that a reflector calls. For each uid: upserts, each with another resourceVersion than the one
// before, then one removal. Only when the server may have another history by now, a list tells everything
// once more, since the same version may mean something else.
struct ReflectorHandlers {
  std::function<void(StreamedObject object)> upsert;
  std::function<void(const Removed& object)> remove;
  // When its state, `listed`, `why` or `unread` changed.
  std::function<void(const SyncStatus& knowledge)> knowledge;
  // An object that cannot be read (StreamedObject::unread), in the place of `upsert`. May be empty: then it
  // is left out, and stays as it was told last; it may be removed although it never was told.
  std::function<void(StreamedObject object)> unread = {};
};

struct ReflectorOptions {
  BackoffLimits backoff = {};
  size_t page = 500;  // objects that are asked for at once
  // An answer that brings nothing for so long has stalled. API servers send a bookmark each minute or so.
  std::chrono::milliseconds stallAfter{150'000};
  std::chrono::milliseconds watchFor{300'000};  // after this to twice this the server shall end a watch
  // When nothing could be had for so long, the server may have come back with another history (etcd restored
  // from a backup), in which the version that was seen last means something else: a list is what comes next.
  std::chrono::milliseconds outage{10'000};
  std::chrono::milliseconds steady{10'000};  // a watch that lasted so long was a good one
};

// What to do next.
struct ListPage {
  std::string resourceVersion;  // "0": from the server's cache; "": what is true now, never older
  std::string continueToken;    // empty: the first page
  size_t limit = 0;             // 0: everything in one answer
};
struct WatchFrom {
  std::string resourceVersion;
  std::chrono::seconds timeout;  // for the server to end it
};
struct WaitUntil {
  TimePoint when;
};
using Next = std::variant<ListPage, WatchFrom, WaitUntil>;

// Not for several threads at once. Calls the handlers only from within its own functions.
class Reflector {
 public:
  Reflector(ReflectorOptions options, RandomFraction random, ReflectorHandlers handlers);

  // Begins what it returns.
  Next next(TimePoint now);
  // When the list or the watch under way has stalled, unless something comes before.
  TimePoint stallsAt() const { return std::max(askedAt_, heardAt_) + options_.stallAfter; }

  // Which cluster answers (cluster_uid.h): asked before the first page of a list, and of a watch once it has
  // begun and before anything of it is told; "": that cannot be told. Another one than the list was of has
  // another history, and what was listed is not believed any longer. False: the watch is of no more use, end
  // it and ask next().
  bool answeredBy(const std::string& cluster, TimePoint now);

  // What a list answers: its items as they come, then its own resourceVersion and continue token ("": there
  // is no more). False: the list is of no more use, end it and ask next().
  bool item(StreamedObject object, TimePoint now);
  void endOfPage(const std::string& resourceVersion, const std::string& continueToken, TimePoint now);

  // What a watch answers: that it has begun (200), its events (of a bookmark only the version counts), and
  // its end as the server meant it. False: the watch is of no more use, end it and ask next().
  void watchBegan(TimePoint now);
  bool event(WatchEvent event, TimePoint now);
  void ended(TimePoint now);

  // How the list or the watch under way failed: refused, cut off, stalled, not understood, or ended by an
  // ERROR event.
  void failed(const ServerStatus& status, TimePoint now);

  // From its owner: do not wait any longer, something has changed (a CRD was created, a role was bound).
  void hurry();

  // False: what next() began has come to its end, or is of no more use.
  bool isUnderWay() const { return underWay_; }
  const SyncStatus& knowledge() const { return knowledge_; }
  size_t count() const { return known_.size(); }  // objects that were told and not removed

 private:
  enum class Phase : uint8_t { List, Watch };
  struct Known {
    std::string version;
    std::string uid;
    uint64_t listNumber;  // the number of the last list that had it
  };
  // By "namespace/name"; at "/" whatever cannot be read and has no name.
  using KnownObjects = std::unordered_map<std::string, Known>;

  void upsert(StreamedObject object);
  void remove(KnownObjects::iterator known);
  void noteUnread(const std::string& key, std::string why);
  bool isNews(const WatchEvent& event) const;
  void advance(const std::string& version);
  void noteHeard(TimePoint now);
  bool isSteady(TimePoint now) const;
  void listFailed(const ServerStatus& status);
  void watchFailed(const ServerStatus& status, TimePoint now);
  void listNext();
  void backOff(const ServerStatus& status, TimePoint now);
  void resetBackoff();
  void setKnowledge(SyncStatus::State state, std::string why);

  ReflectorOptions options_;
  RandomFraction random_;
  ReflectorHandlers handlers_;
  Backoff backoff_;
  Backoff shortBackoff_;  // while the server is between two states (isBetweenStates())

  Phase phase_ = Phase::List;           // of what is under way, or comes next
  std::optional<TimePoint> notBefore_;  // of what comes next
  bool underWay_ = false;
  TimePoint askedAt_;  // when what is under way was begun
  TimePoint heardAt_;  // when the server last showed that it still has the history that is followed

  uint64_t listNumber_ = 0;  // the number of the last list
  TimePoint listBegan_;
  std::string listVersion_;  // of its first page
  std::string cluster_;      // that it is of
  std::string continueToken_;
  bool fromCache_ = true;        // until something was told, which a cache may be older than
  bool inPages_ = true;          // false: a continue token has expired, so everything in one answer
  bool historyDoubted_ = false;  // the server may have another history than the one that was followed

  std::string resumeFrom_;  // the newest version that was seen, from where to resume the watch
  std::optional<TimePoint> watchingSince_;  // since when the watch under way runs
  bool progressed_ = false;                 // it brought something that is newer than what it began from

  KnownObjects known_;
  std::map<std::string, std::string> unread_;  // why some of them cannot be read
  SyncStatus knowledge_;
};

// Whether a version is older than another one of the same server. Kubernetes' resource versions are decimal
// numbers that grow with each write; of two that are not, none is older.
bool isOlder(std::string_view version, std::string_view than);

}  // namespace lastout::client
