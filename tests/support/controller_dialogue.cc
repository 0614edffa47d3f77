#include "tests/support/controller_dialogue.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "tests/support/manifests.h"

namespace lastout::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kStoryDefinition =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/coolresources.my.crd.group";
constexpr std::chrono::seconds kLongestWait{60};
constexpr milliseconds kLookPause{5};
constexpr int kPassesMore = 8;
constexpr milliseconds kPassesWithin{600};  // a controller that waits for something does not pass

const std::vector<std::string> kUsualGroups{"lastout.dev",
                                            "apps",
                                            "",
                                            "work.open-cluster-management.io",
                                            "my.crd.group",
                                            "coordination.k8s.io",
                                            "apiextensions.k8s.io",
                                            "admissionregistration.k8s.io"};

}  // namespace

ControllerDialogue::ControllerDialogue(const std::vector<std::string>& groups)
    : DialogueWorld([this](const simulator::ExchangeRequest& request) { return WireTest::handle(request); },
                    groups.empty() ? kUsualGroups : groups) {
  serveAndConnect([this](const simulator::ExchangeRequest& request) { return server_.handle(request); });
  DialogueWorld::add("follow", [this](const auto&, auto& rest) {
    follow();
    for (std::string type = wordOf(rest); !type.empty(); type = wordOf(rest)) {
      const size_t dot = type.find('.');
      const std::string group = dot == std::string::npos ? "" : type.substr(dot + 1);
      waitFor({group, type.substr(0, dot)}, graph::Knowledge::Synced);
    }
  });
  DialogueWorld::add("cluster", [this](const auto&, auto& rest) {
    wordOf(rest);
    clusterTime_ += std::chrono::seconds(std::stoi(wordOf(rest)));
    cluster.runUntil(clusterTime_);
  });
  DialogueWorld::add("wait", [this](const auto&, auto& rest) { seconds_ += std::stoi(wordOf(rest)); });
  DialogueWorld::add("story", [this](const auto&, auto&) { tellStory(); });
  DialogueWorld::add("starts", [this](const auto&, auto&) { start(); });
  DialogueWorld::add("ends", [this](const auto&, auto&) { end(); });
}

void ControllerDialogue::tellStory() {
  createStory();
  objects(DialogueWorld::read(kStoryDefinition)->dump(), types_);
  for (const char* object : {"Deployment/provider", "CoolResource/instance", "CriticalService/s"}) {
    std::string name = object;
    std::ranges::replace(name, '/', '-');
    server_.nameUid(uidOf(object), name);
  }
}

void ControllerDialogue::play() {
  playDialogue(GetParam(), [this](const DialogueStep& step) { return answer(step); });
}

void ControllerDialogue::TearDown() {
  end();
  if (watches) watches->stop();
  listener.reset();
}

// Without the conflicts of which no step knows, and without repetitions of one that a step has made, until
// the watch tells of it; each with its body. So is a DELETE of what is gone already.
std::string ControllerDialogue::asked(const std::string& notes) const {
  std::istringstream lines(notes);
  std::string text;
  std::string former;  // the last request, as it was answered
  bool isLeftOut = false;
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(' ')) {
      const bool isConflict = line.ends_with(" -> 409");
      isLeftOut = expectsConflicts() ? isConflict && line == former
                                     : isConflict || line.ends_with(" if unchanged -> 404");
      former = line;
    }
    if (!isLeftOut) text += line + "\n";
  }
  return text;
}

std::string ControllerDialogue::said() const {
  std::string text = asked(server_.notes()) + told();
  return text.empty() ? "nothing\n" : text;
}

std::string ControllerDialogue::pass(const DialogueStep& step) {
  const auto deadline = steady_clock::now() + kLongestWait;
  while (step.expects && said() != step.expected && steady_clock::now() < deadline) {
    wake();
    std::this_thread::sleep_for(kLookPause);
  }
  passAFewTimes();
  std::string text = asked(server_.takeNotes()) + takeTold();
  return text.empty() ? "nothing\n" : text;
}

void ControllerDialogue::passAFewTimes() {
  const int enough = passes_ + kPassesMore;
  const auto deadline = steady_clock::now() + kPassesWithin;
  while (passes_ < enough && steady_clock::now() < deadline) {
    wake();
    std::this_thread::sleep_for(kLookPause);
  }
}

}  // namespace lastout::testing
