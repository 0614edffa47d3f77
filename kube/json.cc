// JSON text into a Value, through nlohmann's events.
#include <limits>
#include <nlohmann/json.hpp>

#include "kube/messages.h"
#include "kube/parse.h"
#include "kube/value_builder.h"

namespace lastout::kube {
namespace {

// The events carry no places. They come in the order of the text, so a cursor that steps over one token at
// each event knows them.
class JsonHandler : public nlohmann::json_sax<nlohmann::json> {
 public:
  JsonHandler(const SourceText& source, const ParseLimits& limits)
      : source_(source), builder_(source, limits) {}

  bool null() override { return builder_.scalar(std::monostate(), nextToken()); }
  bool boolean(bool value) override { return builder_.scalar(value, nextToken()); }
  bool number_integer(number_integer_t value) override { return builder_.scalar(value, nextToken()); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return builder_.scalar(static_cast<int64_t>(value), nextToken());
    }
    return builder_.scalar(static_cast<double>(value), nextToken());
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override {
    return builder_.scalar(value, nextToken());
  }
  bool string(string_t& value) override { return builder_.scalar(std::move(value), nextToken()); }
  bool binary(binary_t& /*value*/) override { return builder_.fail(offset_, "JSON has no binary values"); }
  bool start_object(size_t /*size*/) override { return builder_.beginMap(nextToken()); }
  bool key(string_t& text) override { return builder_.key(std::move(text), nextToken()); }
  bool end_object() override { return endOfCollection(); }
  bool start_array(size_t /*size*/) override { return builder_.beginList(nextToken()); }
  bool end_array() override { return endOfCollection(); }
  bool parse_error(size_t position, const std::string& /*token*/,
                   const nlohmann::detail::exception& error) override;

  ValueBuilder& builder() { return builder_; }

 private:
  bool endOfCollection() {
    nextToken();
    return builder_.end();
  }
  size_t nextToken();

  const SourceText& source_;
  ValueBuilder builder_;
  size_t offset_ = 0;  // behind the last token
};

// Steps over white space, separators and one token; answers where the token begins.
size_t JsonHandler::nextToken() {
  const std::string_view text = source_.text();
  const size_t begin = std::min(text.find_first_not_of(" \t\r\n,:", offset_), text.size());
  offset_ = begin;
  if (begin == text.size()) return begin;
  const char first = text[begin];
  if (first == '"') {
    size_t end = begin + 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    offset_ = std::min(end + 1, text.size());
  } else if (first == '{' || first == '}' || first == '[' || first == ']') {
    offset_ = begin + 1;
  } else {
    offset_ = std::min(text.find_first_of(" \t\r\n,:]}", begin), text.size());
  }
  return begin;
}

bool JsonHandler::parse_error(size_t position, const std::string& /*token*/,
                              const nlohmann::detail::exception& error) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: <what>"; out_of_range.406 has no
  // place.
  std::string what = error.what();
  if (error.id == 406) return builder_.fail(nextToken(), "the number is too large");
  for (const std::string_view before : {"] ", "parse error at line ", ": "}) {
    const size_t found = what.find(before);
    if (found != std::string::npos) what.erase(0, found + before.size());
  }
  return builder_.fail(position == 0 ? 0 : position - 1, "this is no valid JSON: " + printable(what));
}

}  // namespace

Result<Value> parseJson(std::string_view text, std::string_view file, const ParseLimits& limits) {
  const auto source = SourceText::checked(text, file, limits);
  if (!source) return tl::unexpected(source.error());
  JsonHandler handler(*source, limits);
  const std::string_view checked = source->text();
  const bool parsed = nlohmann::json::sax_parse(checked.begin(), checked.end(), &handler);
  if (handler.builder().error()) return tl::unexpected(*handler.builder().error());
  if (!parsed) return tl::unexpected(source->error(text.size(), "this is no valid JSON"));
  return handler.builder().take();
}

}  // namespace lastout::kube
