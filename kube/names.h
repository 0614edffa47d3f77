// Names: what Kubernetes accepts as a name of an object, a label, a finalizer.
// https://kubernetes.io/docs/concepts/overview/working-with-objects/names/ and .../labels/
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kube/object_key.h"

namespace lastout::kube {

constexpr size_t kLongestName = 253;  // bytes of a DNS subdomain
constexpr size_t kLongestDnsLabel =
    63;  // bytes of one of its labels, of a namespace's name, of a label's value

bool isDnsLabel(std::string_view text);      // RFC 1123: [a-z0-9]([-a-z0-9]*[a-z0-9])?, 63 bytes
bool isDnsSubdomain(std::string_view text);  // DNS labels of any length joined by dots, 253 bytes
bool isDns1035Label(std::string_view text);  // RFC 1035: a DNS label that begins with a letter
bool isPathSegment(std::string_view text);   // of any length; neither "." nor "..", without "/" and "%"
bool isLabelValue(
    std::string_view text);  // empty, or 63 bytes of letters, digits, "-_." between letters or digits
bool isQualifiedName(std::string_view text);  // [<DNS subdomain>/]<label value that is not empty>

std::string lowerCase(std::string_view text);  // ASCII alone

// True if the names of the type are any path segments (TypeTrait::NamedByPathSegment).
bool takesAnyPathSegment(const GroupResource& type);

// Returns what is wrong with `name` as the name of an object of `type`, as the end of a sentence that begins
// with the name ("is longer than 253 bytes"); nullopt: it is valid. Most types want a DNS subdomain,
// namespaces and Services a DNS label. takesAnyPathSegment() has the others.
std::optional<std::string> nameProblem(const GroupResource& type, std::string_view name);

}  // namespace lastout::kube
