#include "net/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "tls/names.h"
#include "tls/openssl.h"
#include "tls/pem.h"

namespace lastout::net {
namespace {

std::string openSslWords() {
  std::string words = tls::takeError();
  return words.empty() ? "nothing is known about why" : words;
}

tl::unexpected<kube::Error> unusablePart(std::string_view what) {
  return tl::unexpected(kube::Error{"cannot use the " + std::string(what) + ": " + openSslWords(), {}, {}});
}

bool useCertificates(SSL_CTX& context, const std::string& pem) {
  const tls::Certificates chain = tls::certificatesIn(pem);
  if (chain.read.empty() || SSL_CTX_use_certificate(&context, chain.read.front().get()) != 1) return false;
  for (size_t i = 1; i < chain.read.size(); ++i)
    if (SSL_CTX_add1_chain_cert(&context, chain.read[i].get()) != 1) return false;
  ERR_clear_error();  // one that cannot be read ends them
  return true;
}

bool useKey(SSL_CTX& context, const std::string& pem) {
  const auto key = tls::privateKeyIn(pem);
  return key != nullptr && SSL_CTX_use_PrivateKey(&context, key.get()) == 1 &&
         SSL_CTX_check_private_key(&context) == 1;
}

bool useClientCa(SSL_CTX& context, const std::string& pem, bool servesStrangers) {
  const tls::Certificates authorities = tls::certificatesIn(pem);
  if (authorities.read.empty()) return false;
  for (const auto& authority : authorities.read) {
    if (X509_STORE_add_cert(SSL_CTX_get_cert_store(&context), authority.get()) != 1 ||
        SSL_CTX_add_client_CA(&context, authority.get()) != 1)
      return false;
  }
  ERR_clear_error();  // one that cannot be read ends them
  const SSL_verify_cb takeAnybody = [](int, X509_STORE_CTX*) { return 1; };
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER, servesStrangers ? takeAnybody : nullptr);
  return true;
}

void configure(SSL_CTX& context, bool servesStrangers) {
  SSL_CTX_set_min_proto_version(&context, TLS1_2_VERSION);
  if (servesStrangers) {
    // Without it no session of a client that was asked for a certificate can be resumed.
    constexpr std::string_view kSessions = "lastout";
    SSL_CTX_set_session_id_context(&context, reinterpret_cast<const unsigned char*>(kSessions.data()),
                                   kSessions.size());
  } else {
    // Clients keep their connections, so sessions are not resumed: the server stores none, and it verifies
    // each client by the current authority.
    SSL_CTX_set_session_cache_mode(&context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(&context, 0);
    SSL_CTX_set_options(&context, SSL_OP_NO_TICKET);
  }
  SSL_CTX_set_options(&context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  // An idle connection holds no buffers.
  SSL_CTX_set_mode(&context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                 SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

}  // namespace

kube::Result<TlsContext> makeTlsContext(const TlsIdentity& identity) {
  ERR_clear_error();
  const TlsContext context = tls::Owned<SSL_CTX>(SSL_CTX_new(TLS_server_method()));
  if (context == nullptr) return unusablePart("TLS library");
  configure(*context, identity.servesStrangers);
  if (!useCertificates(*context, identity.certificate)) return unusablePart("server's certificate");
  if (!useKey(*context, identity.privateKey)) return unusablePart("server's private key");
  if (!identity.clientCa.empty() && !useClientCa(*context, identity.clientCa, identity.servesStrangers))
    return unusablePart("authority of clients");
  return context;
}

TlsConnection::TlsConnection(const TlsContext& context, int socket)
    : socket_(socket), plain_(context == nullptr), usable_(plain_) {
  if (plain_) return;
  connection_.reset(SSL_new(context.get()));
  usable_ = connection_ != nullptr && SSL_set_fd(connection_.get(), socket) == 1;
  if (!usable_) problem_ = openSslWords();
}

TlsStep TlsConnection::afterwards(int result) {
  const int systemError = errno;
  switch (SSL_get_error(connection_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return TlsStep::WantsRead;
    case SSL_ERROR_WANT_WRITE:
      return TlsStep::WantsWrite;
    case SSL_ERROR_ZERO_RETURN:
      return TlsStep::Ended;
    case SSL_ERROR_SYSCALL:
      usable_ = false;
      problem_ = systemError == 0 ? "the client is gone" : std::strerror(systemError);
      ERR_clear_error();
      return TlsStep::Failed;
    default:
      break;
  }
  usable_ = false;
  const unsigned long code = ERR_peek_error();
  plainHttp_ = ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_HTTP_REQUEST;
  // The client hung up without a word of TLS, as most do.
  const bool cut =
      ERR_GET_LIB(code) == ERR_LIB_SSL && ERR_GET_REASON(code) == SSL_R_UNEXPECTED_EOF_WHILE_READING;
  problem_ = openSslWords();
  return cut ? TlsStep::Ended : TlsStep::Failed;
}

// What a call of the socket came to; `wanted`: what it waits for, when it would have to.
TlsStep TlsConnection::afterwardsPlain(ssize_t result, TlsStep wanted) {
  if (result > 0) return TlsStep::Done;
  if (result == 0) return TlsStep::Ended;
  if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) return wanted;
  usable_ = false;
  problem_ = std::strerror(errno);
  return TlsStep::Failed;
}

TlsStep TlsConnection::handshake() {
  if (!usable_) return TlsStep::Failed;
  if (plain_) return TlsStep::Done;
  ERR_clear_error();
  errno = 0;
  const int result = SSL_accept(connection_.get());
  return result == 1 ? TlsStep::Done : afterwards(result);
}

TlsStep TlsConnection::read(char* to, size_t room, size_t& got) {
  got = 0;
  if (!usable_) return TlsStep::Failed;
  if (plain_) {
    const ssize_t result = ::recv(socket_, to, room, 0);
    got = result > 0 ? static_cast<size_t>(result) : 0;
    return afterwardsPlain(result, TlsStep::WantsRead);
  }
  ERR_clear_error();
  errno = 0;
  const int result = SSL_read_ex(connection_.get(), to, room, &got);
  return result == 1 ? TlsStep::Done : afterwards(result);
}

TlsStep TlsConnection::write(std::string_view text, size_t& written) {
  written = 0;
  if (!usable_) return TlsStep::Failed;
  if (plain_) {
    const ssize_t result = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    written = result > 0 ? static_cast<size_t>(result) : 0;
    return afterwardsPlain(result, TlsStep::WantsWrite);
  }
  ERR_clear_error();
  errno = 0;
  const int result = SSL_write_ex(connection_.get(), text.data(), text.size(), &written);
  return result == 1 ? TlsStep::Done : afterwards(result);
}

void TlsConnection::end() {
  if (!usable_ || plain_ || SSL_is_init_finished(connection_.get()) == 0) return;
  ERR_clear_error();
  SSL_shutdown(connection_.get());
  ERR_clear_error();
}

bool TlsConnection::hasHeard() const {
  return connection_ != nullptr && BIO_number_read(SSL_get_rbio(connection_.get())) > 0;
}

bool TlsConnection::hasVerifiedClient() const {
  return connection_ != nullptr && SSL_get0_peer_certificate(connection_.get()) != nullptr &&
         SSL_get_verify_result(connection_.get()) == X509_V_OK;
}

std::string TlsConnection::client() const {
  if (!hasVerifiedClient()) return {};
  const auto names = tls::subjectTexts(*SSL_get0_peer_certificate(connection_.get()), NID_commonName);
  return names.empty() ? std::string() : names.front();
}

std::vector<std::string> TlsConnection::clientGroups() const {
  if (!hasVerifiedClient()) return {};
  return tls::subjectTexts(*SSL_get0_peer_certificate(connection_.get()), NID_organizationName);
}

std::string TlsConnection::clientFingerprint() const {
  return hasVerifiedClient() ? tls::fingerprintOf(*SSL_get0_peer_certificate(connection_.get()))
                             : std::string();
}

}  // namespace lastout::net
