// The Secret of all replicas, as dialogues (dialogues/certificate-*.txt). Beside the steps of all dialogues
// with a controller:
//
//   labels KEY=VALUE          that the Secret is to have, of what starts next
//   renews, renews nothing    whether what starts next makes the Secret
//   path is renewed, path is left
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "server/webhook/certificate_secret.h"
#include "tests/support/controller_dialogue.h"

namespace lastout::server {
namespace {

class CertificateDialogues : public testing::ControllerDialogue {
 public:
  CertificateDialogues() {
    add("labels", [this](const auto&, auto& rest) {
      const std::string pair = testing::wordOf(rest);
      labels_ = {{pair.substr(0, pair.find('=')), pair.substr(pair.find('=') + 1)}};
    });
    add("renews", [this](const auto&, auto& rest) { renews_ = testing::wordOf(rest).empty(); });
    add("path", [this](const auto&, auto& rest) {
      if (testing::restOf(rest) == "is renewed")
        secret_->renewPath();
      else
        secret_->leaveFormerPath();
    });
  }

 protected:
  void start() override {
    CertificateSecretOptions options;
    options.namespaceName = "default";
    options.name = "lastout-tls";
    options.names = {{"lastout.default.svc"}, {}};
    options.renews = renews_;
    options.labels = labels_;
    options.lookAfter = std::chrono::milliseconds(10);
    options.clock = [this] {
      notePass();
      return clock().time_since_epoch().count();
    };
    options.watcher.reflector.backoff = testing::kSoonAgain;
    options.random = testing::oneHalf;
    options.log = log();
    options.use = [this](const SharedCertificate&) {
      tell("used");
      return kube::Result<void>();
    };
    secret_ = std::make_unique<CertificateSecret>(access, std::move(options));
    secret_->start();
  }
  void end() override {
    if (secret_) secret_->stop();
    secret_.reset();
  }

 private:
  kube::Labels labels_;
  bool renews_ = true;
  std::unique_ptr<CertificateSecret> secret_;
};

TEST_P(CertificateDialogues, GoAsWritten) { play(); }

INSTANTIATE_TEST_SUITE_P(Server, CertificateDialogues,
                         ::testing::ValuesIn(testing::dialoguesIn("tests/server/webhook/dialogues",
                                                                  "certificate-")),
                         [](const auto& info) { return testing::nameOfDialogue(info.param); });

}  // namespace
}  // namespace lastout::server
