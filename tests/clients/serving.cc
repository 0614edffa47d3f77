#include "tests/clients/serving.h"

#include <csignal>

namespace lastout::clients {

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
  std::vector<std::string> arguments = {"serve",
                                        "--listen",
                                        "127.0.0.1:0",
                                        "--answers",
                                        "127.0.0.1:0",
                                        "--kubeconfig",
                                        (folder_ / config).string()};
  arguments.insert(arguments.end(), options.begin(), options.end());
  return std::make_unique<testing::Running>(arguments, "Ctrl-C ends it");
}

void Serving::serve(const std::vector<std::string>& options, const std::string& config) {
  serving_ = started(options, config);
}

void Serving::serveBeside(const std::vector<std::string>& options) { beside_ = started(options, "config"); }

void Serving::waitUntilTheProviderIsGuarded() const {
  waitUntil("kubectl wait --for=condition=Enforced criticalservice/for-finalizer-deployment --timeout=50s");
}

std::string Serving::address() const {
  const std::string& text = serving_->greeting();
  const std::string before = "listens at https://";
  const size_t begin = text.find(before);
  return begin == std::string::npos
             ? ""
             : text.substr(begin + before.size(), text.find_first_of("\n", begin) - begin - before.size());
}

std::string Serving::answersUrl() const {
  const std::string& text = serving_->greeting();
  const size_t begin = text.find("http://");
  return begin == std::string::npos ? "" : text.substr(begin, text.find('\n', begin) - begin);
}

void Serving::terminate() { EXPECT_EQ(::kill(serving_->process(), SIGTERM), 0); }

std::string Serving::interrupt() {
  const testing::Ran ran = serving_->interrupt();
  serving_.reset();
  EXPECT_EQ(ran.exitCode, 0) << ran.out;
  return ran.out;
}

}  // namespace lastout::clients
