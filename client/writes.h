// Requests that write objects. What is no UTF-8 in them is replaced, for no JSON may hold it.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "client/api_server.h"
#include "kube/object.h"

namespace lastout::client {

// Of a new object, by POST; `collection`: as collectionPath() gives it.
ApiRequest creation(std::string collection, const nlohmann::json& object);

// A PUT of the whole object: refused (409) when another one than its metadata.uid names, or another version
// than its metadata.resourceVersion, is there by then; `path`: as objectPath() gives it.
ApiRequest replacement(std::string path, const nlohmann::json& object);

// A JSON merge patch (RFC 7396); `object`: as objectPath() gives it. One that names a
// metadata.resourceVersion is refused (409) when another version stands by then.
ApiRequest mergePatch(std::string object, const nlohmann::json& patch);

// Server-side apply of the object to the one that `path` names: created where there is none. What the object
// says is `manager`'s from then on, also where somebody else said it before; all else stays as it is.
ApiRequest serverSideApply(const std::string& path, const nlohmann::json& object, const std::string& manager);

// The finalizers of the very object whose metadata this is, as it was read: refused (409) when another one,
// or another version, is there by then.
ApiRequest finalizersPatch(std::string object, const kube::ObjectMeta& meta,
                           const std::vector<std::string>& finalizers);

// A DELETE (`object`: as objectPath() gives it) of the very object with that uid, as it is at that version
// (empty: at any): refused (409) when another one, or another version, is there by then. `policy`:
// "Background", "Foreground" or "Orphan"; empty: the type's default.
ApiRequest deletion(std::string object, const std::string& uid, const std::string& resourceVersion,
                    const std::string& policy = {});

// The object as it should be: merged into the one of that name whose metadata.resourceVersion it names; where
// it names none, created.
ApiRequest creationOrPatch(std::string collection, const nlohmann::json& object);

}  // namespace lastout::client
