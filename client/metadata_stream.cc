#include "client/metadata_stream.h"

#include <utility>

#include "client/value_picker.h"
#include "kube/messages.h"
#include "kube/value.h"

namespace lastout::client {
namespace {

constexpr std::string_view kPartial = "PartialObjectMetadata";

struct Picks {
  Pick object;
  Pick event;
};

Picks picksOf(Content content) {
  switch (content) {
    case Content::Whole:
      return {Pick::All, Pick::WholeEvent};
    case Content::References:
      return {Pick::References, Pick::ReferencesEvent};
    case Content::Metadata:
      break;
  }
  return {Pick::Object, Pick::Event};
}

// Of an object that is too large to keep what it refers to, what is kept of any: nobody's object is to hide
// all others of its type.
kube::Result<kube::Value> pickWithin(std::string_view text, Content content, Pick wanted, Pick least,
                                     const StreamLimits& limits) {
  auto value = pickValue(text, wanted, limits);
  return value || content != Content::References ? std::move(value) : pickValue(text, least, limits);
}

kube::Error streamError(std::string message) { return {std::move(message), {}, {}}; }

// `object` is moved from where its content is wanted.
kube::Result<StreamedObject> readObject(kube::Value object, Content content) {
  const kube::Value* metadata = object.find("metadata");
  if (metadata == nullptr || metadata->asMap() == nullptr)
    return tl::unexpected(streamError("it is no object with metadata"));
  auto meta = kube::parseMeta(*metadata, {});
  if (!meta) return tl::unexpected(std::move(meta.error()));
  StreamedObject result;
  result.apiVersion = kube::textAt(object, {"apiVersion"});
  result.kind = kube::textAt(object, {"kind"});
  result.meta = std::move(*meta);
  if (content != Content::Metadata) result.content = std::move(object);
  return result;
}

std::optional<EventType> eventType(std::string_view word) {
  if (word == "ADDED") return EventType::Added;
  if (word == "MODIFIED") return EventType::Modified;
  if (word == "DELETED") return EventType::Deleted;
  if (word == "BOOKMARK") return EventType::Bookmark;
  if (word == "ERROR") return EventType::Error;
  return std::nullopt;
}

// Returns an object that could not be read, with what is known of it. `object` is what Pick::Identity kept;
// it is null if not even that could be read.
StreamedObject unreadObject(const kube::Value& object, std::string why) {
  StreamedObject unread;
  unread.unread = std::move(why);
  const auto text = [&object](std::string_view key) { return kube::textAt(object, {"metadata", key}); };
  if (text("name").empty() || text("resourceVersion").empty()) return unread;
  unread.meta.namespaceName = text("namespace");
  unread.meta.name = text("name");
  unread.meta.uid = text("uid");
  unread.meta.resourceVersion = text("resourceVersion");
  return unread;
}

StreamedObject tooLong(const StreamLimits& limits) {
  return unreadObject({}, "it is longer than " + std::to_string(limits.itemBytes) + " bytes");
}

StreamedObject decodeItem(std::string_view text, Content content, const StreamLimits& limits) {
  if (text.empty()) return tooLong(limits);
  auto object = decodeObject(text, content, limits);
  if (object) return std::move(*object);
  return unreadObject(pickValue(text, Pick::Identity, limits).value_or(kube::Value()),
                      std::move(object.error().message));
}

// An event of an object that cannot be read; nullopt: it is of no object.
std::optional<WatchEvent> eventOfUnread(std::string_view line, std::string why, const StreamLimits& limits) {
  const auto identity = pickValue(line, Pick::IdentityEvent, limits);
  const auto type = identity ? eventType(kube::textAt(*identity, {"type"})) : std::nullopt;
  if (!type || *type == EventType::Bookmark || *type == EventType::Error) return std::nullopt;
  const kube::Value* object = identity->find("object");
  return WatchEvent{*type, unreadObject(object == nullptr ? kube::Value() : *object, std::move(why)), {}};
}

void setMember(kube::Value& object, std::string_view key, const std::string& text) {
  auto* map = std::get_if<kube::Value::Map>(&object.data);
  if (map == nullptr) return;
  for (kube::Member& member : *map) {
    if (member.key != key) continue;
    member.value.data = text;
    return;
  }
  map->insert(map->begin(), {std::string(key), {}, {text, {}}});
}

}  // namespace

kube::Result<StreamedObject> decodeObject(std::string_view json, Content content,
                                          const StreamLimits& limits) {
  auto value = pickWithin(json, content, picksOf(content).object, Pick::Object, limits);
  if (!value) return tl::unexpected(std::move(value.error()));
  auto object = readObject(std::move(*value), content);
  if (object && object->meta.name.empty()) return tl::unexpected(streamError("it has no name"));
  return object;
}

std::string whyUnread(const StreamedObject& object) {
  const kube::ObjectMeta& meta = object.meta;
  return (meta.namespaceName.empty() ? "" : meta.namespaceName + "/") +
         (meta.name.empty() ? "an object" : kube::printable(meta.name)) +
         " cannot be read: " + kube::printable(object.unread);
}

kube::Object toObject(StreamedObject streamed, const kube::ResourceType& type) {
  kube::Object object;
  const bool partial = streamed.kind == kPartial;
  object.kind = partial || streamed.kind.empty() ? type.kind : streamed.kind;
  object.apiVersion = std::move(streamed.apiVersion);
  if (partial || object.apiVersion.empty())
    object.apiVersion = type.type.group.empty() ? type.version : type.type.group + "/" + type.version;
  object.key = {type.type, streamed.meta.namespaceName, streamed.meta.name};
  object.meta = std::move(streamed.meta);
  object.content = std::move(streamed.content);
  setMember(object.content, "kind", object.kind);
  setMember(object.content, "apiVersion", object.apiVersion);
  return object;
}

ListStream::ListStream(Content content, TakeObject take, const StreamLimits& limits)
    : ListStream(
          content, [](std::string_view) { return true; }, std::move(take), limits) {}

ListStream::ListStream(Content content, Wants wants, TakeObject take, const StreamLimits& limits)
    : limits_(limits),
      splitter_(
          [content, wants = std::move(wants), take = std::move(take),
           limits](std::string_view text) -> kube::Result<void> {
            if (text.empty() || wants(text)) take(decodeItem(text, content, limits));
            return {};
          },
          limits) {}

kube::Result<ListEnd> ListStream::finish() {
  const auto text = splitter_.finish();
  if (!text) return tl::unexpected(text.error());
  const auto frame = pickValue(*text, Pick::All, limits_);
  if (!frame) return tl::unexpected(streamError("the list is " + frame.error().message));
  ListEnd end;
  end.apiVersion = kube::textAt(*frame, {"apiVersion"});
  end.kind = kube::textAt(*frame, {"kind"});
  const kube::Value* items = frame->find("items");
  // Go writes a list without items as null where it was never filled.
  const bool empty =
      items != nullptr && (items->isNull() || (items->asList() != nullptr && items->asList()->empty()));
  if (!empty || !end.kind.ends_with("List"))
    return tl::unexpected(streamError("the answer is no list, but " + kube::inQuotes(end.kind)));
  const kube::Value* metadata = frame->find("metadata");
  if (metadata == nullptr || metadata->asMap() == nullptr)
    return tl::unexpected(streamError("the list has no metadata"));
  end.resourceVersion = kube::textAt(*metadata, {"resourceVersion"});
  end.continueToken = kube::textAt(*metadata, {"continue"});
  const kube::Value* remaining = metadata->find("remainingItemCount");
  if (remaining != nullptr && remaining->asInteger() != nullptr) end.remaining = *remaining->asInteger();
  return end;
}

namespace {

kube::Result<WatchEvent> decodeWholeEvent(std::string_view line, Content content,
                                          const StreamLimits& limits) {
  auto value = pickWithin(line, content, picksOf(content).event, Pick::Event, limits);
  if (!value)
    return tl::unexpected(streamError("an event of the watch cannot be read: " + value.error().message));
  const std::string word = kube::textAt(*value, {"type"});
  const auto type = eventType(word);
  if (!type) return tl::unexpected(streamError("the watch has an event of type " + kube::inQuotes(word)));
  auto* members = std::get_if<kube::Value::Map>(&value->data);
  kube::Value object;
  for (kube::Member& member : *members) {
    if (member.key == "object") object = std::move(member.value);
  }
  const auto unusable = [&word](const kube::Error& error) {
    return tl::unexpected(
        streamError("the object of an event " + word + " cannot be read: " + error.message));
  };

  WatchEvent event;
  event.type = *type;
  if (event.type == EventType::Error) {
    auto status = statusOf(object);
    if (!status) return unusable(status.error());
    event.status = std::move(*status);
    return event;
  }
  auto read = readObject(std::move(object), content);
  if (!read) return unusable(read.error());
  event.object = std::move(*read);
  if (event.type != EventType::Bookmark && event.object.meta.name.empty())
    return unusable(streamError("it has no name"));
  if (event.object.meta.resourceVersion.empty()) return unusable(streamError("it has no resourceVersion"));
  return event;
}

}  // namespace

kube::Result<WatchEvent> decodeEvent(std::string_view line, Content content, const StreamLimits& limits) {
  if (line.empty()) return WatchEvent{EventType::Modified, tooLong(limits), {}};
  auto event = decodeWholeEvent(line, content, limits);
  if (event) return event;
  if (auto unread = eventOfUnread(line, event.error().message, limits)) return std::move(*unread);
  return event;
}

WatchStream::WatchStream(Content content, TakeEvent take, const StreamLimits& limits)
    : splitter_(
          [content, take = std::move(take), limits](std::string_view line) -> kube::Result<void> {
            auto event = decodeEvent(line, content, limits);
            if (!event) return tl::unexpected(std::move(event.error()));
            take(std::move(*event));
            return {};
          },
          limits) {}

}  // namespace lastout::client
