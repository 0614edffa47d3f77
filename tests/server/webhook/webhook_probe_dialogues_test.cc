// Probes of an API server, as dialogues (dialogues/probe-*.txt). The configuration that should stand has the
// fingerprint 0a; the script says what the API server makes of a probe. Beside the steps of all dialogues
// with a controller:
//
//   stands, stands no more    the configuration; each time it is a new one
//   denied FINGERPRINT        the next probe, by a webhook configuration with that one
//   enforced                  as the probe says
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/webhook/webhook_probe.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class ProbeDialogues : public testing::ControllerDialogue {
 public:
  ProbeDialogues() {
    add("stands", [this](const auto&, auto& rest) {
      ++times_;
      stands_ = testing::wordOf(rest).empty();
    });
    add("denied", [this](const auto&, auto& rest) {
      const nlohmann::json denial = {
          {"kind", "Status"},
          {"code", 403},
          {"message", "denied"},
          {"details",
           {{"causes", {{{"reason", "ProbedConfiguration"}, {"message", testing::wordOf(rest)}}}}}}};
      server_.refuse({"DELETE", "/lastout-sentinel", 403, denial.dump(), {}});
    });
    commands_["enforced"] = [this](const auto&, auto&) {
      const WebhookEnforcement found = probe_->enforcementFor(objects());
      return std::string(found.enforced.value_or(false) ? "True " : "False ") + found.reason + "\n";
    };
  }

 protected:
  void start() override {
    WebhookProbeOptions options;
    options.configuration = [this]() -> std::optional<ProbedConfiguration> {
      notePass();
      if (!stands_) return std::nullopt;
      return ProbedConfiguration{"0a", objects(), TimePoint(std::chrono::seconds(times_))};
    };
    options.times = {std::chrono::hours(1), std::chrono::milliseconds(5), std::chrono::milliseconds(0),
                     std::chrono::seconds(60)};
    options.random = [] { return 0.5; };
    options.counted = [this](ProbeResult result) { tell("counted: " + std::string(toString(result))); };
    options.changed = [this](const ProbeStanding& standing) {
      tell("stands: " + std::string(toString(standing.result)));
    };
    options.log = log();
    probe_ = std::make_unique<WebhookProbe>(access, std::move(options));
    probe_->start();
  }
  void end() override {
    if (probe_) probe_->stop();
    probe_.reset();
  }
  void wake() override {
    if (probe_) probe_->reconsider();
  }

 private:
  static ReviewedObjects objects() { return {{testing::kProvider}, {}, {testing::kProvider.type}}; }

  std::atomic<bool> stands_{false};
  std::atomic<int> times_{0};
  std::unique_ptr<WebhookProbe> probe_;
};

TEST_P(ProbeDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, ProbeDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/webhook/dialogues",
                                                                  "probe-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
