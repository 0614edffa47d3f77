// TlsStream: what the HTTP library reads of a connection, and no more of it than an answer may have.
// Internal to client/; http.cc alone uses it.
#pragma once

#include <httplib.h>

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace lastout::client {

// The library reads lines of any length, and matches the first one by recursion over its bytes.
inline constexpr size_t kLongestStatusLine = size_t{1} << 10;
inline constexpr size_t kLongestHeaderLine = size_t{8} << 10;
// A whole header; later on, what stands between two pieces of a body.
inline constexpr size_t kMostWithoutBody = size_t{32} << 10;

// For one exchange, over TLS, or plain when `tls` is null. The socket blocks; whoever wants a read to end
// shuts it down.
class TlsStream final : public httplib::Stream {
 public:
  TlsStream(SSL* tls, int socket) : tls_(tls), socket_(socket) {}

  // A piece of the body has come, or (the first time) the header is over.
  void heard();
  bool endless() const { return endless_; }          // more came than an answer may have
  bool hasMore() const { return taken_ < filled_; }  // came, and was not read

  const std::string& problem() const { return problem_; }  // OpenSSL's words for what failed first; or empty

  bool is_readable() const override { return true; }
  bool is_writable() const override { return true; }
  ssize_t read(char* bytes, size_t size) override;  // 0: the server has ended it by TLS's own rules
  ssize_t write(const char* bytes, size_t size) override;
  void get_remote_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  void get_local_ip_and_port(std::string& /*ip*/, int& /*port*/) const override {}
  socket_t socket() const override { return socket_; }

 private:
  bool mayHave(std::string_view text);
  ssize_t failed();
  ssize_t fill();

  SSL* tls_;
  int socket_;
  std::array<char, 16'384> buffer_;
  size_t taken_ = 0;
  size_t filled_ = 0;
  size_t withoutBody_ = 0;  // bytes since heard()
  size_t line_ = 0;         // bytes of the line so far
  bool inHeader_ = true;
  bool inStatusLine_ = true;
  bool endless_ = false;
  bool failed_ = false;
  std::string problem_;
};

}  // namespace lastout::client
