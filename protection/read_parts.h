// Parts of a policy's manifest that several of its fields have. Each reader reports a mistake where it stands
// (kube/fields.h), and then answers as if the field were absent.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/fields.h"
#include "protection/policy.h"

namespace lastout::protection {

// The maps of a list; too many of them are a mistake.
std::vector<kube::Fields> readItems(kube::Fields& fields, std::string_view key);

// A list of strings; too many of them are a mistake.
std::vector<std::string> readStrings(kube::Fields& fields, std::string_view key);

// Keys with dots between them; a dot before the first is allowed, as in JSONPath.
std::optional<FieldPath> readPath(kube::Fields& fields, std::string_view key);
FieldPath readRequiredPath(kube::Fields& fields, std::string_view key);

// Whole seconds, from one to an hour.
std::chrono::seconds readPause(kube::Fields& fields, std::string_view key, std::chrono::seconds byDefault);

// A text with placeholders (message.h); `mayNameListers`: also with those of a policy with listedBy.
std::string readMessage(kube::Fields& fields, std::string_view key, bool mayNameListers = false);

// A list of sentences with {spec.reason} and the like in them: fields of the object that they are about.
std::vector<FieldSentence> readFieldSentences(kube::Fields& fields, std::string_view key);

// {label or annotation, values}; leaves it to the caller to finish the map.
std::optional<KeyTest> readKeyTest(kube::Fields& fields);
std::vector<KeyTest> readKeyTests(kube::Fields& fields, std::string_view key);

// The `hold` block of a policy (parse_hold.cc).
Hold readHold(kube::Fields fields);

// Returns what is wrong with the policy's objects, as the end of a sentence that begins with their field:
// they are all objects at all times, or all objects by which a policy is taken back. Empty: they are no trap
// (parse_traps.cc).
std::string trapIn(const DeletionPolicy& policy);

}  // namespace lastout::protection
