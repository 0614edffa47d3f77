#include "protection/admission_plan.h"

#include <algorithm>
#include <map>
#include <utility>

#include "kube/value.h"
#include "protection/cel.h"
#include "protection/hold_finalizers.h"

namespace lastout::protection {
namespace {

using kube::OrderedJson;
using Kind = AdmissionPolicyAction::Kind;
using Key = std::pair<bool, std::string>;  // it is a binding, and its name

std::string annotated(const OrderedJson& object, std::string_view annotation) {
  const auto annotations = OrderedJson::json_pointer("/metadata/annotations");
  return object.value(annotations / std::string(annotation), std::string());
}

bool nameSameFinalizers(const OrderedJson& one, const OrderedJson& other) {
  return annotated(one, kHoldFinalizerAnnotation) == annotated(other, kHoldFinalizerAnnotation) &&
         annotated(one, kFormerFinalizersAnnotation) == annotated(other, kFormerFinalizersAnnotation);
}

// Objects may have what the policy held by before it was changed.
void keepFormerFinalizers(const OrderedJson& standing, OrderedJson& wanted) {
  if (annotated(standing, kHoldFinalizerAnnotation).empty() &&
      annotated(standing, kFormerFinalizersAnnotation).empty())
    return;
  std::string former = formerFinalizers(kube::fromJson(standing), kube::fromJson(wanted));
  if (!former.empty())
    wanted["metadata"]["annotations"][std::string(kFormerFinalizersAnnotation)] = std::move(former);
}

// The spec without what API servers fill in: selectors that select everything.
nlohmann::json declared(const OrderedJson& object) {
  nlohmann::json spec = object.value("spec", OrderedJson::object());
  if (const auto match = spec.find("matchConstraints"); match != spec.end()) {
    for (const char* selector : {"namespaceSelector", "objectSelector"}) {
      const auto found = match->find(selector);
      if (found != match->end() && found->empty()) match->erase(found);
    }
  }
  return spec;
}

std::string labelled(const OrderedJson& object) {
  const auto labels = OrderedJson::json_pointer("/metadata/labels");
  return object.value(labels / std::string(kMadeOfLabel), std::string());
}

}  // namespace

bool standsAsMade(const OrderedJson& made, const OrderedJson& standing) {
  return declared(made) == declared(standing);
}

std::vector<AdmissionPolicyAction> planAdmissionPolicies(const std::vector<DeletionPolicy>& policies,
                                                         const std::vector<StandingAdmissionPolicy>& standing,
                                                         PolicyMode mode) {
  std::map<Key, OrderedJson> wanted;
  for (const DeletionPolicy& policy : policies) {
    for (OrderedJson& object : admissionPoliciesOf(policy, mode)) {
      const bool isBinding = object["kind"] == "ValidatingAdmissionPolicyBinding";
      std::string name = object["metadata"]["name"];
      wanted.emplace(Key{isBinding, std::move(name)}, std::move(object));
    }
  }
  std::vector<AdmissionPolicyAction> writes;
  std::vector<AdmissionPolicyAction> deletions;
  for (const StandingAdmissionPolicy& one : standing) {
    const auto want = wanted.find({one.isBinding, one.name});
    const OrderedJson identity{{"uid", one.uid}, {"resourceVersion", one.resourceVersion}};
    if (want == wanted.end()) {
      deletions.push_back(
          {Kind::Delete, one.isBinding, one.name, policyOfMade(one.name), {{"metadata", identity}}});
      continue;
    }
    keepFormerFinalizers(one.object, want->second);
    if (!standsAsMade(want->second, one.object) || labelled(want->second) != labelled(one.object) ||
        !nameSameFinalizers(want->second, one.object)) {
      OrderedJson object = want->second;
      object["metadata"].update(identity);
      writes.push_back({Kind::Replace, one.isBinding, one.name, policyOfMade(one.name), std::move(object)});
    }
    wanted.erase(want);
  }
  for (auto& [key, object] : wanted) {
    std::string policy = policyOfMade(key.second);
    writes.push_back({Kind::Create, key.first, key.second, std::move(policy), std::move(object)});
  }
  const auto byKind = [](const AdmissionPolicyAction& a, const AdmissionPolicyAction& b) {
    return a.isBinding < b.isBinding;
  };
  std::stable_sort(writes.begin(), writes.end(), byKind);
  std::stable_sort(deletions.rbegin(), deletions.rend(), byKind);
  writes.insert(writes.end(), std::make_move_iterator(deletions.begin()),
                std::make_move_iterator(deletions.end()));
  return writes;
}

}  // namespace lastout::protection
