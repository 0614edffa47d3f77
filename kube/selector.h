// Label selectors, in the API's form and in kubectl's.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kube/object.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::kube {

struct SelectorRequirement {
  enum class Operator { In, NotIn, Exists, DoesNotExist };
  std::string key;
  Operator op = Operator::Exists;
  std::vector<std::string> values;
  friend bool operator==(const SelectorRequirement&, const SelectorRequirement&) = default;
};

// The word of the API: "NotIn".
std::string_view toString(SelectorRequirement::Operator op);

// All requirements must hold; none matches everything.
struct LabelSelector {
  std::vector<SelectorRequirement> requirements;
  bool matches(const Labels& labels) const;
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

// {matchLabels, matchExpressions} of the API. `path`: what messages call it, "spec.selector".
Result<LabelSelector> parseSelector(const Value& selector, std::string_view file,
                                    std::string path = "selector");
// Returns the selector in that field of an object; one that selects everything if the field is missing, or
// cannot be read.
LabelSelector selectorIn(const Value& object, std::string_view field);
// "app=web,tier in (a,b),!legacy" of kubectl -l.
Result<LabelSelector> parseSelector(std::string_view text);
// Returns that text: "app in (web),!legacy".
std::string toString(const LabelSelector& selector);

}  // namespace lastout::kube
