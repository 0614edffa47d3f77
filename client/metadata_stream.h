// ListStream and WatchStream: what an API server answers to a list and to a watch, into objects while it
// comes. Memory does not grow with the length of either.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "client/item_splitter.h"
#include "client/status.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::client {

// Values of ApiRequest::accept: metadata alone, where the server can
// (tests/recordings/kubernetes-1.26/rest/030, 081).
inline constexpr std::string_view kAcceptMetadataList =
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
inline constexpr std::string_view kAcceptMetadata =
    "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

// What to keep of each object.
enum class Content : uint8_t {
  Metadata,
  References,  // and what names or selects other objects (Pick::References)
  Whole,
};

struct StreamedObject {
  std::string apiVersion;  // as the object says; empty in many lists of whole objects
  std::string kind;        // "PartialObjectMetadata" where metadata alone was sent
  kube::ObjectMeta meta;   // has a name
  // With Content::Whole all of it, managedFields too; with Content::References what is kept; otherwise null.
  kube::Value content;
  // Why it could not be read; empty: it was. Then no more is known than the namespace, name, uid and
  // resourceVersion, or not even these: they are empty.
  std::string unread = {};
};

// "a/b cannot be read: why", of an object that could not be.
std::string whyUnread(const StreamedObject& object);

// One object as it stands in an answer. Fails on what is no object with metadata as kube::parseMeta wants it,
// and on a missing name.
kube::Result<StreamedObject> decodeObject(std::string_view json, Content content,
                                          const StreamLimits& limits = {});

// The object of a type that was asked for; apiVersion and kind, where they are missing or are those of
// PartialObjectMetadata, are the type's.
kube::Object toObject(StreamedObject object, const kube::ResourceType& type);

// What stands around the items of a list.
struct ListEnd {
  std::string apiVersion;
  std::string kind;                  // "PodList", "PartialObjectMetadataList"
  std::string resourceVersion;       // empty: the server gave none, and no watch can go on from it
  std::string continueToken;         // empty: that was the last page
  std::optional<int64_t> remaining;  // items on the pages to come; a guess, where the server makes one
};

// One item that cannot be read (StreamedObject::unread) is taken like the others, so that nobody's object
// hides those of others.
class ListStream {
 public:
  using TakeObject = std::function<void(StreamedObject object)>;
  // Returns false for the text of an item that need not be read: the item then counts as part of the list,
  // and is not checked further.
  using Wants = std::function<bool(std::string_view item)>;

  ListStream(Content content, TakeObject take, const StreamLimits& limits = {});
  ListStream(Content content, Wants wants, TakeObject take, const StreamLimits& limits = {});

  // Fails on what is no list; what was taken before it was taken, and the rest is not known.
  kube::Result<void> push(std::string_view piece) { return splitter_.push(piece); }
  // Fails unless it was a whole list: only then is what it does not name not there.
  kube::Result<ListEnd> finish();
  size_t items() const { return splitter_.items(); }  // so far, read or not

 private:
  StreamLimits limits_;
  ItemSplitter splitter_;
};

enum class EventType : uint8_t { Added, Modified, Deleted, Bookmark, Error };

struct WatchEvent {
  EventType type = EventType::Error;
  StreamedObject object;  // of a Bookmark, its resourceVersion and annotations; of an Error nothing
  ServerStatus status;    // of an Error
};

// One line of a watch, empty if it was too long. The object of an event that cannot be read, or has no name
// or resourceVersion, is StreamedObject::unread. Fails on what is no event, on a bookmark without a
// resourceVersion, on an ERROR without a Status.
kube::Result<WatchEvent> decodeEvent(std::string_view line, Content content, const StreamLimits& limits = {});

class WatchStream {
 public:
  using TakeEvent = std::function<void(WatchEvent event)>;

  WatchStream(Content content, TakeEvent take, const StreamLimits& limits = {});

  // Fails on the first line that is wrong; what was taken before it was taken.
  kube::Result<void> push(std::string_view piece) { return splitter_.push(piece); }
  // Fails when the stream ended inside an event.
  kube::Result<void> finish() { return splitter_.finish(); }

 private:
  LineSplitter splitter_;
};

}  // namespace lastout::client
