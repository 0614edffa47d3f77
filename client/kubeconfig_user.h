// The user of a kubeconfig's context, and the certificates that clusters and users have as file or as data.
#pragma once

#include <string>
#include <string_view>

#include "client/kubeconfig.h"
#include "kube/fields.h"

namespace lastout::client {

// The text of the field "<key>-data" (Base64), or of the file that the field `key` names; "" when neither is
// there, and after an error. Both at once are an error, as for kubectl.
std::string readText(kube::Fields& fields, const std::string& key, const ReadFile& readFile);
// Reports a problem with that text, at the field that it came from.
void failText(kube::Fields& fields, const std::string& key, const std::string& problem);

// `path` as seen from the folder of `file`; an absolute one stays as it is.
std::string besideFile(std::string_view file, const std::string& path);

// How the user authenticates, into the connection whose server is known; `cluster` is what its plugin is told
// about when it asks.
void readUser(const KubeconfigEntry& entry, kube::Fields& cluster, const ReadFile& readFile,
              ConnectionConfig& connection, kube::Errors& errors);

}  // namespace lastout::client
