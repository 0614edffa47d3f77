#include "tests/faults/lastout_process.h"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <utility>

namespace lastout::testing {
namespace {

std::filesystem::path temporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "lastout-faults-XXXXXX").string();
  EXPECT_NE(mkdtemp(pattern.data()), nullptr) << pattern;
  return pattern;
}

}  // namespace

LastoutProcess::LastoutProcess(const std::string& kubeconfig, std::vector<std::string> options,
                               testing::Running::Said said)
    : folder_(temporaryFolder()) {
  const std::string file = (folder_ / "kubeconfig").string();
  std::ofstream(file) << kubeconfig;
  options.insert(options.begin(), {"serve", "--kubeconfig", file, "--answers", "127.0.0.1:0"});
  running_ = std::make_unique<testing::Running>(std::move(options), "Ctrl-C ends it", "", std::move(said));
  const std::string address = running_->greetingAfter("http://127.0.0.1:");
  EXPECT_NE(address, "") << running_->greeting();
  if (address.empty()) return;
  client::HttpOptions http;
  http.host = "127.0.0.1";
  http.port = static_cast<uint16_t>(std::stoi(address));
  http.tls = false;
  answers_ = client::HttpApiServer::open(std::move(http)).value();
}

LastoutProcess::~LastoutProcess() {
  running_.reset();
  std::filesystem::remove_all(folder_);
}

std::optional<client::WholeAnswer> LastoutProcess::ask(const std::string& target) {
  if (!answers_) return std::nullopt;
  client::ApiRequest request;
  request.target = target;
  auto whole = client::fetch(*answers_, request);
  return whole ? std::optional(std::move(*whole)) : std::nullopt;
}

std::optional<std::string> LastoutProcess::get(const std::string& target) {
  auto whole = ask(target);
  if (!whole || whole->answer.status != 200) return std::nullopt;
  return std::move(whole->body);
}

std::string LastoutProcess::standing() {
  const auto whole = ask("/readyz/verbose");
  return whole ? whole->body : "";
}

std::optional<double> LastoutProcess::metric(const std::string& series) {
  const std::string prefix = series + " ";
  std::istringstream lines(get("/metrics").value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(prefix)) return std::strtod(line.c_str() + prefix.size(), nullptr);
  }
  return std::nullopt;
}

void LastoutProcess::terminate() {
  resume();  // or it would not hear of it
  const testing::Ran ran = running_->terminate();
  EXPECT_EQ(ran.exitCode, 0) << ran.out;
}

void LastoutProcess::suspend() { EXPECT_EQ(kill(running_->process(), SIGSTOP), 0); }

void LastoutProcess::resume() { EXPECT_EQ(kill(running_->process(), SIGCONT), 0); }

}  // namespace lastout::testing
