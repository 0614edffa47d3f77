// A request of the admin, for tests that ask an embedded cluster without a connection.
#pragma once

#include <string>

#include "kube/encoding.h"
#include "simulator/exchange.h"

namespace lastout::testing {

// `target`: the path, and behind a "?" the query.
inline simulator::ExchangeRequest adminRequest(const std::string& method, const std::string& target) {
  simulator::ExchangeRequest request;
  request.method = method;
  const size_t question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string::npos) request.query = kube::parseQuery(target.substr(question + 1)).value();
  request.user = simulator::adminUser();
  return request;
}

}  // namespace lastout::testing
