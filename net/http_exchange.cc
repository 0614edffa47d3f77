// HttpLoop: one connection goes on, from its handshake through requests and their answers to its end.
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <cerrno>

#include "kube/messages.h"
#include "net/http_loop.h"

namespace lastout::net {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using AsioError = boost::system::error_code;

constexpr size_t kLongestReport = 300;           // bytes of what a handler said
constexpr size_t kRenewedBy = size_t{64} << 10;  // bytes that a client has to take in the time for an answer
constexpr size_t kMostAhead = size_t{16} << 10;  // bytes that are read of a client while its answer goes on
constexpr std::chrono::milliseconds kStreamPatience{500};
constexpr std::string_view kNothingHere = "there is nothing here";
constexpr int kMostSteps = 64;  // with one connection, before others have their turn

// Returns the handler's answer; nullopt: the handler threw an exception.
std::optional<HttpResponse> runHandler(const HttpHandler& handler, HttpRequest request) {
  try {
    return handler(std::move(request));
  } catch (...) {
    return std::nullopt;
  }
}

// What the client did wrong. That it is not ready is no news to who asks for that.
bool isRefusal(const HttpResponse& response) { return response.status >= 400 && response.status < 500; }

// For a log; at most so many bytes.
std::string firstLine(std::string_view body) {
  return kube::printable(body.substr(0, std::min(body.find('\n'), kLongestReport)));
}

HttpResponse plainAnswer(int status, std::string_view words) {
  return {status, "text/plain; charset=utf-8", std::string(words) + "\n", {}};
}

bool hasBody(const std::string& method) { return method == "POST" || method == "PUT" || method == "PATCH"; }

bool leadsTo(const HttpRoute& route, const std::string& path) {
  const bool isPrefix = route.path.empty() || route.path.ends_with('/');
  return isPrefix ? path.starts_with(route.path) : route.path == path;
}

// Returns what the connection has to wait for before it can repeat the step; nullopt: the step was taken, or
// has failed for good.
std::optional<HttpNext> waitAfter(TlsStep step) {
  switch (step) {
    case TlsStep::WantsRead:
      return HttpNext::Read;
    case TlsStep::WantsWrite:
      return HttpNext::Write;
    case TlsStep::Done:
    case TlsStep::Ended:
    case TlsStep::Failed:
      break;
  }
  return std::nullopt;
}

}  // namespace

void HttpLoop::go(const HttpConnectionPointer& connection) {
  ++connection->turn;
  for (int steps = 0; steps < kMostSteps; ++steps) {
    switch (step(connection)) {
      case HttpNext::Again:
        continue;
      case HttpNext::Read:
        return wait(connection, Tcp::socket::wait_read);
      case HttpNext::Write:
        return wait(connection, Tcp::socket::wait_write);
      case HttpNext::Nothing:
        return;
    }
  }
  asio::post(context_, [this, connection, turn = connection->turn] {
    if (!connection->closed && connection->turn == turn) go(connection);
  });
}

void HttpLoop::wait(const HttpConnectionPointer& connection, Tcp::socket::wait_type what) {
  connection->socket.async_wait(what, [this, connection, turn = connection->turn](const AsioError&) {
    if (!connection->closed && connection->turn == turn) go(connection);
  });
}

HttpNext HttpLoop::step(const HttpConnectionPointer& connection) {
  switch (connection->phase) {
    case HttpPhase::Handshake:
      return stepHandshake(*connection);
    case HttpPhase::Idle:
    case HttpPhase::Request:
      return stepRequest(connection);
    case HttpPhase::Answer:
      return stepAnswer(connection);
    case HttpPhase::Linger:
      return stepLinger(*connection);
    case HttpPhase::Work:
      break;
  }
  return HttpNext::Nothing;
}

HttpNext HttpLoop::stepHandshake(HttpConnection& connection) {
  const TlsStep taken = connection.tls.handshake();
  if (const auto wait = waitAfter(taken)) return *wait;
  if (taken == TlsStep::Done) {
    enter(connection, HttpPhase::Idle);
    return HttpNext::Again;
  }
  // Whoever only looks whether the port is open says nothing.
  if (connection.tls.hasHeard())
    report(&connection, 0, "no TLS handshake: " + connection.tls.problem(), "no TLS handshake");
  if (connection.tls.isPlainHttp()) {
    const std::string text = responseText(plainAnswer(400, "this port speaks HTTPS, not HTTP"), true);
    static_cast<void>(::send(connection.socket.native_handle(), text.data(), text.size(), MSG_NOSIGNAL));
  }
  return linger(connection);
}

HttpNext HttpLoop::stepRequest(const HttpConnectionPointer& connection) {
  HttpConnection& self = *connection;
  if (!self.output.empty()) return sendSome(self);  // "100 Continue"
  if (!self.fresh) return readSome(self);
  self.fresh = false;
  if (self.phase == HttpPhase::Idle) {
    enter(self, HttpPhase::Request);
    self.reader = std::make_unique<RequestReader>(options_.request);
    self.withBody = true;
    if (!hold(self, self.input.size())) return HttpNext::Nothing;
  }
  switch (self.reader->feed(self.input)) {
    case RequestReader::State::Header:
    case RequestReader::State::Body:
      return HttpNext::Again;
    case RequestReader::State::HeaderRead:
      return checkHeader(self);
    case RequestReader::State::Whole:
      return dispatch(connection);
    case RequestReader::State::Bad:
      break;
  }
  return refuse(self, self.reader->refusal().status, self.reader->refusal().why);
}

HttpNext HttpLoop::readSome(HttpConnection& connection) {
  size_t got = 0;
  const TlsStep taken = connection.tls.read(piece_.data(), piece_.size(), got);
  if (const auto wait = waitAfter(taken)) return *wait;
  if (taken == TlsStep::Done) {
    connection.input.append(piece_.data(), got);
    connection.fresh = true;
    if (connection.phase == HttpPhase::Request && !hold(connection, got)) return HttpNext::Nothing;
    return HttpNext::Again;
  }
  if (connection.phase == HttpPhase::Request)
    report(&connection, 0, "the client went away in the middle of a request");
  endQuietly(connection);
  return HttpNext::Nothing;
}

// Again: everything is sent.
HttpNext HttpLoop::sendSome(HttpConnection& connection) {
  while (connection.sent < connection.output.size()) {
    size_t written = 0;
    const TlsStep taken =
        connection.tls.write(std::string_view(connection.output).substr(connection.sent), written);
    if (const auto wait = waitAfter(taken)) return *wait;
    if (taken != TlsStep::Done) {
      report(&connection, 0, "the client went away before it had its answer");
      close(connection);
      return HttpNext::Nothing;
    }
    connection.sent += written;
    if (connection.phase != HttpPhase::Answer || connection.sent - connection.renewedAt < kRenewedBy)
      continue;
    connection.renewedAt = connection.sent;
    enter(connection, HttpPhase::Answer);
  }
  connection.output = std::string();
  connection.sent = connection.renewedAt = 0;
  return HttpNext::Again;
}

// Everything that can be refused before the body comes.
HttpNext HttpLoop::checkHeader(HttpConnection& connection) {
  const HttpRequest& request = connection.reader->request();
  const std::string wanted = request.method == "HEAD" ? "GET" : request.method;
  connection.withBody = request.method != "HEAD";
  connection.route = nullptr;
  std::string allowed;
  for (const HttpRoute& route : routes_) {
    if (!leadsTo(route, request.path)) continue;
    if (route.method.empty() || route.method == wanted) connection.route = &route;
    allowed.append(allowed.empty() ? "" : ", ").append(route.method);
  }
  if (connection.route == nullptr) {
    if (allowed.empty()) return refuse(connection, 404, kNothingHere);
    refuse(connection, 405, "only " + allowed + " is answered here");
    // The header that goes with it, behind the status line.
    connection.output.insert(connection.output.find("\r\n") + 2, "Allow: " + allowed + "\r\n");
    return HttpNext::Again;
  }
  const HttpRoute& route = *connection.route;
  if (connection.needsClient && !route.open && !connection.tls.hasVerifiedClient())
    return refuse(connection, 403, "a client certificate is needed here");
  if (route.knows && !route.knows(request.path)) return refuse(connection, 404, kNothingHere);
  if (!route.method.empty() && hasBody(request.method) && !connection.reader->hasLength())
    return refuse(connection, 411, "the length of the body has to be said");
  if (!route.contentType.empty() && request.contentType != route.contentType)
    return refuse(connection, 415, "only " + route.contentType + " is understood here");
  if (connection.reader->expectsContinue() && connection.input.empty())
    connection.output = "HTTP/1.1 100 Continue\r\n\r\n";
  connection.fresh = true;
  return HttpNext::Again;
}

HttpNext HttpLoop::dispatch(const HttpConnectionPointer& connection) {
  HttpConnection& self = *connection;
  HttpRequest request = std::move(self.reader->request());
  request.peer = self.peer;
  request.client = self.tls.client();
  request.clientGroups = self.tls.clientGroups();
  request.clientFingerprint = self.tls.clientFingerprint();
  request.begun = self.since;
  self.endAfterAnswer = !self.reader->keepAlive();
  self.takesChunks = self.reader->takesChunks();
  self.reader.reset();
  enter(self, HttpPhase::Work);
  const auto come = [this](HttpConnection& to, const std::optional<HttpResponse>& response) {
    if (!response) {
      refuse(to, 500, "this request could not be worked on");
      return;
    }
    if (isRefusal(*response)) report(&to, response->status, firstLine(response->body), "refused");
    answer(to, *response);
  };
  if (self.route->quick) {
    come(self, runHandler(self.route->handler, std::move(request)));
    return HttpNext::Again;
  }
  const bool added = workers_->add([this, come, connection, request = std::move(request)]() mutable {
    auto response = runHandler(connection->route->handler, std::move(request));
    asio::post(context_, [this, come, connection, response = std::move(response)] {
      if (connection->closed) return;
      come(*connection, response);
      go(connection);
    });
  });
  if (added) return HttpNext::Nothing;
  return refuse(self, 503, "there are too many requests at the moment", self.endAfterAnswer);
}

// Counts the bytes of a request. False: there was no room, and the connection is closed.
bool HttpLoop::hold(HttpConnection& connection, size_t bytes) {
  connection.held += bytes;
  heldBytes_ += bytes;
  while (heldBytes_ > options_.heldBytes) {
    const HttpConnectionPointer oldest = connections_[static_cast<size_t>(HttpPhase::Request)].front();
    report(oldest.get(), 0, "closed: there are too many large requests at the moment");
    endQuietly(*oldest);
    if (oldest.get() == &connection) return false;
  }
  return true;
}

void HttpLoop::release(HttpConnection& connection) { heldBytes_ -= std::exchange(connection.held, 0); }

void HttpLoop::answer(HttpConnection& connection, const HttpResponse& response) {
  release(connection);
  connection.reader.reset();
  const bool isCut = response.stream != nullptr && !connection.takesChunks;  // it ends with the connection
  connection.endAfterAnswer = connection.endAfterAnswer || stopping_ || isCut;
  connection.output =
      responseText(response, connection.endAfterAnswer, connection.withBody, connection.takesChunks);
  connection.sent = connection.renewedAt = 0;
  if (connection.withBody) connection.stream = response.stream;
  if (connection.stream != nullptr && stopping_) connection.stream->end();
  enter(connection, HttpPhase::Answer);
}

// A worker waits for it; the connection is at work meanwhile.
void HttpLoop::askForPiece(const HttpConnectionPointer& connection) {
  listenToClient(connection);
  if (connection->closed) return;
  const bool added = workers_->add([this, connection, stream = connection->stream]() mutable {
    std::optional<std::string> piece;
    bool failed = false;
    try {
      piece = stream->next(kStreamPatience);
    } catch (...) {
      failed = true;
    }
    stream.reset();
    asio::post(context_, [this, connection, piece = std::move(piece), failed] {
      if (connection->closed) return;
      if (failed) {
        report(connection.get(), 0, "closed: the answer could not be continued");
        return close(*connection);
      }
      if (piece && piece->empty()) return askForPiece(connection);
      sendPiece(*connection, piece);
      go(connection);
    });
  });
  if (added) return;
  report(connection.get(), 0, "closed: there are too many requests at the moment");
  close(*connection);
}

void HttpLoop::sendPiece(HttpConnection& connection, const std::optional<std::string>& piece) {
  if (!piece) connection.stream = nullptr;
  connection.output = connection.takesChunks ? chunkText(piece.value_or("")) : piece.value_or("");
  enter(connection, HttpPhase::Answer);
}

// Notices at once when the client of a stream goes away, while there is nothing to send.
void HttpLoop::listenToClient(const HttpConnectionPointer& connection) {
  if (connection->isListened) return;
  connection->isListened = true;
  connection->socket.async_wait(Tcp::socket::wait_read, [this, connection](const AsioError& error) {
    connection->isListened = false;
    if (!error && !connection->closed) hearClient(connection);
  });
}

void HttpLoop::hearClient(const HttpConnectionPointer& connection) {
  if (connection->phase != HttpPhase::Work || connection->stream == nullptr) return;
  while (connection->input.size() < kMostAhead) {
    size_t got = 0;
    const TlsStep taken = connection->tls.read(piece_.data(), piece_.size(), got);
    if (taken == TlsStep::WantsRead) return listenToClient(connection);
    if (taken != TlsStep::Done) return endQuietly(*connection);
    connection->input.append(piece_.data(), got);
  }
}

// Says no, and says so in the log.
HttpNext HttpLoop::refuse(HttpConnection& connection, int status, std::string_view why, bool end) {
  report(&connection, status, why);
  connection.endAfterAnswer = end;
  answer(connection,
         options_.refuse ? options_.refuse({status, std::string(why)}) : plainAnswer(status, why));
  return HttpNext::Again;
}

HttpNext HttpLoop::stepAnswer(const HttpConnectionPointer& pointer) {
  HttpConnection& connection = *pointer;
  if (const HttpNext next = sendSome(connection); next != HttpNext::Again) return next;
  if (connection.stream != nullptr) {
    enter(connection, HttpPhase::Work);
    askForPiece(pointer);
    return HttpNext::Nothing;
  }
  if (connection.endAfterAnswer || stopping_) return linger(connection);
  enter(connection, HttpPhase::Idle);
  connection.fresh = !connection.input.empty();
  if (!connection.fresh) connection.input = std::string();  // its room too
  return HttpNext::Again;
}

// Closed at once, with something unread, the answer could be lost on its way.
HttpNext HttpLoop::linger(HttpConnection& connection) {
  connection.tls.end();
  connection.input = std::string();
  if (::shutdown(connection.socket.native_handle(), SHUT_WR) != 0) {
    close(connection);
    return HttpNext::Nothing;
  }
  enter(connection, HttpPhase::Linger);
  return HttpNext::Again;
}

HttpNext HttpLoop::stepLinger(HttpConnection& connection) {
  if (connection.drained > options_.drained) return HttpNext::Nothing;  // until its time is over
  const auto got = ::recv(connection.socket.native_handle(), piece_.data(), piece_.size(), 0);
  if (got > 0) {
    connection.drained += static_cast<size_t>(got);
    return HttpNext::Again;
  }
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR)) return HttpNext::Read;
  close(connection);
  return HttpNext::Nothing;
}

}  // namespace lastout::net
