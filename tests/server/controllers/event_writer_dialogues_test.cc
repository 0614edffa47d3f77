// Events that are written, as dialogues (dialogues/events-*.txt). Beside the steps of all dialogues with a
// controller:
//
//   tell REASON OBJECT UID MESSAGE    an Event that warns about it
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "server/controllers/event_writer.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class EventDialogues : public testing::ControllerDialogue {
 public:
  EventDialogues() {
    add("tell", [this](const auto&, auto& rest) {
      Event event;
      event.warning = true;
      event.reason = testing::wordOf(rest);
      const std::string object = testing::wordOf(rest);
      const kube::ObjectKey key = keyOf(object);
      event.kind = object.substr(0, object.find('/'));
      event.apiVersion = key.type.group.empty() ? "v1" : key.type.group + "/v1alpha1";
      event.name = key.name;
      event.namespaceName = key.namespaceName;
      event.uid = testing::wordOf(rest);
      event.message = testing::restOf(rest);
      writer_->tell(std::move(event));
    });
  }

 protected:
  void start() override {
    EventWriterOptions options;
    options.instance = "me";
    options.clock = [this] { return clock(); };
    options.log = log();
    writer_ = std::make_unique<EventWriter>(access, std::move(options));
    writer_->start();
  }
  void end() override {
    if (writer_) writer_->stop();
    writer_.reset();
  }

 private:
  std::unique_ptr<EventWriter> writer_;
};

TEST_P(EventDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, EventDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "events-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
