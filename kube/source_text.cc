#include "kube/source_text.h"

#include <algorithm>

#include "kube/encoding.h"

namespace lastout::kube {
namespace {

constexpr size_t kBlock = 64;  // bytes of a block: an eighth of the text's size is spent on places
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool isContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// A control character that is no white space, or one of the two non-characters at the end of the basic plane.
bool isUnprintable(std::string_view sequence) {
  const auto first = static_cast<unsigned char>(sequence[0]);
  if (sequence.size() == 1)
    return (first < 0x20 && first != '\t' && first != '\n' && first != '\r') || first == 0x7F;
  if (first == 0xC2) return static_cast<unsigned char>(sequence[1]) < 0xA0 && sequence[1] != '\x85';
  return sequence == "\xEF\xBF\xBE" || sequence == "\xEF\xBF\xBF";
}

std::string hexByte(char c) { return "0x" + hexOf(static_cast<unsigned char>(c)); }

}  // namespace

size_t utf8Length(std::string_view text) {
  const auto byte = [text](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return 1;
  // The second byte's range keeps out longer forms than needed, surrogates, and what is beyond U+10FFFF.
  size_t length = 0;
  unsigned char least = 0x80;
  unsigned char most = 0xBF;
  if (first >= 0xC2 && first <= 0xDF) {
    length = 2;
  } else if (first >= 0xE0 && first <= 0xEF) {
    length = 3;
    if (first == 0xE0) least = 0xA0;
    if (first == 0xED) most = 0x9F;
  } else if (first >= 0xF0 && first <= 0xF4) {
    length = 4;
    if (first == 0xF0) least = 0x90;
    if (first == 0xF4) most = 0x8F;
  }
  if (length == 0 || text.size() < length || byte(1) < least || byte(1) > most) return 0;
  for (size_t i = 2; i < length; ++i) {
    if (!isContinuation(text[i])) return 0;
  }
  return length;
}

Result<SourceText> SourceText::checked(std::string_view text, std::string_view file,
                                       const ParseLimits& limits) {
  if (text.size() > limits.bytes) {
    const std::string message = "the text has " + std::to_string(text.size()) + " bytes; at most " +
                                std::to_string(limits.bytes) + " are read";
    return tl::unexpected(Error{message, std::string(file), {}});
  }
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  SourceText source(text, file);
  if (text.starts_with(kByteOrderMark))
    return tl::unexpected(source.error(0, "the text begins with two byte order marks"));
  if (auto error = source.checkCharacters()) return tl::unexpected(std::move(*error));
  source.placeBlocks();
  return source;
}

std::optional<Error> SourceText::checkCharacters() const {
  for (size_t i = 0; i < text_.size();) {
    const auto byte = static_cast<unsigned char>(text_[i]);
    if (byte >= ' ' && byte < 0x7F) {
      ++i;
      continue;
    }
    const size_t length = utf8Length(text_.substr(i));
    if (length == 0) return error(i, "the byte " + hexByte(text_[i]) + " is not UTF-8; is this a text file?");
    if (isUnprintable(text_.substr(i, length))) {
      const std::string what = length == 1 ? "the byte " + hexByte(text_[i]) : "what stands here";
      return error(i, what + " is a control character; is this a text file?");
    }
    i += length;
  }
  return std::nullopt;
}

void SourceText::placeBlocks() {
  blocks_.reserve(text_.size() / kBlock + 1);
  blocks_.push_back({1, 1});
  for (size_t end = kBlock; end <= text_.size(); end += kBlock) {
    blocks_.push_back(advance(blocks_.back(), end - kBlock, end));
  }
}

// The place of `end`, given that of `begin`.
Position SourceText::advance(Position from, size_t begin, size_t end) const {
  for (size_t i = begin; i < end; ++i) {
    const char c = text_[i];
    if (c == '\n' || (c == '\r' && (i + 1 == text_.size() || text_[i + 1] != '\n'))) {
      ++from.line;
      from.column = 1;
    } else if (!isContinuation(c)) {
      ++from.column;
    }
  }
  return from;
}

Position SourceText::at(size_t offset) const {
  offset = std::min(offset, text_.size());
  const size_t block = offset / kBlock;
  if (block < blocks_.size()) return advance(blocks_[block], block * kBlock, offset);
  return advance({1, 1}, 0, offset);
}

Error SourceText::error(size_t offset, std::string message) const {
  return {std::move(message), std::string(file_), at(offset)};
}

}  // namespace lastout::kube
