// Any bytes as a request's body, as the header that names its type or form, and as a continue token: what is
// accepted is within the limits and is read as it is written, and what is refused is answered as the API
// server would.
#include "simulator/decode.h"

#include <cstdint>
#include <string_view>

#include "fuzz/check.h"
#include "kube/parse.h"
#include "simulator/patch.h"
#include "simulator/selection.h"

using lastout::fuzz::check;
namespace simulator = lastout::simulator;
namespace kube = lastout::kube;
using simulator::Json;

namespace {

void checkRefusal(const simulator::ApiError& error) {
  check(error.code == 400 || error.code == 406 || error.code == 413 || error.code == 415,
        "a code of the API server", error.message);
  const std::string status = simulator::statusOf(error).dump();  // throws unless the message is UTF-8
  check(simulator::parseJsonText(status).has_value(), "a refusal is JSON", status);
}

void checkBody(std::string_view body, std::string_view contentType) {
  const auto object = simulator::decodeBody(body, contentType, "Pod");
  if (!object) {
    checkRefusal(object.error());
    return;
  }
  check(object->is_object() && body.size() <= simulator::kMostBodyBytes, "a body is an object");
  check(simulator::extentOf(*object).depth <= simulator::kDeepestJson, "a body is not too deep");
  const std::string text = object->dump();
  const auto again = simulator::decodeBody(text, "application/json");
  check(text.size() > simulator::kMostBodyBytes || (again && *again == *object),
        "what is written is read as the same", text);
}

// Beside kube/'s reader, which is stricter about control characters and drops a byte order mark.
void checkText(std::string_view text) {
  const auto json = simulator::parseJsonText(text);
  check(!json || Json::accept(text), "what is accepted is JSON");
  const auto value = kube::parseJson(text, "json");
  if (!value || text.starts_with("\xEF\xBB\xBF")) return;
  check(json.has_value(), "what kube/ reads is accepted", json ? "" : json.error());
  check(*json == Json(kube::toJson(*value)), "kube/ reads the same", json->dump());
}

void checkToken(std::string_view text) {
  const auto token = simulator::parseContinueToken(text);
  if (!token) {
    checkRefusal(token.error());
    return;
  }
  check(token->resourceVersion != 0 && !token->lastName.empty(), "a token names a place");
  const auto again = simulator::parseContinueToken(toString(*token));
  check(again && again->resourceVersion == token->resourceVersion && again->lastName == token->lastName,
        "a token is read as it is written", token->lastName);
}

void checkHeaders(std::string_view text) {
  const auto form = simulator::parseAccept(text);
  if (form) {
    check(form->version == "v1" || form->version == "v1beta1", "a known version");
  } else {
    checkRefusal(form.error());
  }
  for (const char* group : {"apps", "my.crd.group"}) {
    const auto type = simulator::parsePatchType(text, {group, "things"});
    if (!type) checkRefusal(type.error());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const char* type : {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"})
    checkBody(text, type);
  checkText(text);
  for (const auto type : {simulator::PatchType::Json, simulator::PatchType::Apply}) {
    if (const auto patch = simulator::decodePatch(text, type); !patch) checkRefusal(patch.error());
  }
  checkToken(text);
  checkHeaders(text);
  return 0;
}
