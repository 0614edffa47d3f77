#include "kube/difference.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace lastout::kube {
namespace {

struct Comparison {
  const std::function<bool(const Member& more)>& mayHave;

  std::string ofMembers(const std::string& path, const Value& standing, const Value::Map& wanted) const {
    const std::string prefix = path.empty() ? path : path + ".";
    for (const Member& field : wanted) {
      const Value* found = standing.find(field.key);
      if (found == nullptr) return prefix + field.key + " is missing";
      if (std::string inside = of(prefix + field.key, *found, field.value); !inside.empty()) return inside;
    }
    if (standing.asMap() == nullptr) return {};
    for (const Member& more : *standing.asMap()) {
      if (std::ranges::find(wanted, more.key, &Member::key) == wanted.end() && !mayHave(more))
        return prefix + more.key + " is set";
    }
    return {};
  }

  std::string of(const std::string& path, const Value& standing, const Value& wanted) const {
    if (wanted.asMap() != nullptr) return ofMembers(path, standing, *wanted.asMap());
    const Value::List* items = wanted.asList();
    const Value::List* found = standing.asList();
    if (items == nullptr || found == nullptr)
      return toJson(standing) == toJson(wanted) ? std::string() : path + " differs";
    if (found->size() != items->size())
      return path + " has " + std::to_string(found->size()) + " items instead of " +
             std::to_string(items->size());
    for (size_t i = 0; i < items->size(); ++i) {
      std::string inside = of(path + "[" + std::to_string(i) + "]", (*found)[i], (*items)[i]);
      if (!inside.empty()) return inside;
    }
    return {};
  }
};

}  // namespace

std::string differenceFrom(const Value& standing, const Value& wanted,
                           const std::function<bool(const Member& more)>& mayHave) {
  return Comparison{mayHave}.of({}, standing, wanted);
}

}  // namespace lastout::kube
