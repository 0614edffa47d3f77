// SourceText: the text that a parser reads, checked once, with places for messages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/parse.h"
#include "kube/result.h"

namespace lastout::kube {

class SourceText {
 public:
  // Fails on too many bytes, on bytes that are not UTF-8, and on NUL and other control characters (all but
  // YAML 1.2's c-printable): what a binary file would trip over. A byte order mark is left out; a second one
  // is refused, for the libraries behind this would leave it out and count differently. `text` and
  // `file` must outlive the result.
  static Result<SourceText> checked(std::string_view text, std::string_view file, const ParseLimits& limits);

  // Lines end with LF, CR LF or CR; columns count characters. Takes some 50 ns at any offset; one beyond the
  // end means the end.
  Position at(size_t offset) const;
  Error error(size_t offset, std::string message) const;

  std::string_view text() const { return text_; }
  std::string_view file() const { return file_; }

 private:
  SourceText(std::string_view text, std::string_view file) : text_(text), file_(file) {}
  std::optional<Error> checkCharacters() const;
  void placeBlocks();
  Position advance(Position from, size_t begin, size_t end) const;

  std::string_view text_;
  std::string_view file_;
  std::vector<Position>
      blocks_;  // the place of the first byte of each block of the text; empty before placeBlocks()
};

// The length of the UTF-8 sequence at the beginning of `text`, which is not empty; 0 when there is none.
size_t utf8Length(std::string_view text);

}  // namespace lastout::kube
