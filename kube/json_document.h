// JsonDocument: one JSON text, read and checked by simdjson (docs/decisions/simdjson.md). For what comes in
// great numbers; kube/parse.h is for what people write, as it knows places.
#pragma once

#include <simdjson.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace lastout::kube {

// Of its thread. What it answers lives as long as it does.
class JsonDocument {
 public:
  // What a thread keeps memory for; a longer text has memory of its own.
  static constexpr size_t kUsualBytes = size_t{64} << 10;

  // All of the text is checked: JSON (RFC 8259), UTF-8, lists and maps nested at most `deepest` deep (of
  // empty ones one deeper), numbers that fit 64 bits or a double. `text` need not outlive this.
  JsonDocument(std::string_view text, size_t deepest);
  ~JsonDocument();
  JsonDocument(const JsonDocument&) = delete;
  JsonDocument& operator=(const JsonDocument&) = delete;

  bool isWhole() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }  // "it is not UTF-8"; "": none
  simdjson::dom::element root() const { return root_; }    // of what is whole

 private:
  struct Usual;

  simdjson::error_code parse(std::string_view text, size_t deepest);

  Usual* usual_ = nullptr;                         // the thread's, in use
  std::unique_ptr<simdjson::dom::parser> larger_;  // where that is in use already, or too small
  simdjson::dom::element root_;
  std::string problem_;
};

}  // namespace lastout::kube
