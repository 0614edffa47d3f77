// The URLs of webhooks: https://host[:port][/path], nothing else.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace lastout::simulator {

struct WebhookUrl {
  std::string host;  // a name or an address, without the brackets of an IPv6 one
  int port = 443;
  std::string path;  // "" or "/..."
};

struct WebhookUrlProblem {
  std::string value;  // the part that is wrong
  std::string message;
};

// What is wrong with it, in the API server's words; nothing: it can be called.
std::optional<WebhookUrlProblem> webhookUrlProblem(std::string_view url);
// The parts of a URL without a problem; nothing for another one.
std::optional<WebhookUrl> parseWebhookUrl(std::string_view url);
// Whether it begins with "/" and can stand in a request's first line as it is: printable ASCII, no "?" and
// "#".
bool isUrlPath(std::string_view path);

}  // namespace lastout::simulator
