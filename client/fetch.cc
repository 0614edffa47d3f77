#include "client/fetch.h"

#include <utility>

namespace lastout::client {
namespace {

constexpr std::string_view kUnreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";

}  // namespace

kube::Result<WholeAnswer> fetch(ApiServer& server, const ApiRequest& request, size_t mostBytes) {
  WholeAnswer whole;
  bool fits = true;
  auto answer = server.exchange(request, [&](int, std::string_view piece) {
    fits = piece.size() <= mostBytes - whole.body.size();
    if (fits) whole.body += piece;
    return fits;
  });
  if (!fits) {
    return tl::unexpected(kube::Error{"the answer to " + request.method + " " + request.target +
                                          " is longer than " + std::to_string(mostBytes) + " bytes",
                                      {},
                                      {}});
  }
  if (!answer) return tl::unexpected(std::move(answer.error()));
  whole.answer = *answer;
  return whole;
}

ServerStatus statusOfAnswer(const WholeAnswer& whole) {
  return statusOfAnswer(whole.answer.status, whole.body);
}

std::string collectionPath(const kube::ResourceType& type, std::string_view namespaceName) {
  std::string path = type.type.group.empty() ? "/api/" : "/apis/" + percentEncoded(type.type.group) + "/";
  path += percentEncoded(type.version);
  if (!namespaceName.empty()) path += "/namespaces/" + percentEncoded(namespaceName);
  return path + "/" + percentEncoded(type.type.resource);
}

std::string objectPath(const kube::ResourceType& type, std::string_view namespaceName,
                       std::string_view name) {
  return collectionPath(type, namespaceName) + "/" + percentEncoded(name);
}

std::string percentEncoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char byte : text) {
    if (kUnreserved.find(byte) != std::string_view::npos) {
      encoded += byte;
      continue;
    }
    const auto value = static_cast<unsigned char>(byte);
    encoded += '%';
    encoded += kDigits[value >> 4];
    encoded += kDigits[value & 15];
  }
  return encoded;
}

}  // namespace lastout::client
