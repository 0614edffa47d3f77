// Kubernetes' binary encoding of objects, as far as kubectl needs it: newer ones send it for `kubectl create
// KIND` and `kubectl auth can-i`. Everything else in this server is JSON.
#pragma once

#include <string_view>

#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// The object in a body of application/vnd.kubernetes.protobuf: the prefix "k8s\0", then an envelope that
// names the kind. What is empty is left out, and so is the status, which is the server's to write. Fails with
// 415 for a kind or a field that is not among those that kubectl makes by itself, saying to send YAML
// instead, and with 400 for what is not this encoding.
ApiResult<Json> decodeProtobuf(std::string_view body);

}  // namespace lastout::simulator
