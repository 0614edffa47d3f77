// Requests that write objects. What is no UTF-8 in them is replaced, for no JSON may hold it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "client/api_server.h"

namespace lastout::client {

// Of a new object, by POST; `collection`: as collectionPath() gives it.
ApiRequest creation(std::string collection, const nlohmann::json& object);

// A JSON merge patch (RFC 7396); `object`: as objectPath() gives it. One that names a
// metadata.resourceVersion is refused (409) when another version stands by then.
ApiRequest mergePatch(std::string object, const nlohmann::json& patch);

// The object as it should be: merged into the one of that name whose metadata.resourceVersion it names; where
// it names none, created.
ApiRequest creationOrPatch(std::string collection, const nlohmann::json& object);

}  // namespace lastout::client
