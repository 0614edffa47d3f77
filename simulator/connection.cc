#include "simulator/connection.h"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace lastout::simulator {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFarewell{1000};
constexpr size_t kMostReadAway = 64u << 20;  // bytes

bool wouldBlock() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

Connection::Connection(int socket, ssl_ctx_st* tls) : socket_(socket) {
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
  if (tls == nullptr) return;
  tls_.reset(SSL_new(tls));
  SSL_set_fd(tls_.get(), socket_);
  SSL_set_mode(tls_.get(), SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
}

bool Connection::waitFor(short events, Deadline deadline) const {
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
    pollfd wanted{socket_, events, 0};
    const int ready = poll(&wanted, 1, static_cast<int>(std::max<int64_t>(0, left.count())));
    if (ready >= 0 || errno != EINTR) return ready > 0;
  }
}

short Connection::wantedAfter(int result) const {
  switch (SSL_get_error(tls_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return POLLIN;
    case SSL_ERROR_WANT_WRITE:
      return POLLOUT;
    default:
      return 0;
  }
}

bool Connection::shakeHands(Deadline deadline) {
  if (tls_ == nullptr) return true;
  while (true) {
    ERR_clear_error();
    const int result = SSL_accept(tls_.get());
    if (result == 1) return true;
    const short wanted = wantedAfter(result);
    if (wanted == 0 || !waitFor(wanted, deadline)) return false;
  }
}

size_t Connection::read(char* data, size_t size, Deadline deadline) {
  while (true) {
    short wanted = 0;
    if (tls_ != nullptr) {
      ERR_clear_error();
      size_t got = 0;
      const int result = SSL_read_ex(tls_.get(), data, size, &got);
      if (result == 1) return got;
      wanted = wantedAfter(result);
    } else {
      const ssize_t got = recv(socket_, data, size, 0);
      if (got > 0) return static_cast<size_t>(got);
      if (got < 0 && wouldBlock()) wanted = POLLIN;
    }
    if (wanted == 0 || !waitFor(wanted, deadline)) return 0;
  }
}

bool Connection::write(const char* data, size_t size, std::chrono::seconds patience) {
  while (size > 0) {
    size_t taken = 0;
    short wanted = 0;
    if (tls_ != nullptr) {
      ERR_clear_error();
      const int result = SSL_write_ex(tls_.get(), data, size, &taken);
      if (result != 1) wanted = wantedAfter(result);
    } else {
      const ssize_t sent = send(socket_, data, size, MSG_NOSIGNAL);
      if (sent > 0) taken = static_cast<size_t>(sent);
      if (sent < 0 && wouldBlock()) wanted = POLLOUT;
    }
    data += taken;
    size -= taken;
    if (taken == 0 && (wanted == 0 || !waitFor(wanted, steady_clock::now() + patience))) return false;
  }
  return true;
}

bool Connection::isWritable(std::chrono::seconds patience) {
  if (!waitFor(POLLOUT, steady_clock::now() + patience)) return false;
  char next = 0;
  const ssize_t waiting = recv(socket_, &next, 1, MSG_PEEK);
  return waiting > 0 || (waiting < 0 && wouldBlock());
}

void Connection::finish() {
  if (tls_ != nullptr) {
    ERR_clear_error();
    SSL_shutdown(tls_.get());
  }
  shutdown(socket_, SHUT_WR);
  const Deadline deadline = steady_clock::now() + kFarewell;
  std::array<char, 16384> away{};
  size_t total = 0;
  while (total < kMostReadAway && steady_clock::now() < deadline) {
    const ssize_t got = recv(socket_, away.data(), away.size(), 0);
    if (got == 0 || (got < 0 && (!wouldBlock() || !waitFor(POLLIN, deadline)))) return;
    total += static_cast<size_t>(std::max<ssize_t>(got, 0));
  }
}

Deadlines::Deadlines() : thread_([this] { run(); }) {}

Deadlines::~Deadlines() {
  {
    const kube::MutexLock lock(mutex_);
    stopping_ = true;
  }
  changed_.notifyAll();
  thread_.join();
}

void Deadlines::Watch::watch(int socket) {
  stop();
  const int copy = dup(socket);
  if (copy < 0) return;  // out of descriptors: the timeouts of single reads and writes are left
  const kube::MutexLock lock(deadlines_->mutex_);
  descriptor_ = copy;
  deadlines_->watched_.push_back(this);
  deadlines_->changed_.notifyAll();
}

void Deadlines::Watch::stop() {
  const kube::MutexLock lock(deadlines_->mutex_);
  if (descriptor_ < 0) return;
  deadlines_->watched_.remove(this);
  close(descriptor_);
  descriptor_ = -1;
}

void Deadlines::run() {
  kube::MutexLock lock(mutex_);
  while (!stopping_) {
    const auto next = std::ranges::min_element(watched_, {}, &Watch::deadline_);
    if (next == watched_.end()) {
      changed_.wait(lock);
    } else if (std::chrono::steady_clock::now() < (*next)->deadline_) {
      // A copy: it is looked at again after waking, and the watch may be gone by then.
      const auto deadline = (*next)->deadline_;
      changed_.waitUntil(lock, deadline);
    } else {
      (*next)->deadlines_->mutex_.assertHeld();  // it is this one's
      shutdown((*next)->descriptor_, SHUT_RDWR);
      close((*next)->descriptor_);
      (*next)->descriptor_ = -1;
      watched_.erase(next);
    }
  }
}

}  // namespace lastout::simulator
