// Any text as the body of an admission request: what is a review says what nlohmann reads there, and the
// answer to it is JSON that repeats its uid; what is no JSON for nlohmann is no review.
#include "admission/review.h"

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "criticalservice/critical_service.h"
#include "fuzz/check.h"

using lastout::fuzz::check;
namespace admission = lastout::admission;
using nlohmann::json;

namespace {

// Of lists and maps.
size_t depthOf(std::string_view text) {
  size_t depth = 0;
  size_t most = 0;
  bool inString = false;
  for (size_t at = 0; at < text.size(); ++at) {
    if (inString && text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      inString = !inString;
    else if (!inString && (text[at] == '{' || text[at] == '['))
      most = std::max(most, ++depth);
    else if (!inString && (text[at] == '}' || text[at] == ']'))
      --depth;
  }
  return most;
}

// nlohmann takes NUL for the end, and passes over a byte order mark.
bool isJson(std::string_view text) {
  return text.find('\0') == std::string_view::npos && !text.starts_with("\xEF\xBB\xBF") && json::accept(text);
}

// As reviews of CriticalServices do.
void leaveOut(json& service) {
  if (!service.is_object()) return;
  service.erase("status");
  const auto metadata = service.find("metadata");
  if (metadata == service.end() || !metadata->is_object()) return;
  metadata->erase("annotations");
  metadata->erase("managedFields");
  metadata->erase("generation");
}

void checkReview(std::string_view body) {
  const auto review = admission::parseReview(body);
  if (!review) {
    const bool saysNoJson = review.error().message.starts_with("the body is no JSON");
    check(!saysNoJson || !isJson(body) || depthOf(body) > 64, "what nlohmann takes is JSON",
          review.error().message);
    check(review.error().status == 400 && review.error().message.size() < 2000,
          "an error is a 400 in a few words");
    check(json(review.error().message).dump().size() > 2, "its words are UTF-8");
    return;
  }
  check(!review->uid.empty(), "a review has a uid");
  check(review->operation == admission::Operation::Create || !review->object.name.empty(),
        "it has an object");
  const json answer = json::parse(admission::answerText(review->uid, {}));
  check(answer["response"]["uid"] == review->uid, "the answer repeats the uid");
  const json read = json::parse(body, nullptr, false);
  check(!read.is_discarded(), "a review is JSON");
  const json& request = read["request"];
  check(request["uid"] == review->uid, "uid");
  const bool isDeletion = request["operation"] == "DELETE";
  for (const auto& [key, text] : {std::pair{"object", review->newObject}, {"oldObject", review->oldObject}}) {
    json wanted = isDeletion ? json() : request.value(key, json());
    if (review->object.type == lastout::criticalservice::criticalServiceType()) leaveOut(wanted);
    check(text.empty() ? wanted.is_null() : json::parse(text) == wanted, key);
  }
  if (!request.value("name", json()).is_null() && request["name"] != "")
    check(request["name"] == review->object.name, "name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  checkReview({reinterpret_cast<const char*>(data), size});
  return 0;
}
