// JSON patch, operation by operation, so that what a patch may cost is known before it is spent.
#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/messages.h"
#include "simulator/decode.h"
#include "simulator/patch.h"

namespace lastout::simulator {
namespace {

using PointerTokens = std::vector<std::string>;  // of a JSON pointer

// Reads a JSON pointer (RFC 6901); nullopt: the text is none.
std::optional<PointerTokens> parsePointer(std::string_view text) {
  PointerTokens tokens;
  if (text.empty()) return tokens;
  if (text.front() != '/') return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '/') {
      tokens.emplace_back();
    } else if (text[i] != '~') {
      tokens.back() += text[i];
    } else if (++i < text.size() && (text[i] == '0' || text[i] == '1')) {
      tokens.back() += text[i] == '0' ? '~' : '/';
    } else {
      return std::nullopt;
    }
  }
  return tokens;
}

// The place in a list that a token names, at most `end`; "0" or digits that do not begin with one.
std::optional<size_t> listIndex(std::string_view token, size_t end) {
  if (token.empty() || (token.size() > 1 && token.front() == '0')) return std::nullopt;
  size_t index = 0;
  const auto [rest, error] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (error != std::errc() || rest != token.data() + token.size() || index > end) return std::nullopt;
  return index;
}

struct JsonPatchOperation {
  enum class Kind { Add, Remove, Replace, Move, Copy, Test };
  Kind kind = Kind::Test;
  PointerTokens path;
  PointerTokens from;           // of Move and Copy
  const Json* value = nullptr;  // of Add, Replace and Test
};

std::optional<JsonPatchOperation::Kind> jsonPatchKind(std::string_view op) {
  using Kind = JsonPatchOperation::Kind;
  static const std::unordered_map<std::string_view, Kind> kKinds = {
      {"add", Kind::Add},   {"remove", Kind::Remove}, {"replace", Kind::Replace},
      {"move", Kind::Move}, {"copy", Kind::Copy},     {"test", Kind::Test}};
  const auto found = kKinds.find(op);
  return found == kKinds.end() ? std::nullopt : std::optional(found->second);
}

std::optional<PointerTokens> pointerAt(const Json& operation, std::string_view key) {
  const Json* text = at(operation, {key});
  return text != nullptr && text->is_string() ? parsePointer(stringAt(operation, {key})) : std::nullopt;
}

// One operation, or what is wrong with it.
tl::expected<JsonPatchOperation, std::string> readOperation(const Json& json) {
  if (!json.is_object()) return tl::unexpected(std::string("is no object"));
  const std::string_view op = stringAt(json, {"op"});
  const auto kind = jsonPatchKind(op);
  if (!kind) return tl::unexpected("has the unknown op " + kube::inQuotes(op));
  JsonPatchOperation operation{.kind = *kind, .path = {}, .from = {}, .value = at(json, {"value"})};
  auto path = pointerAt(json, "path");
  if (!path) return tl::unexpected(std::string("has no path that is a JSON pointer"));
  operation.path = std::move(*path);
  if (*kind == JsonPatchOperation::Kind::Move || *kind == JsonPatchOperation::Kind::Copy) {
    auto from = pointerAt(json, "from");
    if (!from) return tl::unexpected(std::string("has no from that is a JSON pointer"));
    operation.from = std::move(*from);
  } else if (*kind != JsonPatchOperation::Kind::Remove && operation.value == nullptr) {
    return tl::unexpected(std::string("has no value"));
  }
  return operation;
}

// The document that the operations of one patch change, and what they may still cost.
class PatchedDocument {
 public:
  explicit PatchedDocument(Json document) : document_(std::move(document)) {}

  // False when the operation does not apply, or the patch has become too costly; problem() says why.
  bool apply(const JsonPatchOperation& operation);

  const std::string& problem() const { return problem_; }
  bool tooCostly() const { return work_ > kMostWork; }
  Json take() { return std::move(document_); }

 private:
  // Bytes compared or copied and list items moved: some 0.1 s.
  static constexpr size_t kMostWork = 30'000'000;
  // Of what is copied within the document, all operations together.
  static constexpr size_t kMostCopied = kMostBodyBytes;

  bool fail(std::string problem) {
    problem_ = std::move(problem);
    return false;
  }
  bool spend(size_t work) {
    work_ += work;
    return !tooCostly() || fail("the patch is too costly");
  }
  Json* find(const PointerTokens& path, size_t length);
  Json* existing(const PointerTokens& path);
  bool add(const PointerTokens& path, Json value);
  bool remove(const PointerTokens& path);
  bool copy(const JsonPatchOperation& operation);
  bool move(const JsonPatchOperation& operation);

  Json document_;
  std::string problem_;
  size_t work_ = 0;
  size_t copied_ = 0;
};

std::string asPointer(const PointerTokens& path) {
  std::string text;
  for (const std::string& token : path) {
    text += '/';
    for (const char c : token) text += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  }
  return kube::inQuotes(text);
}

// What the first `length` tokens lead to; nullptr when there is nothing.
Json* PatchedDocument::find(const PointerTokens& path, size_t length) {
  Json* found = &document_;
  for (size_t i = 0; i < length; ++i) {
    if (found->is_object()) {
      const auto member = found->find(path[i]);
      if (member == found->end()) return nullptr;
      found = &*member;
    } else if (found->is_array()) {
      const auto index = listIndex(path[i], found->size());
      if (!index || *index == found->size()) return nullptr;
      found = &(*found)[*index];
    } else {
      return nullptr;
    }
  }
  return found;
}

Json* PatchedDocument::existing(const PointerTokens& path) {
  Json* found = find(path, path.size());
  if (found == nullptr) fail("there is nothing at " + asPointer(path));
  return found;
}

bool PatchedDocument::add(const PointerTokens& path, Json value) {
  const Extent extent = extentOf(value);
  // The depth of what is too large is not known.
  if (!spend(extent.bytes > kMostBodyBytes ? kMostWork + 1 : extent.bytes)) return false;
  if (path.size() + extent.depth > kDeepestJson)
    return fail("the result is nested more than " + std::to_string(kDeepestJson) + " deep");
  if (path.empty()) {
    document_ = std::move(value);
    return true;
  }
  Json* parent = find(path, path.size() - 1);
  if (parent != nullptr && parent->is_object()) {
    (*parent)[path.back()] = std::move(value);
    return true;
  }
  if (parent == nullptr || !parent->is_array())
    return fail("there is no map or list to add " + asPointer(path) + " to");
  auto& list = parent->get_ref<Json::array_t&>();
  const auto index = path.back() == "-" ? list.size() : listIndex(path.back(), list.size());
  if (!index) return fail(asPointer(path) + " is no place in that list");
  if (!spend(list.size() - *index)) return false;
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(*index), std::move(value));
  return true;
}

bool PatchedDocument::remove(const PointerTokens& path) {
  if (path.empty()) return fail("the whole object cannot be removed");
  if (existing(path) == nullptr) return false;
  Json* parent = find(path, path.size() - 1);
  if (parent->is_object()) {
    parent->erase(path.back());
    return true;
  }
  const size_t index = *listIndex(path.back(), parent->size());
  if (!spend(parent->size() - index)) return false;
  parent->erase(index);
  return true;
}

bool PatchedDocument::copy(const JsonPatchOperation& operation) {
  const Json* found = existing(operation.from);
  if (found == nullptr) return false;
  copied_ += extentOf(*found).bytes;
  if (copied_ > kMostCopied) return spend(kMostWork + 1);
  return add(operation.path, *found);
}

bool PatchedDocument::move(const JsonPatchOperation& operation) {
  Json* found = existing(operation.from);
  if (found == nullptr) return false;
  const auto& [from, path] = std::tie(operation.from, operation.path);
  if (from == path) return true;
  if (from.size() < path.size() && std::equal(from.begin(), from.end(), path.begin()))
    return fail(asPointer(from) + " cannot be moved into itself");
  Json value = std::move(*found);
  return remove(from) && add(path, std::move(value));
}

bool PatchedDocument::apply(const JsonPatchOperation& operation) {
  using Kind = JsonPatchOperation::Kind;
  switch (operation.kind) {
    case Kind::Add:
      return add(operation.path, *operation.value);
    case Kind::Remove:
      return remove(operation.path);
    case Kind::Replace: {
      Json* found = existing(operation.path);
      if (found == nullptr) return false;
      const Extent extent = extentOf(*operation.value);
      if (operation.path.size() + extent.depth > kDeepestJson)
        return fail("the result is nested more than " + std::to_string(kDeepestJson) + " deep");
      *found = *operation.value;
      return spend(extent.bytes);
    }
    case Kind::Move:
      return move(operation);
    case Kind::Copy:
      return copy(operation);
    case Kind::Test: {
      const Json* found = existing(operation.path);
      if (found == nullptr || !spend(extentOf(*operation.value).bytes)) return false;
      return *found == *operation.value || fail("testing " + asPointer(operation.path) + " failed");
    }
  }
  return false;
}

}  // namespace

ApiResult<Json> jsonPatch(const Json& object, const Json& patch) {
  if (!patch.is_array()) return tl::unexpected(badRequest("a JSON patch is a list of operations"));
  if (patch.size() > kMostJsonPatchOperations) {
    ApiError error = tooLarge(kMostBodyBytes);
    error.message = "Request entity too large: The allowed maximum operations in a JSON patch is " +
                    std::to_string(kMostJsonPatchOperations) + ", got " + std::to_string(patch.size());
    return tl::unexpected(std::move(error));
  }
  PatchedDocument document(object);
  std::vector<JsonPatchOperation> operations;
  for (const Json& item : patch) {
    auto operation = readOperation(item);
    if (!operation) {
      return tl::unexpected(badRequest("error decoding patch: operation " +
                                       std::to_string(operations.size()) + " " + operation.error()));
    }
    operations.push_back(std::move(*operation));
  }
  for (const JsonPatchOperation& operation : operations) {
    if (document.apply(operation)) continue;
    if (document.tooCostly()) return tl::unexpected(tooLarge(kMostBodyBytes));
    return tl::unexpected(unprocessable(document.problem()));
  }
  return withinLimits(document.take());
}

}  // namespace lastout::simulator
