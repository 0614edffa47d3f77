// Mutation: one write of one object, whoever asks for it: what is reviewed, and then committed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "cluster/model.h"
#include "simulator/json.h"
#include "simulator/served_type.h"
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

}  // namespace lastout::simulator
