// YAML text into Values, through yaml-cpp's events: its document loader would accept duplicate keys, read 010
// as 8 and unfold alias bombs without a limit.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <istream>
#include <optional>
#include <streambuf>

#include "kube/helm_template.h"
#include "kube/messages.h"
#include "kube/parse.h"
#include "kube/value_builder.h"
#include "kube/yaml_scalar.h"

namespace lastout::kube {
namespace {

// yaml-cpp turns all of a flow collection, and all of a line, into tokens of some 200 bytes before it gives
// the first event of it. This many characters that may begin a token bound the memory of that; no object that
// a cluster would accept comes near.
constexpr size_t kMostPending = 1'000'000;

constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";
constexpr std::string_view kMergeTag = "tag:yaml.org,2002:merge";

constexpr std::string_view kBlanks = " \t\r\n";

std::string unknownTag(const std::string& tag) {
  const bool core = tag.starts_with(kCoreTag);
  const std::string written = core ? "!!" + tag.substr(kCoreTag.size()) : tag;
  return "the tag " + inQuotes(written) + " does not fit here: only the core schema's are read, or none";
}

// Ends the parsing from inside a handler; never leaves this file. The builder has the error.
struct Stop {};

// Feeds the text, and ends it early when it is read too far ahead of the events.
class BoundedReader : public std::streambuf {
 public:
  explicit BoundedReader(std::string_view text) : rest_(text) {}
  void progress() { pending_ = 0; }
  bool stopped() const { return stopped_; }

 protected:
  int_type underflow() override {
    const std::string_view chunk = rest_.substr(0, kChunk);
    for (const char c : chunk) count(c);
    stopped_ = stopped_ || pending_ > kMostPending;
    if (chunk.empty() || stopped_) return traits_type::eof();
    rest_.remove_prefix(chunk.size());
    // The buffer is only read; std::streambuf has no other way to say so.
    char* begin = const_cast<char*>(chunk.data());  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    setg(begin, begin, begin + chunk.size());
    return traits_type::to_int_type(*begin);
  }

 private:
  static constexpr size_t kChunk = 4096;
  static constexpr std::array<bool, 256> kBeginsToken = [] {
    std::array<bool, 256> begins{};
    for (const char c : std::string_view("[]{},:\"'!&*?#")) begins.at(static_cast<unsigned char>(c)) = true;
    return begins;
  }();

  // A line may also begin with the mark of a document or with a directive, whose words are kept one by one.
  void count(char c) {
    if (lineBegins_) inDirective_ = c == '%';
    const bool begins = kBeginsToken.at(static_cast<unsigned char>(c)) ||
                        (lineBegins_ && (c == '-' || c == '.')) || (inDirective_ && c == ' ');
    pending_ += begins ? 1 : 0;
    lineBegins_ = c == '\n' || c == '\r';
  }

  std::string_view rest_;
  size_t pending_ = 0;  // since the last event
  bool lineBegins_ = true;
  bool inDirective_ = false;
  bool stopped_ = false;
};

// Two escapes, "\N" and "\_", come out of yaml-cpp as Latin-1 bytes. Nothing else can break the UTF-8 of a
// scalar, since the text was checked.
std::string repairEscapes(const std::string& text) {
  std::string repaired;
  for (size_t i = 0; i < text.size();) {
    const size_t length = utf8Length(std::string_view(text).substr(i));
    if (length == 0) {
      repaired += '\xC2';
      repaired += text[i++];
    } else {
      repaired.append(text, i, length);
      i += length;
    }
  }
  return repaired;
}

class YamlHandler : public YAML::EventHandler {
 public:
  YamlHandler(const SourceText& source, const ParseLimits& limits, BoundedReader& reader)
      : source_(source), builder_(source, limits), reader_(reader) {}

  void OnDocumentStart(const YAML::Mark& mark) override;
  void OnDocumentEnd() override;
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    require(wantsValue(mark) && builder_.scalar(std::monostate(), offset(mark), anchor));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    last_ = offset(mark);
    require(builder_.alias(anchor, offset(mark)));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override;
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    checkCollectionTag(mark, tag, "seq");
    require(wantsValue(mark) && builder_.beginList(offset(mark), anchor));
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    checkCollectionTag(mark, tag, "map");
    require(wantsValue(mark) && builder_.beginMap(offset(mark), anchor));
  }
  void OnSequenceEnd() override { require(builder_.end()); }
  void OnMapEnd() override { require(builder_.end()); }

  const std::optional<Error>& error() const { return builder_.error(); }
  std::vector<Value> takeDocuments() { return std::move(documents_); }
  size_t offset(const YAML::Mark& mark) const {
    return mark.pos < 0 ? source_.text().size() : static_cast<size_t>(mark.pos);
  }
  size_t last() const { return last_; }
  bool endsInQuotes() const;

 private:
  void require(bool held) {
    reader_.progress();
    if (!held) throw Stop();
  }
  [[noreturn]] void fail(const YAML::Mark& mark, std::string_view message) {
    builder_.fail(offset(mark), std::string(message));
    throw Stop();
  }
  bool wantsValue(const YAML::Mark& mark) {
    last_ = offset(mark);
    return !builder_.wantsKey() || builder_.fail(offset(mark),
                                                 "a key may not be empty, and no list or map; "
                                                 "is a \"[\" or \"{\" not closed?");
  }
  void checkCollectionTag(const YAML::Mark& mark, const std::string& tag, std::string_view kind);
  Value::Data read(const YAML::Mark& mark, const std::string& tag, const std::string& text);

  const SourceText& source_;
  ValueBuilder builder_;
  BoundedReader& reader_;
  size_t last_ = 0;                             // offset of the last event
  size_t lastScalar_ = std::string_view::npos;  // offset of the last scalar, or of its tag or anchor
  std::vector<Value> documents_;
  bool first_ = true;  // no document was begun yet
};

// Whether "---" stands at the beginning of a line here, and not in front of more text.
bool isDocumentStart(std::string_view text, size_t begin) {
  const bool lineBegins = begin == 0 || text[begin - 1] == '\n' || text[begin - 1] == '\r';
  const size_t end = begin + 3;
  return lineBegins && text.substr(begin).starts_with("---") &&
         (end == text.size() || kBlanks.find(text[end]) != std::string_view::npos);
}

// yaml-cpp takes whatever follows a finished document for another one. A document after the first begins with
// "---" or follows "...".
void YamlHandler::OnDocumentStart(const YAML::Mark& mark) {
  const std::string_view text = source_.text();
  const size_t begin = std::min(offset(mark), text.size());
  const std::string_view between = text.substr(last_, begin - std::min(last_, begin));
  const bool ended =
      between.find("\n...") != std::string_view::npos || between.find("\r...") != std::string_view::npos;
  if (!first_ && !ended && !isDocumentStart(text, begin)) {
    fail(mark,
         "this is no valid YAML: what stands here does not belong to the value above; is the indentation "
         "right?");
  }
  first_ = false;
  reader_.progress();
}

void YamlHandler::OnDocumentEnd() {
  Value document = builder_.take();
  if (!document.isNull()) documents_.push_back(std::move(document));
}

void YamlHandler::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                           const std::string& text) {
  last_ = lastScalar_ = offset(mark);
  if (!builder_.wantsKey()) {
    Value::Data data = read(mark, tag, text);
    require(builder_.scalar(std::move(data), offset(mark), anchor));
    return;
  }
  if (text == "<<" && (tag == "?" || tag == kMergeTag)) {
    require(builder_.mergeKey(offset(mark)));
    return;
  }
  Value::Data data = read(mark, tag, text);
  // yaml-cpp takes the last item of a list that is not closed for a key.
  const bool isText = std::holds_alternative<std::string>(data);
  const size_t next = source_.text().find_first_not_of(kBlanks, offset(mark) + text.size());
  if (!isText && next == std::string_view::npos)
    fail(mark, "this is no valid YAML: a \"[\" or \"{\" is not closed");
  std::optional<std::string> key = mapKey(std::move(data));
  if (!key) fail(mark, "a key must be a string: put " + inQuotes(text) + " in quotes");
  require(builder_.key(std::move(*key), offset(mark), anchor));
}

void YamlHandler::checkCollectionTag(const YAML::Mark& mark, const std::string& tag, std::string_view kind) {
  if (tag == "?" || tag == "!" || tag == std::string(kCoreTag) + std::string(kind)) return;
  fail(mark, unknownTag(tag));
}

// "?" is the tag of a plain scalar, "!" that of a quoted one.
Value::Data YamlHandler::read(const YAML::Mark& mark, const std::string& tag, const std::string& text) {
  if (tag == "!" || tag == std::string(kCoreTag) + "str") return repairEscapes(text);
  std::optional<Value::Data> data = resolvePlainScalar(text);
  if (!data) {
    fail(mark, inQuotes(text) + " is no number that JSON can hold; put it in quotes if it is a string");
  }
  if (tag == "?") return std::move(*data);
  constexpr std::array<std::string_view, 4> kNames = {"null", "bool", "int", "float"};
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (tag != std::string(kCoreTag) + std::string(kNames.at(i))) continue;
    if (data->index() != i) fail(mark, inQuotes(text) + " is not what the tag before it says");
    return std::move(*data);
  }
  fail(mark, unknownTag(tag));
}

// Whether the text ended before the quotes of the last scalar were closed: yaml-cpp takes that for their end
// if a line break is the last it saw.
bool YamlHandler::endsInQuotes() const {
  const std::string_view text = source_.text();
  size_t open = lastScalar_;
  while (open < text.size() && (text[open] == '!' || text[open] == '&')) {
    open = text.find_first_not_of(kBlanks, text.find_first_of(kBlanks, open));
  }
  if (open >= text.size() || (text[open] != '"' && text[open] != '\'')) return false;
  const char quote = text[open];
  for (size_t i = open + 1; i < text.size(); ++i) {
    if (quote == '"' && text[i] == '\\') {
      ++i;
    } else if (text[i] == quote) {
      if (quote == '"' || i + 1 == text.size() || text[i + 1] != quote) return false;
      ++i;
    }
  }
  return true;
}

// yaml-cpp's messages name its own states; the most frequent ones in words that say what to do.
std::string inWords(const std::string& message) {
  struct Words {
    std::string_view theirs;
    std::string_view ours;
  };
  static constexpr std::array<Words, 9> kWords = {{
      {"the referenced anchor", "no anchor of this name stands above it in this document"},
      {"illegal map value",
       "a \":\" may not stand here; is the indentation right, by spaces alone? Text with \": \" in it needs "
       "quotes"},
      {"illegal block entry", "a list item may not stand here; is the indentation right?"},
      {"illegal tab", "a tab may not indent YAML; use spaces"},
      {"illegal EOF in scalar", "a quote is not closed"},
      {"end of map flow", "a \"{\" is not closed, or its fields lack a \",\" here"},
      {"end of sequence flow", "a \"[\" is not closed, or its items lack a \",\" here"},
      {"end of map", "what stands here does not belong to the map above; is the indentation right?"},
      {"end of sequence", "what stands here does not belong to the list above; is the indentation right?"},
  }};
  for (const Words& words : kWords) {
    if (message.starts_with(words.theirs)) return std::string(words.ours);
  }
  return printable(message);
}

}  // namespace

Result<std::vector<Value>> parseYaml(std::string_view text, std::string_view file,
                                     const ParseLimits& limits) {
  const auto source = SourceText::checked(text, file, limits);
  if (!source) return tl::unexpected(source.error());
  BoundedReader reader(source->text());
  YamlHandler handler(*source, limits, reader);
  std::optional<Error> syntax;
  try {
    std::istream stream(&reader);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(handler)) {
    }
  } catch (const Stop&) {
    syntax = handler.error();
  } catch (const YAML::Exception& error) {
    syntax = source->error(handler.offset(error.mark), "this is no valid YAML: " + inWords(error.msg));
  }
  const bool isRefused = syntax || reader.stopped() || handler.endsInQuotes();
  if (const auto action = isRefused ? findTemplateAction(source->text()) : std::nullopt) {
    return tl::unexpected(source->error(*action, std::string(kRenderFirst)));
  }
  // What was said about a text that ended too early means nothing.
  if (reader.stopped()) {
    return tl::unexpected(
        source->error(handler.last(),
                      "too much stands in one line, or in one [...] or {...}, from here on: write it in "
                      "lines, or as JSON"));
  }
  if (handler.endsInQuotes()) {
    return tl::unexpected(source->error(handler.last(), "this is no valid YAML: a quote is not closed"));
  }
  if (syntax) return tl::unexpected(std::move(*syntax));
  return handler.takeDocuments();
}

}  // namespace lastout::kube
