#include "cmd/serve_identity.h"

#include <openssl/err.h>

#include <system_error>
#include <utility>

#include "cmd/listening.h"
#include "cmd/paths.h"
#include "tls/pem.h"

namespace lastout::cmd {
namespace {

enum class Holds : uint8_t { Certificates, Key };

// The text of a file, empty without one; `problems` gets what is wrong with it.
std::string readPem(const char* option, const std::string& file, Holds holds, kube::Errors& problems) {
  if (file.empty()) return {};
  auto text = readInput(file);
  if (!text) {
    problems.push_back(std::move(text.error()));
    return {};
  }
  bool isSound = false;
  if (holds == Holds::Key) {
    isSound = tls::privateKeyIn(*text) != nullptr;
  } else {
    const tls::Certificates certificates = tls::certificatesIn(*text);
    isSound = !certificates.read.empty() && !certificates.broken;
  }
  ERR_clear_error();
  if (!isSound) {
    problems.push_back(
        {std::string(option) + (holds == Holds::Key ? ": no private key in PEM can be read in it"
                                                    : ": it is no list of certificates in PEM"),
         file,
         {}});
  }
  if (!text->ends_with('\n')) *text += '\n';  // another may come behind it
  return std::move(*text);
}

}  // namespace

tl::expected<ServeIdentity, kube::Errors> identityInFiles(const ServeOptions& options) {
  kube::Errors problems;
  ServeIdentity identity;
  identity.tls.clientCa = readPem("--client-ca", options.clientAuthority, Holds::Certificates, problems);
  identity.tls.certificate = readPem("--tls-cert", options.certificate, Holds::Certificates, problems);
  identity.tls.privateKey = readPem("--tls-key", options.key, Holds::Key, problems);
  identity.authorities = readPem("--tls-ca", options.authority, Holds::Certificates, problems);
  if (!problems.empty()) return tl::unexpected(std::move(problems));
  if (identity.authorities.empty()) identity.authorities = identity.tls.certificate;
  return identity;
}

tl::expected<ServeIdentity, kube::Errors> identityOf(const ServeOptions& options, const std::string& host) {
  auto read = identityInFiles(options);
  if (!read || !options.certificate.empty()) return read;
  ServeIdentity identity = std::move(*read);
  auto made = makeIdentity("lastout serve", host, namesOf(options));
  if (!made) return tl::unexpected(kube::Errors{std::move(made.error())});
  identity.tls.certificate = std::move(made->server.certificate);
  identity.tls.privateKey = std::move(made->server.key);
  identity.authorities = std::move(made->authority.certificate);
  return identity;
}

IdentityFiles::IdentityFiles(const ServeOptions& options) {
  for (const std::string* file :
       {&options.certificate, &options.key, &options.authority, &options.clientAuthority})
    if (!file->empty()) files_.emplace_back(*file);
  seen_.resize(files_.size());
  look();
  used();
}

bool IdentityFiles::haveChanged() {
  look();
  return seen_ != used_;
}

void IdentityFiles::look() {
  for (size_t i = 0; i < files_.size(); ++i) {
    std::error_code problem;
    const auto changed = std::filesystem::last_write_time(files_[i], problem);
    if (!problem) seen_[i] = changed;
  }
}

}  // namespace lastout::cmd
