// AdmissionReview v1 from the API server's side: the body that it posts to a webhook, and the meaning of the
// answer.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "kube/object.h"
#include "kube/object_key.h"
#include "simulator/json.h"
#include "simulator/status.h"
#include "simulator/user.h"

namespace lastout::simulator {

// One request that is to be reviewed. The objects must outlive it.
struct ReviewRequest {
  std::string operation;  // "CREATE", "UPDATE", "DELETE"
  kube::GroupResource type;
  std::string version;      // of the type: "v1"
  std::string subresource;  // "status", "scale", "finalize"; empty: the object itself
  // Of the objects that are sent, which are others than the type's where the subresource has its own:
  // autoscaling/v1, Scale of deployments/scale (recordings/admission/11).
  std::string kindGroup;
  std::string kindVersion;
  std::string kind;
  std::string namespaceName;  // empty: cluster-scoped
  // Empty when the API server does not know it: for each object of a collection (24, 33), and for a CREATE
  // whose name is still to be generated.
  std::string name;
  const Json* object = nullptr;     // as it would be stored; nullptr for DELETE
  const Json* oldObject = nullptr;  // as it is stored; nullptr for CREATE
  Json options;                     // CreateOptions, UpdateOptions, DeleteOptions with kind and apiVersion
  bool dryRun = false;
  UserInfo user;
  kube::Labels namespaceLabels;  // of the namespace that the object lies in
};

// A Namespace is in the namespace of its own name, for reviews (23, 26, 27).
std::string namespaceOf(const ReviewRequest& request);

// Returns the attributes of the request without its objects and its uid: `request` in CEL.
Json attributesOf(const ReviewRequest& request);

// The body that is sent (recordings/admission). `uid` is this call's own.
Json reviewBody(const ReviewRequest& request, std::string_view uid);

// What came back over HTTP.
struct WebhookResponse {
  int status = 200;
  std::string body;
};

struct WebhookAnswer {
  std::optional<ApiError> denial;     // nullopt: allowed
  std::vector<std::string> warnings;  // printable; 16 at most, 300 bytes each
  Json patch;                         // a JSON Patch; null: none
};

// The answer, or what is wrong with it, as the end of `failed calling webhook "x": ` (rest/103, 104). A
// denial is passed on with its code, reason, message and details (rest/099 to 101, 105). Only a mutating
// webhook may answer with a patch.
tl::expected<WebhookAnswer, std::string> readAnswer(const WebhookResponse& response, std::string_view webhook,
                                                    std::string_view uid, bool mutating);

// The value of the header `Warning` (rest/106, 109): 299 - "the text".
std::string warningHeader(std::string_view warning);

}  // namespace lastout::simulator
