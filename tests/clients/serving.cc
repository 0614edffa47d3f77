#include "tests/clients/serving.h"

#include <csignal>

namespace lastout::clients {
namespace {

std::vector<std::string> listening(std::vector<std::string> options) {
  options.insert(options.end(), {"--listen", "127.0.0.1:0"});
  return options;
}

}  // namespace

void Serving::TearDown() {
  if (serving_ != nullptr) interrupt();
  if (beside_ != nullptr) {
    const testing::Ran ran = beside_->interrupt();
    EXPECT_EQ(ran.exitCode, 0) << ran.out;
  }
  Cluster::TearDown();
}

std::unique_ptr<testing::Running> Serving::started(const std::vector<std::string>& options,
                                                   const std::string& config) const {
  std::vector<std::string> arguments = {"serve", "--answers", "127.0.0.1:0", "--kubeconfig",
                                        (folder_ / config).string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return std::make_unique<testing::Running>(arguments, "Ctrl-C ends it");
}

void Serving::serve(const std::vector<std::string>& options, const std::string& config) {
  serving_ = started(listening(options), config);
}

void Serving::serveRoles(const std::vector<std::string>& options,
                         const std::vector<std::string>& webhookOptions,
                         const std::vector<std::string>& controllerOptions) {
  std::vector<std::string> ofWebhook = listening(options);
  ofWebhook.insert(ofWebhook.end(), webhookOptions.begin(), webhookOptions.end());
  ofWebhook.insert(ofWebhook.end(), {"--roles", "webhook"});
  serving_ = started(ofWebhook, "webhook");
  std::vector<std::string> ofController = options;
  ofController.insert(ofController.end(), controllerOptions.begin(), controllerOptions.end());
  ofController.insert(ofController.end(), {"--roles", "controller", "--url", "https://" + address()});
  controller_ = started(ofController, "controller");
}

void Serving::serveBeside(const std::vector<std::string>& options) {
  beside_ = started(listening(options), "config");
}

void Serving::waitUntilTheProviderIsGuarded() const {
  waitUntil("kubectl wait --for=condition=Enforced criticalservice/for-finalizer-deployment --timeout=50s");
}

std::string Serving::address() const { return serving_->greetingAfter("listens at https://"); }

std::string Serving::answersUrl() const {
  const std::string address = serving_->greetingAfter("http://");
  return address.empty() ? "" : "http://" + address;
}

void Serving::terminate() { EXPECT_EQ(::kill(serving_->process(), SIGTERM), 0); }

std::string Serving::interrupt() {
  std::string printed;
  for (std::unique_ptr<testing::Running>* one : {&controller_, &serving_}) {
    if (*one == nullptr) continue;
    const testing::Ran ran = (*one)->interrupt();
    one->reset();
    EXPECT_EQ(ran.exitCode, 0) << ran.out;
    printed += ran.out;
  }
  return printed;
}

}  // namespace lastout::clients
