#include "tests/client/client_fixture.h"

#include <fstream>
#include <sstream>

#include "simulator/user.h"

namespace lastout::client {

namespace fs = std::filesystem;

std::string wordsOf(const kube::Errors& errors) {
  std::string lines;
  for (const kube::Error& error : errors) lines += (lines.empty() ? "" : "\n") + toString(error);
  return lines;
}

std::string withoutPlaces(const std::string& text, const std::string& file, const std::string& list) {
  std::istringstream lines(text);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const size_t end = line.find(": " + list);
    if (line.starts_with(file) && end != std::string::npos) line.erase(0, end + 2 + list.size());
    result += (result.empty() ? "" : "\n") + line;
  }
  return result;
}

void ClientFolder::SetUp() {
  std::string name = ::testing::TempDir() + "lastout-client-XXXXXX";
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  folder_ = name;
}

void ClientFolder::TearDown() { fs::remove_all(folder_); }

std::string ClientFolder::write(const std::string& name, std::string_view bytes) const {
  fs::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << bytes;
  return folder_ / name;
}

std::string ClientFolder::script(const std::string& name, std::string_view lines) const {
  const std::string path = write(name, "#!/bin/sh\n" + std::string(lines) + "\n");
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

std::string ClientFolder::read(const std::string& name) const {
  std::stringstream text;
  text << std::ifstream(folder_ / name).rdbuf();
  return text.str();
}

std::string ClientFolder::shortened(std::string text) const {
  const std::string folder = folder_;
  for (size_t found = text.find(folder); found != std::string::npos; found = text.find(folder))
    text.replace(found, folder.size(), "~");
  return text;
}

std::string kubeconfigWith(std::string_view cluster, std::string_view user) {
  std::ostringstream text;
  text << "current-context: here\n"
       << "contexts: [{name: here, context: {cluster: c, user: u}}]\n"
       << "clusters: [{name: c, cluster: {" << cluster << "}}]\n"
       << "users: [{name: u, user: {" << user << "}}]\n";
  return text.str();
}

tl::expected<ConnectionConfig, kube::Errors> connectionWith(std::string_view cluster, std::string_view user) {
  const auto config = parseKubeconfig(kubeconfigWith(cluster, user), "config");
  if (!config) return tl::unexpected(config.error());
  return connectionOf(*config, "", [](const std::string& path, const kube::ParseLimits&) {
    return kube::Result<std::string>(tl::unexpected(kube::Error{"is not there", path, {}}));
  });
}

const simulator::CertifiedKey& testAuthority() {
  static const simulator::CertifiedKey kAuthority =
      simulator::makeAuthority("test", {0, int64_t{4'000'000'000}}).value();
  return kAuthority;
}

const simulator::CertifiedKey& testClient() {
  static const simulator::CertifiedKey kClient =
      simulator::makeClientCertificate(testAuthority(), simulator::adminUser(), {0, int64_t{4'000'000'000}})
          .value();
  return kClient;
}

}  // namespace lastout::client
