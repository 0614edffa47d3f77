#include "kube/reference.h"

#include <optional>
#include <vector>

#include "kube/messages.h"
#include "kube/names.h"
#include "kube/well_known.h"

namespace lastout::kube {
namespace {

constexpr std::string_view kGlobCharacters = "*?";
constexpr size_t kLongestReference = 1000;

bool isGlob(std::string_view text) { return text.find_first_of(kGlobCharacters) != std::string_view::npos; }

// `*` matches any characters, `?` one of them. Going back to the last `*` alone is enough, which keeps the
// time at the product of both lengths.
bool globMatches(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;
  size_t starText = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      starText = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++starText;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

tl::unexpected<Error> fail(std::string message) { return tl::unexpected(Error{std::move(message), "", {}}); }

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// The words of kubectl's form: what names the object, and the namespace of -n.
struct Words {
  std::string_view object;
  std::optional<std::string_view> namespaceName;
};

Result<Words> splitWords(std::string_view text) {
  if (text.size() > kLongestReference) return fail("a reference has at most 1000 bytes");
  Words words;
  bool namespaceFollows = false;
  for (const std::string_view word : split(text, ' ')) {
    if (word.empty()) continue;
    std::optional<std::string_view> namespaceName;
    if (namespaceFollows) {
      namespaceName = word;
      namespaceFollows = false;
    } else if (word == "-n" || word == "--namespace") {
      namespaceFollows = true;
      continue;
    } else if (word.starts_with("-n=") || word.starts_with("--namespace=")) {
      namespaceName = word.substr(word.find('=') + 1);
    } else if (word.starts_with("-")) {
      return fail(inQuotes(text) + ": " + inQuotes(word) +
                  " is no part of a reference; only -n <namespace> is");
    } else if (words.object.empty()) {
      words.object = word;
      continue;
    } else {
      return fail(inQuotes(text) +
                  " names more than one object; write type/name, as in deployment/web -n shop");
    }
    if (words.namespaceName) return fail(inQuotes(text) + " gives the namespace twice");
    words.namespaceName = namespaceName;
  }
  if (namespaceFollows) return fail(inQuotes(text) + ": -n needs a namespace behind it");
  if (words.object.empty())
    return fail("the reference is empty; write type/name, as in deployment/web -n shop");
  return words;
}

// What is wrong with one segment; its type's rules hold where it has no `*` or `?`.
std::optional<std::string> segmentProblem(const GroupResource& type, std::string_view segment) {
  if (!isGlob(segment)) return nameProblem(type, segment);
  if (!isPathSegment(segment) || segment.find_first_of(" \t") != std::string_view::npos)
    return "is no pattern of a name";
  return std::nullopt;
}

const GroupResource& namespaces() { return kNamespaces; }

// How to write a reference to `name` of a namespaced type.
std::string withNamespace(const ResourceType& type, std::string_view name) {
  return toString(type.type) + "/<namespace>/" + std::string(name) + " or " + type.singular + "/" +
         std::string(name) + " -n <namespace>";
}

}  // namespace

bool ObjectPattern::hasGlob() const { return isGlob(key.namespaceName) || isGlob(key.name); }

bool ObjectPattern::matches(const ObjectKey& other) const {
  return key.type == other.type && (anyNamespace || globMatches(key.namespaceName, other.namespaceName)) &&
         globMatches(key.name, other.name);
}

Result<ObjectPattern> parsePattern(std::string_view text, const ResourceMap& types) {
  const auto words = splitWords(text);
  if (!words) return tl::unexpected(words.error());
  const std::vector<std::string_view> segments = split(words->object, '/');
  if (segments.size() < 2 || segments.size() > 3) {
    return fail(inQuotes(text) +
                " is no reference; write type/name or type/namespace/name, as in deployments.apps/shop/web");
  }
  if (isGlob(segments.front())) {
    return fail(inQuotes(text) + ": the type of a reference may not have \"*\" or \"?\"");
  }
  const auto resolved = types.resolve(segments.front());
  if (!resolved) return fail(inQuotes(text) + ": " + resolved.error().message);
  const ResourceType& type = **resolved;

  ObjectPattern pattern;
  pattern.key.type = type.type;
  pattern.key.name = segments.back();
  std::optional<std::string_view> namespaceName = words->namespaceName;
  if (segments.size() == 3) {
    if (namespaceName) return fail(inQuotes(text) + " gives the namespace twice");
    namespaceName = segments[1];
  }
  if (namespaceName && !type.namespaced) {
    return fail(inQuotes(text) + ": " + toString(type.type) + " are in no namespace; write " +
                toString(type.type) + "/" + pattern.key.name);
  }
  if (namespaceName) {
    if (const auto problem = segmentProblem(namespaces(), *namespaceName)) {
      return fail(inQuotes(text) + ": " + inQuotes(*namespaceName) + " " + *problem);
    }
    pattern.key.namespaceName = *namespaceName;
  }
  if (const auto problem = segmentProblem(type.type, pattern.key.name)) {
    return fail(inQuotes(text) + ": " + inQuotes(pattern.key.name) + " " + *problem);
  }
  pattern.anyNamespace = type.namespaced && !namespaceName;
  return pattern;
}

Result<ObjectKey> parseReference(std::string_view text, const ResourceMap& types) {
  auto pattern = parsePattern(text, types);
  if (!pattern) return tl::unexpected(pattern.error());
  if (pattern->hasGlob())
    return fail(inQuotes(text) + " is a pattern; here one object must be named, without \"*\" and \"?\"");
  if (pattern->anyNamespace) {
    return fail(inQuotes(text) + " lacks the namespace; write " +
                withNamespace(*types.find(pattern->key.type), pattern->key.name));
  }
  return std::move(pattern->key);
}

}  // namespace lastout::kube
