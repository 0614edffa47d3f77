// Any text as a field selector and as a label selector: what is accepted is read as it is written, decides of
// any object, and a requirement and its opposite never both hold.
#include <cstdint>
#include <string_view>

#include "fuzz/check.h"
#include "simulator/selection.h"

using lastout::fuzz::check;
namespace simulator = lastout::simulator;
namespace kube = lastout::kube;
using simulator::Json;

namespace {

const Json& pod() {
  static const Json kPod = {
      {"metadata",
       {{"name", "a"}, {"namespace", "b"}, {"labels", {{"app", "web"}, {"tier", "a"}, {"n", 1}}}}},
      {"spec", {{"nodeName", "n,=\\"}, {"restartPolicy", Json::array()}}},
      {"status", "no map"}};
  return kPod;
}

void checkRefusal(const simulator::ApiError& error) {
  check(error.code == 400 && !error.message.empty(), "a bad request that says why");
  (void)simulator::statusOf(error).dump();  // throws unless the message is UTF-8
}

void checkFields(std::string_view text, const kube::GroupResource& type) {
  const auto selector = simulator::parseFieldSelector(text, type);
  if (!selector) {
    checkRefusal(selector.error());
    return;
  }
  const std::string written = toString(*selector);
  const auto again = simulator::parseFieldSelector(written, type);
  check(again && again->requirements.size() == selector->requirements.size(),
        "a selector is read as it is written", written);
  for (size_t i = 0; i < again->requirements.size(); ++i) {
    const auto& a = selector->requirements[i];
    const auto& b = again->requirements[i];
    check(a.field == b.field && a.value == b.value && a.equal == b.equal,
          "a requirement is read as it is written", written);
    const bool holds = matches(simulator::FieldSelector{{a}}, pod());
    check(holds != matches(simulator::FieldSelector{{{a.field, a.value, !a.equal}}}, pod()),
          "a requirement, or not", written);
  }
}

void checkLabels(std::string_view text) {
  const auto selector = simulator::parseLabelSelector(text);
  if (!selector) {
    checkRefusal(selector.error());
    return;
  }
  const kube::Labels labels = {{"app", "web"}, {"tier", "a"}};
  check(simulator::matches(*selector, pod()) == selector->matches(labels),
        "an object is selected by its labels");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkFields(text, {"", "pods"});
  checkFields(text, {"", "events"});
  checkFields(text, {"my.crd.group", "coolresources"});
  checkLabels(text);
  return 0;
}
