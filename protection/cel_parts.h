// The parts of a policy as CEL expressions over `object` or `oldObject`. An empty expression is true, and is
// left out of what is joined. Internal to protection/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "protection/policy.h"

namespace lastout::protection {

inline constexpr std::string_view kOld = "oldObject";
inline constexpr std::string_view kNew = "object";

std::string allOf(const std::vector<std::string>& parts);
std::string anyOf(const std::vector<std::string>& parts);
std::string negated(const std::string& part);
std::string isOneOf(const std::string& what, const std::vector<std::string>& values);

std::string celOfName(std::string_view object);
std::string celOfNamespace(std::string_view object);  // '' where it has none

std::string hasKey(std::string_view object, KeyTest::MetadataField place, const std::string& key);
std::string valueOf(std::string_view object, const KeyTest& test);  // fails where hasKey() is false
std::string celOf(const KeyTest& test, std::string_view object);
std::string anyKey(const std::vector<KeyTest>& tests, std::string_view object);
// Of the object before the request.
std::string celOf(const FieldTest& test);
// Whether the policy is about the object. Empty: it is about all that its rules match.
std::string celOfSelections(const DeletionPolicy& policy, std::string_view object);

}  // namespace lastout::protection
