// A request line with its query, and below it a body: what is accepted says what was asked for, what is
// refused is answered as the API server would.
#include <cstdint>
#include <string_view>

#include "fuzz/check.h"
#include "simulator/decode.h"
#include "simulator/request.h"

using lastout::fuzz::check;
namespace simulator = lastout::simulator;
using simulator::Json;

namespace {

void checkRefusal(const simulator::ApiError& error) {
  check(error.code == 400 || error.code == 422, "a code of the API server", error.message);
  (void)simulator::statusOf(error).dump();  // throws unless the message is UTF-8
}

// What stands before the separator; `rest` becomes what stands behind it.
std::string_view take(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

std::string encoded(std::string_view part) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string text;
  for (const char character : part) {
    const auto byte = static_cast<unsigned char>(character);
    text += {'%', kDigits[byte >> 4], kDigits[byte & 0xF]};
  }
  return text;
}

void checkTarget(std::string_view path) {
  const auto target = simulator::parseTarget(path);
  if (!target) return;
  check(!target->version.empty() && !target->resource.empty(), "a target names a resource");
  check(target->subresource.empty() || !target->name.empty(), "a subresource is one of an object");
  std::string again = target->group.empty() ? "/api/" : "/apis/" + encoded(target->group) + "/";
  again += encoded(target->version) + "/";
  if (!target->namespaceName.empty()) again += "namespaces/" + encoded(target->namespaceName) + "/";
  for (const std::string& part : {target->resource, target->name, target->subresource})
    again += part.empty() ? "" : encoded(part) + "/";
  const auto same = simulator::parseTarget(again);
  if (again.size() > 2048) return;
  check(same && same->group == target->group && same->version == target->version &&
            same->resource == target->resource && same->namespaceName == target->namespaceName &&
            same->name == target->name && same->subresource == target->subresource,
        "a target is read as it is written", again);
}

void checkDeletion(const simulator::Query& query, const Json& body) {
  const auto options = simulator::parseDeleteOptions(query, body);
  if (!options) return checkRefusal(options.error());
  const auto asks = [&body](std::initializer_list<std::string_view> path) {
    const Json* found = simulator::at(body, path);
    return found != nullptr && !found->empty();  // empty: also null
  };
  check(options->dryRun || (!query.contains("dryRun") && !asks({"dryRun"})), "a dry run stays one");
  check(options->uid || !asks({"preconditions", "uid"}), "a condition stays one");
  check(options->resourceVersion || !asks({"preconditions", "resourceVersion"}), "a condition stays one");
  const Json given = options->asGiven();
  const auto again = simulator::parseDeleteOptions({}, given);
  check(again && again->asGiven() == given, "options are read as they are written", given.dump());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view body(reinterpret_cast<const char*>(data), size);
  std::string_view parameters = take(body, '\n');
  checkTarget(take(parameters, '?'));
  simulator::Query query;
  while (!parameters.empty()) {
    std::string_view value = take(parameters, '&');
    const std::string key(take(value, '='));
    query.emplace(key, value);
  }
  for (const auto version :
       {lastout::kube::KubernetesVersion::V1_26, lastout::kube::KubernetesVersion::V1_36}) {
    if (const auto options = simulator::parseListOptions(query, version); !options)
      checkRefusal(options.error());
  }
  if (const auto options = simulator::parseWriteOptions("PatchOptions", query); !options)
    checkRefusal(options.error());
  const auto object = simulator::decodeBody(body, "application/json");
  checkDeletion(query, object ? *object : Json());
  return 0;
}
