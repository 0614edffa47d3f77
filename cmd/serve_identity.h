// The certificate of `lastout serve`: from files, which are read again when they change, or made for one
// start.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cmd/serve_options.h"
#include "kube/result.h"
#include "net/http_server.h"

namespace lastout::cmd {

struct ServeIdentity {
  net::TlsIdentity tls;
  std::string authorities;  // PEM: whom the API server is told to trust
};

// What is in the files of `options`; empty is what they do not name. Fails with the option and the file that
// holds no certificate or key; that the two belong together is seen when they are used.
tl::expected<ServeIdentity, kube::Errors> identityInFiles(const ServeOptions& options);
// The same; without a certificate in a file, one made for `host` and the names in `options`.
tl::expected<ServeIdentity, kube::Errors> identityOf(const ServeOptions& options, const std::string& host);

// When each file was changed last. A file that is gone for a moment was not.
class IdentityFiles {
 public:
  explicit IdentityFiles(const ServeOptions& options);

  // One of them is another than when used() was called last.
  bool haveChanged();
  void used() { used_ = seen_; }

 private:
  void look();

  std::vector<std::filesystem::path> files_;
  std::vector<std::optional<std::filesystem::file_time_type>> seen_;
  std::vector<std::optional<std::filesystem::file_time_type>> used_;
};

}  // namespace lastout::cmd
