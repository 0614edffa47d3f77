// evaluate: what a DeletionPolicy says to one request. Pure: no clock, no I/O; other objects are asked for
// through Facts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "protection/policy.h"

namespace lastout::protection {

enum class PolicyOperation : uint8_t { Delete, Update };

// A request, as far as policies look at it. What it points to must outlive it.
struct Request {
  PolicyOperation operation = PolicyOperation::Delete;
  kube::ObjectKey object;
  std::string kind;                           // "Deployment"
  const kube::ObjectMeta* meta = nullptr;     // before the request; never nullptr
  const kube::Value* content = nullptr;       // the whole object before the request; never nullptr
  const kube::ObjectMeta* newMeta = nullptr;  // of an Update, after it
  std::string_view user;
  std::vector<std::string> groups;
  bool orphans = false;  // of a Delete: its propagationPolicy is Orphan
};

// Returns the DELETE of the object by a user of whom nothing is known. The object must outlive it.
Request deletionOf(const kube::Object& object);

// How an ancestor stands.
struct AncestorState {
  enum class Kind : uint8_t {
    Protects,    // it is there, and its field says so
    Frees,       // its field says that nothing is protected
    Gone,        // it is not there, or terminates
    Incomplete,  // a label that names it is missing or empty: `detail` is its key
    Unknown,     // nobody can say: `detail` is why
    NotManaged,  // no label names an ancestor, neither on the object nor, where that counts, its namespace
  };
  Kind kind = Kind::NotManaged;
  std::string detail;  // of Protects, Frees and Gone the ancestor: "xvshnpostgresqls.vshn.appcat.vshn.io/pg"
};

// How many objects of a kind keep something protected.
struct Count {
  uint32_t objects = 0;
  std::string first;                   // one of them: "DatabaseGrant/reader" (keeper_name.h)
  std::optional<std::string> unknown;  // set: nobody can say how many, and why; counts as protected
};

// The objects that list one (ListedBy).
struct Listers {
  uint32_t count = 0;                  // kMostCountedListers at most
  std::string first;                   // one of them: "usages/shop/db"
  std::string name;                    // of that one, as the next two
  std::string namespaceName;           // empty: it is cluster-scoped
  std::string because;                 // the sentence of ListedBy::because; empty: none
  std::optional<std::string> unknown;  // set: nobody can say whether there are any, and why
  bool replays = false;                // ListedBy::replay is true in one of them
};
inline constexpr uint32_t kMostCountedListers = 1'000;

// The facts about other objects. An unknown fact is never reported as an absence, but as
// AncestorState::Unknown, Count::unknown or Listers::unknown.
class Facts {
 public:
  virtual ~Facts() = default;
  virtual AncestorState ancestor(const AncestorTest& test, const Request& request) const = 0;
  virtual Count children(const ChildrenTest& test, const Request& request) const = 0;
  // Of every activity but Replicas, which the object itself tells.
  virtual Count active(Activity activity, const Request& request) const = 0;
  virtual Listers listers(const ListedBy& listedBy, const Request& request) const = 0;
};

// Why a policy blocks a request.
struct Denial {
  std::string policy;
  Block block = Block::Delete;
  size_t whichCase = 0;      // of DeletionPolicy::when; 0 where that is empty
  bool isUncertain = false;  // it rests on something that nobody can say
  std::string reason;        // "label a/b is Always", "2 DatabaseGrants refer to it"
  std::string message;       // the whole sentence
  int code = 403;
  bool isHeld = false;      // the DELETE is accepted, and the policy's finalizer keeps the object
  bool isReplayed = false;  // of a Delete: Listers::replays
};

// Returns the field of a denial's cause: "deletionpolicies.lastout.dev/NAME"; "" without a policy.
std::string fieldOf(const Denial& denial);

// Which of the cases are looked at.
enum class CaseScope : uint8_t {
  All,
  Local,   // what the request alone tells: runs in the API server as a ValidatingAdmissionPolicy
  Remote,  // what needs other objects: runs in lastout
};

// True for a type that no policy protects, so that a policy can always be taken back: DeletionPolicies, and
// the ValidatingAdmissionPolicies and bindings made of them (which API servers do not ask about, either).
bool isWayOut(const kube::GroupResource& type);

// True if the policy's selections match the object, and it is no way out. Of a policy with `listedBy`: true
// if its facts have to be asked.
bool concerns(const DeletionPolicy& policy, const kube::ObjectKey& object, const kube::Labels& labels);

// True if the policy does not count for the request's user.
bool isExempt(const DeletionPolicy& policy, const Request& request);

// Returns why the policy blocks the request; nullopt: it does not. A case that holds as far as is known, or
// of which nobody can say whether it holds, protects.
std::optional<Denial> judge(const DeletionPolicy& policy, const Request& request, const Facts& facts,
                            CaseScope part = CaseScope::All);

// True if the object carries a finalizer by which another operator deletes it itself.
bool isOfAnotherOperator(const Hold& hold, const kube::ObjectMeta& meta);

// Returns the reason why an object of a policy that holds is protected, children aside (Hold); nullopt: it is
// not. Request::operation does not count.
std::optional<std::string> protectionOf(const DeletionPolicy& policy, const Request& request);

// Returns what keeps an object that the policy holds once its DELETE was accepted: what protects it, or else
// the objects that refer to it; nullopt: the object is not protected, its deletion is forced, or it lacks the
// policy's finalizer. Request::operation does not count.
std::optional<Denial> holdOf(const DeletionPolicy& policy, const Request& request, const Facts& facts);

}  // namespace lastout::protection
