#include "simulator/decode.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "kube/ascii.h"
#include "kube/encoding.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/parse.h"
#include "kube/well_known.h"
#include "net/http_head.h"
#include "simulator/protobuf.h"

namespace lastout::simulator {
namespace {

constexpr std::string_view kAcceptedBodies =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

// nlohmann's events into a Json, within the limits. kube::parseJson() would not do: malformed JSON is
// answered in the words of Go's encoding/json, which give no line, and numbers are stored as they were sent,
// also those that no kube::Value holds.
class BoundedJson : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return add(nullptr) != nullptr; }
  bool boolean(bool value) override { return add(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return add(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMost = static_cast<number_unsigned_t>(std::numeric_limits<int64_t>::max());
    return (value <= kMost ? add(value) : add(static_cast<double>(value))) != nullptr;
  }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value) != nullptr; }
  bool string(string_t& value) override { return add(std::move(value)) != nullptr; }
  bool binary(binary_t& /*value*/) override { return fail("JSON has no binary values"); }
  bool start_object(size_t /*size*/) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(size_t /*size*/) override { return open(Json::array()); }
  bool end_array() override { return close(); }
  bool key(string_t& text) override {
    const auto [member, isNew] = open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(text));
    if (!isNew) return fail("the key " + kube::inQuotes(member->first) + " is there twice");
    member_ = &member->second;
    return true;
  }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& exception) override;

  std::string error;
  Json root;

 private:
  bool fail(std::string message) {
    error = std::move(message);
    return false;
  }
  bool open(Json empty) {
    if (open_.size() >= kDeepestJson)
      return fail("lists and maps are nested more than " + std::to_string(kDeepestJson) + " deep");
    Json* added = add(std::move(empty));
    if (added != nullptr) open_.push_back(added);
    return added != nullptr;
  }
  bool close() {
    open_.pop_back();
    return true;
  }
  Json* add(Json value);

  std::vector<Json*> open_;  // from the outermost to the innermost: only the innermost grows
  Json* member_ = nullptr;   // of the innermost, an object: what the last key names
  size_t values_ = 0;
};

Json* BoundedJson::add(Json value) {
  if (++values_ > kMostJsonValues) {
    fail("this has more than " + std::to_string(kMostJsonValues) + " values");
    return nullptr;
  }
  Json* place = &root;
  if (!open_.empty() && open_.back()->is_array()) {
    auto& list = open_.back()->get_ref<Json::array_t&>();
    list.push_back(std::move(value));
    return &list.back();
  }
  if (!open_.empty()) place = member_;
  *place = std::move(value);
  return place;
}

bool BoundedJson::parse_error(size_t /*position*/, const std::string& /*token*/,
                              const nlohmann::detail::exception& exception) {
  // "[json.exception.parse_error.101] parse error at line 1, column 2: <what>"
  if (exception.id == 406) return fail("a number is too large");
  std::string_view what = exception.what();
  for (const std::string_view before : {"] ", "parse error at "}) {
    const size_t found = what.find(before);
    if (found != std::string_view::npos) what.remove_prefix(found + before.size());
  }
  return fail(kube::printable(what));
}

// A byte as Go's messages show a character: bytes beyond ASCII count as Latin-1.
std::string asGoCharacter(unsigned char byte) {
  const std::string hex = kube::hexOf(byte);
  if (byte == '\'') return R"('\'')";
  if (byte == '\\') return R"('\\')";
  if (byte < ' ' || byte == 0x7F) return R"('\x)" + hex + "'";
  if (byte >= 0xA1 && byte != 0xAD)
    return {'\'', static_cast<char>(0xC0 | (byte >> 6)), static_cast<char>(0x80 | (byte & 0x3F)), '\''};
  if (byte >= 0x80) return R"('\u00)" + hex + "'";
  return {'\'', static_cast<char>(byte), '\''};
}

// Returns Go's error for a text that cannot begin a JSON document; nullopt: it can.
std::optional<std::string> badBeginning(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return "unexpected end of JSON input";
  if (std::string_view("{[\"-0123456789tfn").find(text[first]) != std::string_view::npos) return std::nullopt;
  return "invalid character " + asGoCharacter(static_cast<unsigned char>(text[first])) +
         " looking for beginning of value";
}

tl::expected<Json, std::string> parseYamlText(std::string_view text) {
  auto documents =
      kube::parseYaml(text, "", {.bytes = kMostBodyBytes, .depth = kDeepestJson, .values = kMostJsonValues});
  if (!documents) return tl::unexpected("error parsing YAML: " + toString(documents.error()));
  if (documents->size() != 1)
    return tl::unexpected("there are " + std::to_string(documents->size()) + " YAML documents, not one");
  return kube::toSortedJson(documents->front());
}

// What stands before a separator, trimmed; `rest` becomes what stands behind it.
std::string_view takeHeaderPart(std::string_view& rest, char separator) {
  const size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view part = net::headerTrimmed(rest.substr(0, end));
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return part;
}

// Returns the form that a media range with its parameters asks for; nullopt: it is not available.
std::optional<Representation> readRange(std::string_view range) {
  const std::string type = kube::lowerCase(takeHeaderPart(range, ';'));
  Representation result;
  result.yaml = type == "application/yaml";
  if (!result.yaml && type != "application/json" && type != "application/*" && type != "*/*")
    return std::nullopt;
  std::string_view as;
  std::string_view group;
  std::string_view version;
  while (!range.empty()) {
    std::string_view value = takeHeaderPart(range, ';');
    const std::string name = kube::lowerCase(takeHeaderPart(value, '='));
    value = net::headerTrimmed(value);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    if (name == "as") as = value;
    if (name == "g") group = value;
    if (name == "v") version = value;
    if (name == "q" && value.starts_with('0') && value.find_first_not_of("0.") == std::string_view::npos)
      return std::nullopt;
  }
  if (as.empty()) return result;
  if (group != kube::kMetaGroup || (version != "v1" && version != "v1beta1")) return std::nullopt;
  result.version = version;
  if (as == "Table") {
    result.form = Representation::Form::Table;
  } else if (as == "PartialObjectMetadata") {
    result.form = Representation::Form::Metadata;
  } else if (as == "PartialObjectMetadataList") {
    result.form = Representation::Form::MetadataList;
  } else {
    return std::nullopt;
  }
  return result;
}

}  // namespace

tl::expected<Json, std::string> parseJsonText(std::string_view text) {
  if (text.size() > kMostBodyBytes)
    return tl::unexpected("this is longer than " + std::to_string(kMostBodyBytes) + " bytes");
  if (auto problem = badBeginning(text)) return tl::unexpected(std::move(*problem));
  // nlohmann takes a NUL for the end.
  if (text.find('\0') != std::string_view::npos)
    return tl::unexpected(std::string("there is a NUL character in the text"));
  BoundedJson handler;
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &handler))
    return tl::unexpected(std::move(handler.error));
  return std::move(handler.root);
}

ApiResult<Json> decodeBody(std::string_view body, std::string_view contentType, std::string_view kind) {
  const std::string type = net::mediaTypeOf(contentType);
  const bool isProtobuf = type == "application/vnd.kubernetes.protobuf";
  if (!type.empty() && type != "application/json" && type != "application/yaml" && !isProtobuf)
    return tl::unexpected(unsupportedMediaType(kAcceptedBodies));
  if (body.size() > kMostBodyBytes) return tl::unexpected(tooLarge(kMostBodyBytes));
  if (isProtobuf) return decodeProtobuf(body);
  auto json = type == "application/yaml" ? parseYamlText(body) : parseJsonText(body);
  if (json && json->is_object()) return std::move(*json);
  const std::string what = kind.empty() ? "" : " (must be of type " + std::string(kind) + ")";
  const std::string why = json ? std::string("it is ") + json->type_name() + ", not an object"
                               : "couldn't get version/kind; json parse error: " + json.error();
  return tl::unexpected(badRequest("the object provided is unrecognized" + what + ": " + why));
}

ApiResult<Representation> parseAccept(std::string_view accept) {
  if (net::headerTrimmed(accept).empty()) return Representation();
  while (!accept.empty()) {
    if (auto representation = readRange(takeHeaderPart(accept, ','))) return std::move(*representation);
  }
  return tl::unexpected(notAcceptable(kAcceptedBodies));
}

bool isBuiltIn(const kube::GroupResource& type) {
  return type.group.find('.') == std::string::npos || type.group.ends_with(".k8s.io");
}

ApiResult<PatchType> parsePatchType(std::string_view contentType, const kube::GroupResource& type) {
  const std::string name = net::mediaTypeOf(contentType);
  if (name == "application/json-patch+json") return PatchType::Json;
  if (name == "application/merge-patch+json") return PatchType::Merge;
  if (name == "application/apply-patch+yaml") return PatchType::Apply;
  if (!isBuiltIn(type)) {
    return tl::unexpected(unsupportedMediaType(
        "application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml"));
  }
  if (name == "application/strategic-merge-patch+json") return PatchType::Strategic;
  return tl::unexpected(
      unsupportedMediaType("application/json-patch+json, application/merge-patch+json, "
                           "application/strategic-merge-patch+json, application/apply-patch+yaml"));
}

ApiResult<Json> decodePatch(std::string_view body, PatchType type) {
  if (body.size() > kMostBodyBytes) return tl::unexpected(tooLarge(kMostBodyBytes));
  auto json = parseJsonText(body);
  // kubectl calls JSON YAML; only what is not JSON needs the slow parser.
  if (!json && type == PatchType::Apply) json = parseYamlText(body);
  if (!json) {
    return tl::unexpected(badRequest(
        (type == PatchType::Apply ? "error decoding YAML: " : "error decoding patch: ") + json.error()));
  }
  const bool wantsList = type == PatchType::Json;
  if (wantsList ? !json->is_array() : !json->is_object()) {
    return tl::unexpected(badRequest(std::string("error decoding patch: it is ") + json->type_name() +
                                     (wantsList ? ", not a list of operations" : ", not an object")));
  }
  return std::move(*json);
}

}  // namespace lastout::simulator
