// A request of the admin, for tests that ask an embedded cluster without a connection.
#pragma once

#include <string>

#include "apiserver/exchange.h"
#include "kube/encoding.h"

namespace lastout::testing {

// `target`: the path, and behind a "?" the query.
inline apiserver::HttpRequest adminRequest(const std::string& method, const std::string& target) {
  apiserver::HttpRequest request;
  request.method = method;
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = kube::parseQuery(target.substr(question + 1)).value();
  request.user = apiserver::adminUser();
  return request;
}

}  // namespace lastout::testing
