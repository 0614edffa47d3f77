// Mutation: one write of one object, whoever asks for it: what is reviewed, and then committed.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/model.h"
#include "simulator/json.h"
#include "simulator/schema.h"
#include "simulator/served_type.h"
#include "simulator/status.h"
#include "simulator/storage.h"
#include "simulator/user.h"

namespace lastout::simulator {

struct Mutation {
  enum class Operation : uint8_t { Create, Update, Delete };
  // What a review shows instead of the objects, where the subresource has a type of its own (scale).
  struct Shown {
    std::string group;
    std::string version;
    std::string kind;
    Json before;
    Json after;
  };

  Operation operation = Operation::Create;
  ServedTypePointer type;
  kube::ObjectKey key;
  std::string subresource;
  RecordRef before;  // null: Create
  Json after;        // Create, Update
  std::optional<Shown> shown;
  std::optional<cluster::PropagationPolicy> policy;  // Delete
  Json options;                                      // as reviews carry them
  bool nameIsKnown = true;  // not of an object of a collection, nor of one whose name was generated
  bool dryRun = false;
  bool isApplied = false;  // Create: by a server-side apply
  bool isMutated = false;  // a mutating webhook has changed it
  UserInfo user;
};

// As reviews call it: "CREATE", ...
std::string_view toString(Mutation::Operation operation);

// --- Acceptance: what must hold for an object before it is stored, whether a client wrote it or a mutating
// webhook changed it.

// Fields that a custom type's schema does not know go, or are refused, defaults come, and the rest is
// checked (422). Appends the warnings to answer with.
ApiResult<void> fitToSchema(const ServedType& type, FieldValidation mode, std::string_view name, Json& object,
                            std::vector<std::string>& warnings);

// Checks what a type's own strategy checks beyond its fields: definitions, webhook configurations and
// policies, and the rules of a custom type's schema. `old`: what the object replaces; nullptr: it is new.
// Returns the warnings to answer the write with.
ApiResult<std::vector<std::string>> checkContent(const ServedType& type, const Json& object, const Json* old);

// An update of a custom object has to say which version it is of.
ApiError noVersionGiven(const ServedType& type, std::string_view name);

// A uid never changes. A PUT of another one fails as a precondition, and is not answered with this.
ApiError uidIsImmutable(const ServedType& type, std::string_view name, std::string_view uid);

// Puts into `mutation` what mutating webhooks made of the object that they were shown, as it is stored then:
// what is the API server's own stays, and all that is asked of a client's write is asked of it. Fails with
// 500 for what is no object of its type, 400 for another namespace, 409 for another resourceVersion, and 422.
// A new object may be given another name.
ApiResult<void> acceptMutated(Mutation& mutation, Json object);

}  // namespace lastout::simulator
