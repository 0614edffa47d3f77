// AdmissionReview v1, from a webhook's side: the API server's question, and the answer that it accepts
// (tests/recordings/kubernetes-1.26/admission and rest/098 to 110).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "admission/explain.h"
#include "kube/object_key.h"

namespace lastout::admission {

inline constexpr size_t kMostReviewBytes = size_t{8} << 20;  // an object and its old form, 3 MiB each at most
inline constexpr size_t kMostUserBytes = size_t{256} << 10;  // far more than fits the headers of a request

enum class Operation : uint8_t { Create, Update, Delete, Connect };

// The object that is to be deleted, and how.
struct Deletion {
  std::string uid;  // of the object; empty: the API server did not say
  bool isTerminating = false;
  bool isHeld = false;              // it carries lastout's finalizer for providers (kube::kCriteriaFinalizer)
  bool waitsForDependents = false;  // it is being deleted in the foreground
  std::vector<std::string> owners;  // uids: those of its owners
  bool insistsOnVersion = false;    // a precondition names the object's resourceVersion
  std::string policy;               // "Background", "Foreground" or "Orphan"; empty: the request does not say
};

// The parts of a request of the API server's that the answer depends on.
struct Review {
  std::string uid;  // of this review, to be repeated in the answer
  Operation operation = Operation::Delete;
  // The object that is to change; its type is as the webhook's rule names it. The name is the old or new
  // object's where the request has none, as for each object of a collection (admission/24, 33); empty only
  // for a CREATE whose name is still to be made. A Namespace is in no namespace here, although the request
  // says that it is in itself (admission/23).
  kube::ObjectKey object;
  std::string subresource;  // "status", "scale", "finalize"; empty: the object itself
  std::string user;         // its name
  // All that the API server knows of the user (username, uid, groups, extra), as JSON of at most
  // kMostUserBytes. Empty for a DELETE.
  std::string userInfo;
  std::vector<std::string> groups;  // the user's; with Kept::Objects alone
  bool dryRun = false;
  Deletion deletion;  // of a DELETE
  // JSON; "": there is none. Empty for a DELETE, unless Kept::Objects is asked for: the name and `deletion`
  // are all that CriticalServices need of one. A CriticalService is kept without its annotations,
  // managedFields, generation and status: only its spec is judged, and it can be changed however large the
  // others are.
  std::string newObject;
  std::string oldObject;
};

// The reason why a body is no review. The message is for the log and for the answer; it holds no more of the
// body than the few hundred bytes of one word.
struct ReviewError {
  int status = 400;  // to answer with: 400, or 413 for a body that is too large
  std::string message;
};

// What to keep of a DELETE's object and of the user: nothing more, or, for deletion policies, the object as
// it is without its managedFields, and the user's groups.
enum class Kept : uint8_t { Deletion, Objects };

// Returns the review in a request's body. Fails with words of its own for too many bytes, no JSON, not UTF-8,
// nesting that is too deep, the same key twice, no AdmissionReview, a version other than v1, no uid, a field
// that is missing or has the wrong type, an unknown operation, a userInfo that is too large, and a DELETE or
// UPDATE that names no object. Unknown fields are passed over: newer API servers send more.
tl::expected<Review, ReviewError> parseReview(std::string_view body, Kept kept = Kept::Deletion);

// The reason why a request is denied. The texts must outlive this; the texts of an Explanation's causes live
// in its `words`.
struct Refusal {
  // 403, 429, 409, 422 or another error of HTTP; the reason follows from it. What is no error becomes 403.
  int code = 403;
  std::string_view message;         // kubectl prints it behind `admission webhook "..." denied the request: `
  std::vector<DenialCause> causes;  // details.causes; a text that is empty is left out
  // details.retryAfterSeconds: with code 429 client-go waits for so long and asks again, up to ten times.
  std::optional<int> retryAfterSeconds;
};

// An answer to a review: allowed, unless there is a refusal.
struct ReviewAnswer {
  std::optional<Refusal> refusal;
  // Shown to the user by kubectl. An API server drops what is too long: 16 are passed on, cut at 256 bytes.
  std::vector<std::string> warnings;
};

// Returns the AdmissionReview that answers the review with that uid. A refusal always has a status with a
// message: without one the client would read "denied without explanation" (rest/105).
std::string answerText(std::string_view uid, const ReviewAnswer& answer);

std::string_view toString(Operation operation);  // "DELETE"

}  // namespace lastout::admission
