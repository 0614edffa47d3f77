#include "client/item_splitter.h"

#include <utility>

namespace lastout::client {
namespace {

constexpr std::string_view kJsonBlanks = " \t\r\n";
constexpr size_t kKeptBuffer = size_t{64} << 10;  // bytes that an empty buffer may go on holding

bool isJsonBlank(char byte) { return kJsonBlanks.find(byte) != std::string_view::npos; }

void empty(std::string& buffer) {
  buffer.clear();
  if (buffer.capacity() > kKeptBuffer) buffer.shrink_to_fit();
}

// Appends the piece, which may end it, to what has come of an item or a line, and returns all of it; empty:
// it is longer than `most`, and is dropped.
std::string_view gathered(std::string& begun, bool& tooLong, std::string_view piece, bool ends, size_t most) {
  tooLong = tooLong || begun.size() + piece.size() > most;
  if (tooLong) {
    empty(begun);
    return {};
  }
  if (ends && begun.empty()) return piece;
  begun += piece;
  return begun;
}

}  // namespace

void BracketScanner::step(char byte) {
  if (inString_) {
    if (escaped_) {
      escaped_ = false;
    } else if (byte == '\\') {
      escaped_ = true;
    } else if (byte == '"') {
      inString_ = false;
    }
    return;
  }
  if (byte == '"') {
    inString_ = true;
  } else if (byte == '{' || byte == '[') {
    ++depth_;
  } else if (byte == '}' || byte == ']') {
    if (depth_ == 0) {
      ok_ = false;
    } else {
      --depth_;
    }
  }
}

size_t BracketScanner::skip(std::string_view text, size_t from, size_t floor) {
  for (size_t i = from; i < text.size(); ++i) {
    if (inString_ && !escaped_) {  // most bytes are inside strings; find_first_of() is slow for two
      while (i < text.size() && text[i] != '"' && text[i] != '\\') ++i;
      if (i == text.size()) return std::string_view::npos;
    }
    step(text[i]);
    if (!ok_) return std::string_view::npos;
    if (depth_ <= floor && !inString_) return i + 1;
  }
  return std::string_view::npos;
}

ItemSplitter::ItemSplitter(TakeText item, const StreamLimits& limits)
    : take_(std::move(item)), limits_(limits) {}

tl::unexpected<kube::Error> ItemSplitter::fail(kube::Error error) {
  error_ = std::move(error);
  return tl::unexpected(*error_);
}

kube::Error ItemSplitter::itemError(const std::string& what) const {
  return {"item " + std::to_string(items_ + 1) + " of the list " + what, {}, {}};
}

kube::Result<void> ItemSplitter::push(std::string_view piece) {
  if (error_) return tl::unexpected(*error_);
  size_t offset = 0;
  while (offset < piece.size()) {
    kube::Result<void> done;
    if (place_ == Place::Frame) {
      done = frame(piece, offset);
    } else if (place_ == Place::Items) {
      done = between(piece, offset);
    } else {
      done = item(piece, offset);
    }
    if (!done) return fail(std::move(done.error()));
  }
  return {};
}

// What is neither an item nor between items: small, and read byte by byte.
kube::Result<void> ItemSplitter::frame(std::string_view piece, size_t& offset) {
  while (offset < piece.size() && place_ == Place::Frame) {
    if (auto done = frameByte(piece[offset++]); !done) return done;
  }
  return {};
}

kube::Result<void> ItemSplitter::frameByte(char byte) {
  const auto wrong = [](const char* what) { return tl::unexpected(kube::Error{what, {}, {}}); };
  if (frame_.size() >= limits_.frameBytes) return wrong("the list has too much besides its items");
  const bool structural = !scanner_.inString();
  const size_t depth = scanner_.depth();
  if (structural && depth == 0 && !isJsonBlank(byte) && (complete_ || byte != '{'))
    return wrong("the answer is no JSON object, so no list");
  scanner_.step(byte);
  if (!scanner_.ok() || scanner_.depth() > limits_.depth) return wrong("the list is nested too deep");
  frame_ += byte;
  if (structural && byte == '{' && depth == 0) wantsKey_ = true;
  if (scanner_.depth() == 0) complete_ = complete_ || depth == 1;
  if (depth != 1) return {};

  if (!structural) {
    if (wantsKey_ && scanner_.inString()) key_ += byte;
    if (wantsKey_ && !scanner_.inString()) wantsKey_ = false;
  } else if (byte == '"' && wantsKey_) {
    key_.clear();
    hasValue_ = false;
  } else if (byte == ',') {
    wantsKey_ = true;
    key_.clear();
  } else if (byte == '[' && key_ == "items" && !hasValue_) {
    if (hadItems_) return wrong("the list has \"items\" twice");
    hadItems_ = true;
    afterComma_ = true;
    place_ = Place::Items;
  } else if (byte != ':' && !isJsonBlank(byte)) {
    hasValue_ = true;
  }
  return {};
}

kube::Result<void> ItemSplitter::between(std::string_view piece, size_t& offset) {
  offset = piece.find_first_not_of(kJsonBlanks, offset);
  if (offset == std::string_view::npos) {
    offset = piece.size();
    return {};
  }
  const char byte = piece[offset];
  if (byte == ']' && (!afterComma_ || items_ == 0)) {
    place_ = Place::Frame;
    scanner_.step(byte);
    frame_ += byte;
    hasValue_ = true;
    ++offset;
  } else if (byte == ',' && !afterComma_) {
    afterComma_ = true;
    ++offset;
  } else if (byte == '{' && afterComma_) {
    place_ = Place::Item;
  } else {
    return tl::unexpected(itemError("is no object"));
  }
  return {};
}

kube::Result<void> ItemSplitter::item(std::string_view piece, size_t& offset) {
  const size_t begin = offset;
  // The scanner stands at depth 2 before the item's first bracket, which is a part of the first piece of it.
  if (scanner_.depth() == 2) scanner_.step(piece[offset++]);
  const size_t end = scanner_.skip(piece, offset, 2);
  offset = end == std::string_view::npos ? piece.size() : end;
  const std::string_view text = gathered(begun_, tooLong_, piece.substr(begin, offset - begin),
                                         end != std::string_view::npos, limits_.itemBytes);
  if (end == std::string_view::npos) return {};
  auto taken = take_(text);
  empty(begun_);
  tooLong_ = false;
  if (!taken) {
    taken.error().message = itemError("cannot be read: ").message + taken.error().message;
    return taken;
  }
  ++items_;
  afterComma_ = false;
  place_ = Place::Items;
  return {};
}

kube::Result<std::string> ItemSplitter::finish() {
  if (error_) return tl::unexpected(*error_);
  if (!complete_) return fail({"the list ended before it was whole", {}, {}});
  return frame_;
}

LineSplitter::LineSplitter(TakeText line, const StreamLimits& limits)
    : take_(std::move(line)), mostBytes_(limits.itemBytes) {}

kube::Result<void> LineSplitter::take(std::string_view line) {
  if (line.find_first_not_of(kJsonBlanks) == std::string_view::npos) return {};
  return take_(line);
}

kube::Result<void> LineSplitter::push(std::string_view piece) {
  if (error_) return tl::unexpected(*error_);
  while (!piece.empty()) {
    const size_t end = piece.find('\n');
    const std::string_view text =
        gathered(begun_, tooLong_, piece.substr(0, end), end != std::string_view::npos, mostBytes_);
    if (end == std::string_view::npos) return {};
    auto taken = tooLong_ ? take_({}) : take(text);
    empty(begun_);
    tooLong_ = false;
    if (!taken) {
      error_ = std::move(taken.error());
      return tl::unexpected(*error_);
    }
    piece.remove_prefix(end + 1);
  }
  return {};
}

kube::Result<void> LineSplitter::finish() {
  if (error_) return tl::unexpected(*error_);
  if (!tooLong_ && begun_.find_first_not_of(kJsonBlanks) == std::string::npos) return {};
  error_ = {"the watch was cut off inside an event", {}, {}};
  return tl::unexpected(*error_);
}

}  // namespace lastout::client
