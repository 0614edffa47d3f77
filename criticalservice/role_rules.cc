#include "criticalservice/role_rules.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "kube/patterns.h"

namespace lastout::criticalservice {
namespace {

bool names(const std::vector<std::string>& list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

bool includes(const std::vector<std::string>& list, std::string_view name) {
  return names(list, "*") || names(list, name);
}

// What changes finalizers, and beside it what a controller does that acts as somebody else.
constexpr std::array<std::string_view, 3> kUpdatingVerbs = {"update", "patch", "*"};
constexpr std::array<std::string_view, 2> kDeletingVerbs = {"delete", "deletecollection"};

bool namesAny(const RoleRule& rule, std::span<const std::string_view> verbs) {
  return std::ranges::any_of(verbs, [&](std::string_view verb) { return names(rule.verbs, verb); });
}

// For a pattern (kube/patterns.h): the rule is about types, not only parts of them, of at least one group
// that the pattern matches.
bool isAbout(const RoleRule& rule, const kube::GroupResource& type) {
  if (!kube::isTypePattern(type))
    return includes(rule.groups, type.group) && includes(rule.resources, type.resource);
  const auto isOfTypes = [](const std::string& resource) { return resource.find('/') == resource.npos; };
  return std::ranges::any_of(rule.resources, isOfTypes) &&
         std::ranges::any_of(rule.groups, [&](const std::string& group) {
           return group == "*" || (!kube::isGroupPattern(group) && kube::meansGroup(type.group, group));
         });
}

// The rule is about that group alone. The core group has too many types for that to tell anything.
bool isOfGroup(const RoleRule& rule, const kube::GroupResource& type) {
  return !type.group.empty() && names(rule.groups, type.group);
}

// Looks for who allows one thing after the other.
class Allowing {
 public:
  explicit Allowing(const std::vector<RoleRule>& rules) : rules_(rules) {}

  bool allowsAllOf(const RoleRule& former) {
    return all(former.groups, [&](const std::string& group) {
      return all(former.resources, [&](const std::string& resource) {
        return all(former.verbs, [&](const std::string& verb) {
          if (former.objects.empty()) return allows({group, resource, verb, nullptr});
          return all(former.objects, [&](const std::string& object) {
            return allows({group, resource, verb, &object});
          });
        });
      });
    });
  }

 private:
  struct Allowed {
    const std::string& group;
    const std::string& resource;
    const std::string& verb;
    const std::string* object;  // nullptr: all
  };

  template <class IsAllowed>
  static bool all(const std::vector<std::string>& names, IsAllowed isAllowed) {
    return std::ranges::all_of(names, isAllowed);
  }
  bool allows(const Allowed& one) {
    return std::ranges::any_of(rules_, [&](const RoleRule& rule) {
      if (looks_ == kMostLooks) return false;
      ++looks_;
      const bool ofIt = rule.objects.empty() || (one.object != nullptr && names(rule.objects, *one.object));
      return ofIt && includes(rule.groups, one.group) && includes(rule.resources, one.resource) &&
             includes(rule.verbs, one.verb);
    });
  }

  const std::vector<RoleRule>& rules_;
  size_t looks_ = 0;
};

}  // namespace

std::vector<RoleRule> rulesOf(const kube::Object& role) {
  std::vector<RoleRule> rules;
  forEachItem(role.content.find("rules"), [&](const kube::Value& rule) {
    rules.push_back({textsAt(rule, {"apiGroups"}), textsAt(rule, {"resources"}), textsAt(rule, {"verbs"}),
                     textsAt(rule, {"resourceNames"})});
  });
  return rules;
}

RoleContent contentOf(const kube::Object& role) {
  RoleContent content{.labels = role.meta.labels, .aggregates = {}, .rules = rulesOf(role)};
  forEachItem(role.content.at({"aggregationRule", "clusterRoleSelectors"}), [&](const kube::Value& written) {
    if (auto selector = kube::parseSelector(written, role.file))
      content.aggregates.push_back(std::move(*selector));
  });
  return content;
}

bool collects(const RoleContent& role, const kube::Labels& labels) {
  return std::ranges::any_of(role.aggregates,
                             [&](const kube::LabelSelector& selector) { return selector.matches(labels); });
}

bool areAbout(const std::vector<RoleRule>& rules, const kube::GroupResource& type) {
  return std::ranges::any_of(rules, [&](const RoleRule& rule) { return isAbout(rule, type); });
}

bool areAboutNames(const std::vector<RoleRule>& rules, const kube::GroupResource& type) {
  return std::ranges::any_of(
      rules, [&](const RoleRule& rule) { return !rule.objects.empty() && isAbout(rule, type); });
}

bool allowUpdating(const std::vector<RoleRule>& rules, const kube::ObjectKey& object) {
  return std::ranges::any_of(rules, [&](const RoleRule& rule) {
    const bool isForIt = rule.objects.empty() || names(rule.objects, object.name);
    return isForIt && namesAny(rule, kUpdatingVerbs) && includes(rule.groups, object.type.group) &&
           includes(rule.resources, object.type.resource);
  });
}

bool nameFinalizersOf(const std::vector<RoleRule>& rules, const kube::GroupResource& type) {
  const std::string finalizers = type.resource + "/finalizers";
  return std::ranges::any_of(rules, [&](const RoleRule& rule) {
    return rule.objects.empty() && namesAny(rule, kUpdatingVerbs) &&
           ((includes(rule.groups, type.group) && names(rule.resources, finalizers)) ||
            (isOfGroup(rule, type) && (names(rule.resources, "*/finalizers") || names(rule.resources, "*"))));
  });
}

bool nameUpdatesOf(const std::vector<RoleRule>& rules, const kube::GroupResource& type) {
  return std::ranges::any_of(rules, [&](const RoleRule& rule) {
    return rule.objects.empty() && namesAny(rule, kUpdatingVerbs) && names(rule.groups, type.group) &&
           (names(rule.resources, type.resource) || (isOfGroup(rule, type) && names(rule.resources, "*")));
  });
}

bool allowAnyWriting(const std::vector<RoleRule>& rules) {
  return std::ranges::any_of(rules, [](const RoleRule& rule) {
    return namesAny(rule, kUpdatingVerbs) || namesAny(rule, kDeletingVerbs);
  });
}

bool allowAll(const std::vector<RoleRule>& rules, const std::vector<RoleRule>& former) {
  if (rules == former) return true;
  Allowing allowing(rules);
  return std::ranges::all_of(former, [&](const RoleRule& rule) { return allowing.allowsAllOf(rule); });
}

}  // namespace lastout::criticalservice
