#include "kube/names.h"

#include <algorithm>

#include "kube/ascii.h"
#include "kube/builtin_types.h"
#include "kube/well_known.h"

namespace lastout::kube {
namespace {

bool isLowerOrDigit(char c) { return (c >= 'a' && c <= 'z') || isDigit(c); }
bool isLetterOrDigit(char c) { return isLowerOrDigit(c) || (c >= 'A' && c <= 'Z'); }

// One part of a DNS subdomain; its length is not limited by itself.
bool isDnsPart(std::string_view text) {
  if (text.empty() || !isLowerOrDigit(text.front()) || !isLowerOrDigit(text.back())) return false;
  return std::ranges::all_of(text, [](char c) { return isLowerOrDigit(c) || c == '-'; });
}

}  // namespace

bool isDnsLabel(std::string_view text) { return text.size() <= kLongestDnsLabel && isDnsPart(text); }

bool isDnsSubdomain(std::string_view text) {
  if (text.size() > kLongestName) return false;
  for (;;) {
    const size_t dot = text.find('.');
    if (!isDnsPart(text.substr(0, dot))) return false;
    if (dot == std::string_view::npos) return true;
    text.remove_prefix(dot + 1);
  }
}

bool isDns1035Label(std::string_view text) {
  return isDnsLabel(text) && text.front() >= 'a' && text.front() <= 'z';
}

bool isPathSegment(std::string_view text) {
  return !text.empty() && text != "." && text != ".." && text.find_first_of("/%") == std::string_view::npos;
}

bool isLabelValue(std::string_view text) {
  if (text.empty()) return true;
  if (text.size() > kLongestDnsLabel || !isLetterOrDigit(text.front()) || !isLetterOrDigit(text.back()))
    return false;
  return std::ranges::all_of(text,
                             [](char c) { return isLetterOrDigit(c) || c == '-' || c == '_' || c == '.'; });
}

bool isQualifiedName(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return !text.empty() && isLabelValue(text);
  const std::string_view name = text.substr(slash + 1);
  return isDnsSubdomain(text.substr(0, slash)) && !name.empty() && isLabelValue(name);
}

std::string lowerCase(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

bool takesAnyPathSegment(const GroupResource& type) {
  const KnownType* known = findBuiltInType(type);
  return known != nullptr && (known->traits & NamedByPathSegment) != 0;
}

std::optional<std::string> nameProblem(const GroupResource& type, std::string_view name) {
  if (name.empty()) return "is empty";
  if (!isPathSegment(name)) return "is no name: it may not be \".\" or \"..\" or hold \"/\" or \"%\"";
  if (takesAnyPathSegment(type)) return std::nullopt;
  if (name.size() > kLongestName) return "is longer than 253 bytes";
  if (type == kNamespaces || type == kServices) {
    if (isDnsLabel(name)) return std::nullopt;
    return std::string(type == kServices ? "is no service's" : "is no namespace's") +
           " name: that is at most 63 lower case letters, digits and \"-\", a letter or digit first and last";
  }
  if (isDnsSubdomain(name)) return std::nullopt;
  return "is no object's name: that is lower case letters, digits, \"-\" and \".\", a letter or digit first "
         "and last";
}

}  // namespace lastout::kube
