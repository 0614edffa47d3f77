// Any bytes as the answer to a list and to a watch: what is cut at other places gives the same objects,
// events and errors, and an object that was taken is one by nlohmann's own reading.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "client/metadata_stream.h"
#include "fuzz/check.h"
#include "kube/messages.h"

using lastout::fuzz::check;
namespace client = lastout::client;

namespace {

struct Outcome {
  std::vector<std::string> objects;
  bool anyUnread = false;
  std::string end;  // or the error
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

client::StreamLimits smallLimits() {
  client::StreamLimits limits;
  limits.itemBytes = 2'000;
  limits.frameBytes = 500;
  limits.values = 300;
  return limits;
}

std::string textOf(const client::StreamedObject& object) {
  return object.apiVersion + " " + object.kind + " " + object.meta.namespaceName + "/" + object.meta.name +
         " " + object.meta.uid + " " + object.meta.resourceVersion + " " +
         lastout::kube::toJson(object.content).dump() + " " + lastout::kube::printable(object.unread);
}

// The first piece has `first` bytes, the others `size`.
template <class Stream>
std::string pushAll(Stream& stream, std::string_view text, size_t first, size_t size) {
  auto done = stream.push(text.substr(0, first));
  for (size_t i = first; i < text.size() && done; i += size) done = stream.push(text.substr(i, size));
  if (!done) check(!stream.finish(), "nothing is whole after an error");
  return done ? "" : done.error().message;
}

Outcome list(std::string_view text, client::Content content, size_t first, size_t size) {
  Outcome outcome;
  client::ListStream stream(
      content,
      [&](const client::StreamedObject& object) {
        outcome.objects.push_back(textOf(object));
        outcome.anyUnread = outcome.anyUnread || !object.unread.empty();
      },
      smallLimits());
  outcome.end = pushAll(stream, text, first, size);
  if (!outcome.end.empty()) return outcome;
  const auto end = stream.finish();
  outcome.end = end ? "whole " + end->kind + " " + end->resourceVersion + " " + end->continueToken
                    : end.error().message;
  if (!end) return outcome;
  const auto json = nlohmann::json::parse(text, nullptr, false);
  check(outcome.anyUnread || (json.is_object() && json.contains("items")), "a whole list is JSON",
        std::string(text));
  if (!json.is_object()) return outcome;
  check(json["items"].size() == outcome.objects.size(), "each item of a whole list was taken",
        std::string(text));
  return outcome;
}

Outcome watch(std::string_view text, client::Content content, size_t first, size_t size) {
  Outcome outcome;
  client::WatchStream stream(
      content,
      [&](const client::WatchEvent& event) {
        outcome.objects.push_back(std::to_string(static_cast<int>(event.type)) + textOf(event.object) +
                                  toString(event.status));
        (void)nlohmann::json(outcome.objects.back()).dump();  // throws unless it is UTF-8
      },
      smallLimits());
  outcome.end = pushAll(stream, text, first, size);
  if (!outcome.end.empty()) return outcome;
  const auto end = stream.finish();
  outcome.end = end ? "whole" : end.error().message;
  return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const size_t first = data[0];
  const size_t piece = size_t{data[1] % 64U} + 1;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  for (const auto content :
       {client::Content::Metadata, client::Content::References, client::Content::Whole}) {
    check(list(text, content, text.size(), 1) == list(text, content, first, piece),
          "pieces make no difference to a list");
    check(watch(text, content, text.size(), 1) == watch(text, content, first, piece),
          "pieces make no difference to a watch");
  }
  return 0;
}
