// TLS of the HTTPS listener: its certificate, whose clients it believes, and one connection's encryption
// over a socket that never waits.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kube/result.h"
#include "tls/openssl.h"

namespace lastout::net {

// All in PEM.
struct TlsIdentity {
  std::string certificate;  // the server's, and those between it and its authority
  std::string privateKey;   // without a passphrase
  std::string clientCa;     // who vouches for clients, one certificate or more; empty: clients are not asked
  // As an API server does: a client whose certificate nobody vouches for is served as one that has shown
  // none, and told so in an answer, not by TLS; and sessions may be resumed.
  bool servesStrangers = false;
};

using TlsContext = std::shared_ptr<ssl_ctx_st>;

// Makes the TLS context for new connections; open connections keep theirs. Allows TLS 1.2 and 1.3. Fails if a
// part cannot be read, or the key does not belong to the certificate.
kube::Result<TlsContext> makeTlsContext(const TlsIdentity& identity);

// What has to happen before a call can be repeated.
enum class TlsStep : uint8_t {
  Done,
  WantsRead,   // bytes of the client
  WantsWrite,  // room for bytes to it
  Ended,       // the client sends nothing more
  Failed       // problem() says why; nothing can be sent any more
};

// For one thread at a time. No call waits. Without a context the bytes go over the socket as they are.
class TlsConnection {
 public:
  // `socket` must outlive this, and not block. `context` may be null.
  TlsConnection(const TlsContext& context, int socket);
  TlsConnection(const TlsConnection&) = delete;
  TlsConnection& operator=(const TlsConnection&) = delete;

  TlsStep handshake();
  TlsStep read(char* to, size_t room, size_t& got);
  TlsStep write(std::string_view text, size_t& written);
  // Sends close_notify if the socket takes it.
  void end();

  bool hasHeard() const;  // anything at all came from the client
  const std::string& problem() const { return problem_; }
  bool isPlainHttp() const { return plainHttp_; }  // what the client began with is HTTP without TLS
  // The common name in the certificate that the client has shown and that was verified; "": none.
  std::string client() const;
  std::vector<std::string> clientGroups() const;  // the organizations in it
  std::string clientFingerprint() const;          // its SHA-256, in hexadecimal
  bool hasVerifiedClient() const;

 private:
  TlsStep afterwards(int result);
  TlsStep afterwardsPlain(ssize_t result, TlsStep wanted);
  const int socket_;
  const bool plain_;
  tls::Owned<ssl_st> connection_;  // null: plain
  bool usable_ = false;
  bool plainHttp_ = false;
  std::string problem_;
};

}  // namespace lastout::net
