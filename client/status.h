// ServerStatus: how an API server says no, in an answer's body or in a watch.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "client/item_splitter.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::client {

struct ServerStatus {
  int code = 0;         // as of HTTP; 0: it has none
  std::string reason;   // "Forbidden", "Expired"; empty: it has none
  std::string message;  // for people; printable, and without the paths of URLs
  std::optional<std::chrono::seconds> retryAfter = {};
  // The server does not know the resourceVersion yet (cause ResourceVersionTooLarge): it is behind, or has
  // another history.
  bool isBehind = false;
};

// The resourceVersion or the continue token that was sent is too old: 410, reasons Expired and Gone.
bool isExpired(const ServerStatus& status);

// What an API server answers for a moment while it begins to serve a type, or ceases to: its path is not
// known (404 in plain text), or its storage is not ready (429). It says nothing about the server's load, so
// asking again soon is right, whatever `retryAfter` says.
bool isBetweenStates(const ServerStatus& status);

// The code is that of a server, or of somebody's webhook, that cannot answer now (408, 429 and 5xx); any
// other error says something about the request.
bool isTransient(int code);

// The object that was written is larger than the API server takes (413), or what it keeps objects in: etcd,
// or the connection to it, whose words come with a 500.
bool isTooLarge(const ServerStatus& status);

// A Status object; fails when it is none.
kube::Result<ServerStatus> statusOf(const kube::Value& object);

// What an answer that is no success says: its Status; where the body is none, its beginning as the message.
// The answer's own code counts.
ServerStatus statusOfAnswer(int code, std::string_view body);

// It is a 404 about this one object, and not about its type.
bool isAboutObject(const ServerStatus& status, std::string_view name);

// "403 Forbidden: pods is forbidden: ...", in one line.
std::string toString(const ServerStatus& status);

}  // namespace lastout::client
