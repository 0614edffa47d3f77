// Denied deletions that are recorded, as dialogues (dialogues/store-*.txt), by a view that follows an
// embedded cluster. Beside the steps of all dialogues with a controller:
//
//   record USER OBJECT [OWNER]    its DELETE by that user was denied; OWNER: the uid of its owner
//   forget SERVICE OBJECT           the CriticalService need not record it, as the view knows it
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "server/controllers/deferred_deletion_store.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class StoreDialogues : public testing::ControllerDialogue {
 public:
  StoreDialogues() {
    commands_["record"] = [this](const auto&, auto& rest) { return record(rest); };
    add("forget", [this](const auto&, auto& rest) {
      const std::string service = testing::wordOf(rest);
      store_->forget(service, known(service, keyOf(testing::wordOf(rest))));
    });
  }

 protected:
  void start() override {
    DeferredDeletionStoreOptions options;
    options.clock = [this] { return clock(); };
    options.random = testing::oneHalf;
    options.backoff = testing::kSoonAgain;
    options.longest = std::chrono::milliseconds(0);
    options.log = log();
    options.told = [this](const DeferredDeletionEvent& news) { eventTeller()(eventOf(news)); };
    store_ = std::make_unique<DeferredDeletionStore>(access, view, std::move(options));
    store_->start();
  }
  // The store first writes everything that it was asked for until then.
  void end() override {
    if (store_) store_->finish(std::chrono::seconds(60));
    if (store_) store_->stop();
    store_.reset();
  }

 private:
  std::string record(std::istringstream& rest) {
    admission::Review denied;
    denied.user = testing::wordOf(rest);
    const std::string object = testing::wordOf(rest);
    denied.object = keyOf(object);
    denied.deletion.uid = uidOf(object);
    if (const std::string owner = testing::wordOf(rest); !owner.empty()) denied.deletion.owners = {owner};
    const std::string advice = store_->recordAndAdvise(denied, std::chrono::steady_clock::now());
    return (advice.empty() ? "no advice" : advice) + "\n";
  }
  criticalservice::DeferredDeletion known(const std::string& service, const kube::ObjectKey& object) {
    std::optional<criticalservice::DeferredDeletion> found;
    waitUntil([&] {
      view.inspect([&](const admission::ClusterView& seen, const kube::ResourceMap&) {
        for (const auto* one : seen.services())
          for (const auto& deletion : one->deferredDeletions.deletions)
            if (one->meta.name == service && deletion.object == object) found = deletion;
      });
      return found.has_value();
    });
    return *found;
  }

  std::unique_ptr<DeferredDeletionStore> store_;
};

TEST_P(StoreDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, StoreDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/controllers/dialogues",
                                                                  "store-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
