// ItemSplitter and LineSplitter: cut what an API server sends into single objects while it comes, so that no
// more than one of them is held at a time. Both look at brackets and strings alone; whoever reads an object
// checks the rest.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "kube/result.h"

namespace lastout::client {

struct StreamLimits {
  size_t depth = 256;                     // nesting of what is kept of one object
  size_t itemBytes = size_t{8} << 20;     // of an item of a list, of a line of a watch
  size_t frameBytes = size_t{256} << 10;  // of what stands around the items of a list
  size_t values = 200'000;                // what is kept of one object: strings, numbers, maps, lists
};

// What to do with the text of an item or a line, which is valid during the call; an error ends the splitting.
// A text longer than StreamLimits::itemBytes is skipped: the call gets an empty text in its place.
using TakeText = std::function<kube::Result<void>(std::string_view text)>;

// Inside one JSON text, at any byte: where strings and brackets begin and end.
class BracketScanner {
 public:
  // Reads on from `text[from]` until the bracket that closes the innermost `floor` + 1 is behind it; answers
  // the offset behind that, or npos when the text ends first. Fails (ok() is false) where none is open.
  size_t skip(std::string_view text, size_t from, size_t floor);
  // One byte.
  void step(char byte);

  size_t depth() const { return depth_; }
  bool inString() const { return inString_; }
  bool ok() const { return ok_; }

 private:
  size_t depth_ = 0;
  bool inString_ = false;
  bool escaped_ = false;
  bool ok_ = true;
};

// Cuts `{"kind": ..., "items": [{...}, {...}], ...}`, in pieces of any size, into its items and its frame.
class ItemSplitter {
 public:
  explicit ItemSplitter(TakeText item, const StreamLimits& limits = {});

  // Fails on what cannot be a list (no object at the top, an item that is none, a second "items"), on a frame
  // beyond the limits, and with the error of an item; then every later call fails with the same.
  kube::Result<void> push(std::string_view piece);
  // The frame: the text of the list with `[]` in the place of its items. Fails when the list is not whole.
  kube::Result<std::string> finish();

  size_t items() const { return items_; }  // so far
  bool hadItems() const { return hadItems_; }

 private:
  enum class Place : uint8_t { Frame, Items, Item };

  kube::Result<void> frame(std::string_view piece, size_t& offset);
  kube::Result<void> between(std::string_view piece, size_t& offset);
  kube::Result<void> item(std::string_view piece, size_t& offset);
  kube::Result<void> frameByte(char byte);
  kube::Error itemError(const std::string& what) const;
  tl::unexpected<kube::Error> fail(kube::Error error);

  TakeText take_;
  StreamLimits limits_;
  BracketScanner scanner_;
  Place place_ = Place::Frame;
  std::string frame_;
  std::string begun_;       // the item that an earlier piece began
  std::string key_;         // the last key at the top of the list, as it is written
  bool wantsKey_ = false;   // at the top of the list, the next string is a key
  bool hasValue_ = false;   // the value of key_ has begun
  bool afterComma_ = true;  // between items: another one must or may begin
  bool tooLong_ = false;    // the current item is
  bool hadItems_ = false;
  bool complete_ = false;
  size_t items_ = 0;
  std::optional<kube::Error> error_;
};

// Cuts the answer to a watch into its lines, one event each; blank ones are left out.
class LineSplitter {
 public:
  explicit LineSplitter(TakeText line, const StreamLimits& limits = {});

  // Fails with the error of a line; then every later call fails with the same.
  kube::Result<void> push(std::string_view piece);
  // Fails when the stream ended inside a line.
  kube::Result<void> finish();

 private:
  kube::Result<void> take(std::string_view line);

  TakeText take_;
  size_t mostBytes_;
  std::string begun_;
  bool tooLong_ = false;  // the current line is
  std::optional<kube::Error> error_;
};

}  // namespace lastout::client
