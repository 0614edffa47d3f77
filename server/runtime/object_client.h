// ObjectClient: sends requests to an API server one after the other, and waits for each answer: objects,
// lists page by page, writes. Reads no answer beyond a limit; a write fails if the object has changed since
// it was read.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "client/api_server.h"
#include "client/metadata_stream.h"
#include "client/reflector.h"
#include "client/status.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "kube/value.h"

namespace lastout::server {

// The most bytes that are read of an answer, so that no API server, nor what stands before it, exhausts the
// memory of lastout:
// of one object: etcd stores 1.5 MB, of which the JSON of a built-in type may be a multiple;
inline constexpr size_t kMostObjectBytes = size_t{8} << 20;
// of an object that lastout has made up itself: a Lease, an Event, a review of access;
inline constexpr size_t kMostOwnObjectBytes = size_t{1} << 20;
// of a page of some hundred objects, by a thread of which there is one;
inline constexpr size_t kMostPageBytes = size_t{64} << 20;
// of the same, for a review: eight pages are read at once for each, of half as many objects.
inline constexpr size_t kMostReviewPageBytes = size_t{32} << 20;

// Time, as whoever asks knows it.
struct Patience {
  std::function<client::TimePoint()> now;
  std::function<void(std::chrono::milliseconds)> pause;
};

// Why something was not done.
struct NotDone {
  int code = 0;                       // of the answer, as of HTTP; 0: there was none that could be understood
  std::string why;                    // one line
  client::ServerStatus refusal = {};  // the answer, where there was one
  std::optional<std::chrono::seconds> retryAfter = {};  // when it may be asked again
};

// Somebody else was faster.
inline bool isConflict(const NotDone& refusal) { return refusal.code == 409; }

template <class T>
using RequestResult = tl::expected<T, NotDone>;

// As safe for threads as its server, and what it waits by.
class ObjectClient {
 public:
  // Asks again, a few times, when the server is busy (429), or fails to answer (5xx, or not at all); so only
  // for what may be asked twice. Both must outlive it.
  ObjectClient(client::ApiServer& server, const Patience& patience);
  // Asks once. `longest`: counts instead of the `patience` of each request. The server must outlive it.
  explicit ObjectClient(client::ApiServer& server,
                        std::optional<std::chrono::milliseconds> longest = std::nullopt,
                        size_t mostBytes = kMostObjectBytes);

  // The answer to any request, if it is a success.
  RequestResult<client::WholeAnswer> ask(client::ApiRequest request) const;
  // The same, as the object that it is: the one that was read, or as it is after it was written.
  RequestResult<kube::Value> askForObject(const client::ApiRequest& request) const;
  // The metadata of the object at that path.
  RequestResult<kube::ObjectMeta> askForMetadata(std::string path) const;

  // --- one object, by its path

  // The whole object, or its metadata; nullopt: it is not there, nor maybe its type.
  RequestResult<std::optional<kube::Value>> read(const std::string& path) const;
  RequestResult<std::optional<kube::ObjectMeta>> readMetadata(const std::string& path) const;
  // False: what is to be written is not there.
  RequestResult<bool> write(const client::ApiRequest& request) const;
  // The same; the object as it is after that; nullopt: it is not there.
  RequestResult<std::optional<kube::Value>> change(const client::ApiRequest& request) const;

  // --- one object, by its key

  // The object as it is now; nullopt: it is not there, nor maybe its type.
  RequestResult<std::optional<kube::Object>> get(const kube::ResourceType& type,
                                                 const kube::ObjectKey& key) const;
  // The same; nullopt: it is not there, and its type is served.
  RequestResult<std::optional<kube::Object>> getServed(const kube::ResourceType& type,
                                                       const kube::ObjectKey& key) const;
  // Its metadata; nullopt: it is not there, and its type is served. The namespace counts for namespaced types
  // alone.
  RequestResult<std::optional<kube::ObjectMeta>> getMetadata(const kube::ResourceType& type,
                                                             std::string_view namespaceName,
                                                             std::string_view name) const;
  // A JSON merge patch of the very object with that metadata, as it was read; `subresource`: "status", or
  // empty. Returns the object as it is after that; nullopt: it is gone. Fails with a conflict
  // (isConflict()) when it has changed.
  RequestResult<std::optional<kube::Object>> patch(const kube::ResourceType& type,
                                                   const kube::ObjectMeta& read, nlohmann::json change,
                                                   std::string_view subresource = {}) const;
  RequestResult<std::optional<kube::Object>> setFinalizers(const kube::ResourceType& type,
                                                           const kube::ObjectMeta& read,
                                                           const std::vector<std::string>& finalizers) const;
  // Deletes the object with that uid, in the type's own manner. Returns false where it is gone. Fails with a
  // conflict when another one has its name, or its version is not that one; empty: any is.
  RequestResult<bool> remove(const kube::ResourceType& type, const kube::ObjectKey& key,
                             const std::string& uid, const std::string& resourceVersion = {}) const;

  // --- collections

  // What to list; `collection`: as client::collectionPath() gives it.
  struct Listing {
    std::string collection;
    client::Content content = client::Content::Metadata;
    size_t most = 500;          // objects of a page
    std::string selector = {};  // of labels; empty: all
  };
  struct Page {
    std::vector<client::StreamedObject> objects;
    std::string continueToken;  // of the next one; empty: it was the last
    std::string unread = {};    // why one of its objects could not be read, and is left out; empty: all were
  };
  using TakeObject = std::function<void(client::StreamedObject object)>;
  // Reads a page, one object at a time, so that no two of them are in memory as values; those before a
  // failure have been taken. `token`: empty: the first page. Returns the token of the next one; empty: it was
  // the last. Fails with 410 when the server has forgotten where it was. Why an object cannot be read goes to
  // `unread`; nullptr: that is a failure, once the others have been taken.
  RequestResult<std::string> page(const Listing& listing, const std::string& token, const TakeObject& take,
                                  std::string* unread = nullptr) const;
  // Reads a page whole, without what cannot be read.
  RequestResult<Page> page(const Listing& listing, const std::string& token = {}) const;

  using TakePage = std::function<void(const std::vector<client::StreamedObject>& page)>;
  // All objects, page by page; none where the type is not served. When the server forgets where it was, it
  // begins again: an object may come twice. Fails in the end on an object that cannot be read.
  RequestResult<void> list(const Listing& listing, const TakePage& take) const;
  // All objects of the type in the namespace; empty: in all of them.
  RequestResult<std::vector<kube::Object>> list(const kube::ResourceType& type,
                                                std::string_view namespaceName,
                                                client::Content content) const;

 private:
  RequestResult<std::optional<kube::Object>> change(const kube::ResourceType& type,
                                                    const client::ApiRequest& request) const;

  client::ApiServer& server_;
  const Patience* const patience_;                          // nullptr: asks once
  const std::optional<std::chrono::milliseconds> longest_;  // nullopt: as the request says
  const size_t mostBytes_;
};

}  // namespace lastout::server
