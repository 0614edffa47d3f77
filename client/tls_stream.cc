#include "client/tls_stream.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "tls/openssl.h"

namespace lastout::client {
namespace {

bool comesLater(int error) { return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE; }

}  // namespace

void TlsStream::heard() {
  withoutBody_ = 0;
  inHeader_ = false;
}

bool TlsStream::mayHave(std::string_view text) {
  withoutBody_ += text.size();
  if (withoutBody_ > kMostWithoutBody) return false;
  if (!inHeader_) return true;
  for (const char byte : text) {
    if (byte == '\n') {
      inStatusLine_ = line_ == 0;  // after a blank line, as after a 100, comes another one
      line_ = 0;
    } else if (byte != '\r' && ++line_ > (inStatusLine_ ? kLongestStatusLine : kLongestHeaderLine)) {
      return false;
    }
  }
  return true;
}

ssize_t TlsStream::failed() {
  if (std::string reason = tls::takeError(); !failed_ && !reason.empty()) problem_ = std::move(reason);
  failed_ = true;
  return -1;
}

// More into the buffer, as read() returns it. Without TLS nobody knows whether the end was meant.
ssize_t TlsStream::fill() {
  if (tls_ == nullptr) {
    ssize_t got = 0;
    do {
      got = ::recv(socket_, buffer_.data(), buffer_.size(), 0);
    } while (got < 0 && errno == EINTR);
    return got > 0 ? got : failed();
  }
  int got = 0;
  do {
    ERR_clear_error();
    got = SSL_read(tls_, buffer_.data(), static_cast<int>(buffer_.size()));
  } while (got <= 0 && comesLater(SSL_get_error(tls_, got)));
  if (got > 0) return got;
  return SSL_get_error(tls_, got) == SSL_ERROR_ZERO_RETURN ? 0 : failed();
}

ssize_t TlsStream::read(char* bytes, size_t size) {
  if (endless_ || failed_) return -1;
  if (taken_ == filled_) {
    const ssize_t got = fill();
    if (got <= 0) return got;
    taken_ = 0;
    filled_ = static_cast<size_t>(got);
  }
  const std::string_view piece(buffer_.data() + taken_, std::min(size, filled_ - taken_));
  endless_ = !mayHave(piece);
  if (endless_) return -1;
  std::ranges::copy(piece, bytes);
  taken_ += piece.size();
  return static_cast<ssize_t>(piece.size());
}

ssize_t TlsStream::write(const char* bytes, size_t size) {
  if (tls_ == nullptr) {
    ssize_t sent = 0;
    do {
      sent = ::send(socket_, bytes, size, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent > 0 ? sent : failed();
  }
  const int most = static_cast<int>(std::min<size_t>(size, std::numeric_limits<int>::max()));
  int sent = 0;
  do {
    ERR_clear_error();
    sent = SSL_write(tls_, bytes, most);
  } while (sent <= 0 && comesLater(SSL_get_error(tls_, sent)));
  if (sent > 0) return sent;
  // A server that refuses says why before it ends the connection.
  char byte = 0;
  ERR_clear_error();
  SSL_peek(tls_, &byte, 1);
  return failed();
}

}  // namespace lastout::client
