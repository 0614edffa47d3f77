// Requests on objects that are written into a test as YAML, and what is told of other objects.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "protection/evaluate.h"
#include "tests/support/manifests.h"

namespace lastout::protection {

// Answers as it was told to.
class ToldFacts : public Facts {
 public:
  AncestorState ancestorState;
  std::map<kube::GroupResource, Count> counts;  // of children
  std::map<Activity, Count> activities;
  Listers listersTold;

  AncestorState ancestor(const AncestorTest& /*test*/, const Request& /*request*/) const override {
    return ancestorState;
  }
  Count children(const ChildrenTest& test, const Request& /*request*/) const override {
    const auto found = counts.find(test.type);
    return found == counts.end() ? Count() : found->second;
  }
  Count active(Activity activity, const Request& /*request*/) const override {
    const auto found = activities.find(activity);
    return found == activities.end() ? Count() : found->second;
  }
  Listers listers(const ListedBy& /*listedBy*/, const Request& /*request*/) const override {
    return listersTold;
  }
};

// A request on an object that is written as YAML.
struct Asked {
  kube::Object before;
  std::optional<kube::Object> after;
  Request request;

  explicit Asked(std::string_view yaml) : before(testing::object(yaml)) { fill(); }
  Asked(std::string_view yaml, std::string_view newYaml)
      : before(testing::object(yaml)), after(testing::object(newYaml)) {
    fill();
    request.operation = PolicyOperation::Update;
    request.newMeta = &after->meta;
  }
  Asked(const Asked&) = delete;

 private:
  void fill() {
    request.object = before.key;
    request.kind = before.kind;
    request.meta = &before.meta;
    request.content = &before.content;
    request.user = "jane";
  }
};

inline std::string messageFor(const DeletionPolicy& policy, const Asked& asked,
                              const Facts& facts = ToldFacts()) {
  const auto denial = judge(policy, asked.request, facts);
  return denial ? denial->message : "";
}

}  // namespace lastout::protection
