// Two lines of JSON, an object and a patch of any kind: what is accepted is an object within the limits that
// can be written and read again, and patching leaves no directive behind.
#include "simulator/patch.h"

#include <cstdint>
#include <string_view>

#include "fuzz/check.h"
#include "simulator/decode.h"

using lastout::fuzz::check;
namespace simulator = lastout::simulator;
using simulator::Json;

namespace {

// nlohmann's own patch, within reason: it throws where ours refuses.
simulator::ApiResult<Json> ofNlohmann(const Json& object, const Json& patch) {
  try {
    return object.patch(patch);
  } catch (const nlohmann::detail::exception& error) {
    return tl::unexpected(simulator::badRequest(error.what()));
  }
}

void checkResult(const simulator::ApiResult<Json>& result) {
  if (!result) {
    const int code = result.error().code;
    check(code == 400 || code == 413 || code == 422, "a code of the API server", result.error().message);
    (void)simulator::statusOf(result.error()).dump();  // throws unless the message is UTF-8
    return;
  }
  const simulator::Extent extent = simulator::extentOf(*result);
  check(result->is_object(), "the result is an object");
  check(extent.depth <= simulator::kDeepestJson && extent.bytes <= simulator::kMostBodyBytes,
        "the result is within the limits");
  const auto again = simulator::parseJsonText(result->dump());
  check(again && *again == *result, "the result is read as it is written");
}

bool hasDirective(const Json& json) {
  if (!json.is_object()) return false;
  for (const auto& [key, member] : json.items()) {
    if (key == "$patch" || key == "$retainKeys" || hasDirective(member)) return true;
  }
  return false;
}

void checkObjectPatches(const Json& object, const Json& patch) {
  const auto merged = simulator::mergePatch(object, patch);
  checkResult(merged);
  if (merged) check(simulator::mergePatch(*merged, patch) == *merged, "merging twice is merging once");
  const auto applied = simulator::applyPatch(object, patch, {"a", "fuzz"});
  checkResult(applied);
  if (applied) checkResult(simulator::applyPatch(*applied, patch, {"a", "fuzz"}));
  for (const char* group : {"", "apiextensions.k8s.io"}) {
    const auto result = simulator::strategicMerge({group, "things"}, object, patch);
    checkResult(result);
    if (result && !hasDirective(object))
      check(!hasDirective(*result), "no directive is left", result->dump());
  }
}

void checkJsonPatch(const Json& object, const Json& patch) {
  const auto result = simulator::jsonPatch(object, patch);
  checkResult(result);
  if (patch.size() > 20 || !result) return;
  const auto expected = ofNlohmann(object, patch);
  check(expected.has_value(), "nlohmann accepts what we do", expected ? "" : expected.error().message);
  check(*expected == *result, "nlohmann patches the same", expected->dump() + "\n" + result->dump());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t end = std::min(text.find('\n'), text.size());
  const auto object = simulator::decodeBody(text.substr(0, end), "application/json");
  const std::string_view rest = text.substr(std::min(end + 1, text.size()));
  if (!object) return 0;
  if (const auto patch = simulator::decodePatch(rest, simulator::PatchType::Json))
    checkJsonPatch(*object, *patch);
  if (const auto patch = simulator::decodePatch(rest, simulator::PatchType::Merge))
    checkObjectPatches(*object, *patch);
  return 0;
}
