// Requests: asks an API server for one thing after the other, and waits for each answer: objects, lists page
// by page, writes. For what is done once and in order, such as uninstalling.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "client/api_server.h"
#include "client/fetch.h"
#include "client/metadata_stream.h"
#include "client/reflector.h"
#include "kube/value.h"

namespace lastout::server {

// Time, as whoever asks knows it.
struct Patience {
  std::function<client::TimePoint()> now;
  std::function<void(std::chrono::milliseconds)> pause;
};

// Why something was not done.
struct NotDone {
  int code = 0;     // of the answer, as of HTTP; 0: there was none that could be understood
  std::string why;  // one line
};

// Somebody else was faster.
inline bool isConflict(const NotDone& refusal) { return refusal.code == 409; }

template <class T>
using Answered = tl::expected<T, NotDone>;

// What is refused because the server is busy (429), or fails to answer (5xx, or not at all), is asked again,
// a few times; so only for what may be asked twice. One thread at a time.
class Requests {
 public:
  using TakePage = std::function<void(const std::vector<client::StreamedObject>& page)>;

  // Both must outlive it.
  Requests(client::ApiServer& server, const Patience& patience) : server_(server), patience_(patience) {}

  // The whole object, or its metadata; nothing: it is not there, nor maybe its type.
  Answered<std::optional<kube::Value>> read(const std::string& path) const;
  Answered<std::optional<kube::ObjectMeta>> readMetadata(const std::string& path) const;

  // All objects of a collection (as client::collectionPath() gives it), `most` of them at a time; none where
  // it is not served. When the server forgets where it was, it begins anew: an object may come twice.
  // `selector`: of labels; empty: all.
  Answered<void> list(const std::string& collection, client::Content content, size_t most,
                      const TakePage& take, const std::string& selector = {}) const;

  // False: what is to be written is not there.
  Answered<bool> write(const client::ApiRequest& request) const;
  // The same; the object as it is after that; nothing: it is not there.
  Answered<std::optional<kube::Value>> change(const client::ApiRequest& request) const;

 private:
  struct Page {
    std::vector<client::StreamedObject> objects;
    std::string continueToken;  // empty: it was the last
  };
  Answered<client::WholeAnswer> ask(const client::ApiRequest& request) const;
  Answered<Page> page(const std::string& target, client::Content content) const;

  client::ApiServer& server_;
  const Patience& patience_;
};

}  // namespace lastout::server
