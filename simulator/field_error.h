// StatusCauses of one field of an object, in the API server's words. simulator/status.h's
// invalid() makes the answer 422 of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

struct ServedType;

// `field` is a path: "spec.size", "spec.criteria[0].type". What a message quotes of a value is cut at 1,000
// bytes.

StatusCause requiredField(std::string field, std::string_view why = "");  // "Required value[: <why>]"
StatusCause invalidField(std::string field, const Json& value, std::string_view why);
StatusCause wrongType(std::string field, const Json& value, std::string_view why);
StatusCause notSupported(std::string field, const Json& value, const std::vector<std::string>& supported);
StatusCause forbiddenField(std::string field, std::string_view why);
StatusCause duplicateField(std::string field, const Json& value);
StatusCause tooLong(std::string field, std::string_view why);  // "Too long: <why>"
StatusCause tooMany(std::string field, size_t count, int64_t most);

// What Go, the API server's language, calls a JSON value: "string", "number", "bool", "array", "object".
std::string_view goKind(const Json& value);
// 400 for a body that cannot be decoded: a `found` (goKind) stands in a field ("ConfigMap.data") whose type
// in Go is `wanted`.
ApiError undecodable(std::string_view kind, std::string_view version, std::string_view found,
                     std::string_view field, std::string_view wanted);

// In double quotes, as JSON has it; bytes that are not UTF-8 are replaced.
std::string goQuoted(std::string_view text);

// --- The API server's own words for a name that it refuses, one sentence for each rule that is broken; none
// when the name is good (rest/018).

std::vector<std::string> pathSegmentProblems(std::string_view name);
std::vector<std::string> subdomainProblems(std::string_view name);
std::vector<std::string> dnsLabelProblems(std::string_view name);      // RFC 1123
std::vector<std::string> dns1035LabelProblems(std::string_view name);  // RFC 1035
// Of an object of this type: kube::nameProblem()'s rules, and of Services those of that version.
std::vector<std::string> nameProblems(const ServedType& type, std::string_view name);
std::vector<std::string> qualifiedNameProblems(std::string_view text);  // keys of labels, finalizers
std::vector<std::string> labelValueProblems(std::string_view value);

// Adds what is wrong with a selector's matchLabels and matchExpressions; `path` is its field.
void addSelectorProblems(const std::string& path, const Json& selector, std::vector<StatusCause>& causes);
// The same of labels alone.
void addLabelProblems(const std::string& path, const Json& labels, std::vector<StatusCause>& causes);

}  // namespace lastout::simulator
