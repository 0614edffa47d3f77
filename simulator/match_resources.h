// Whether a webhook, a policy or a policy's binding concerns a request: kube::MatchResources and further
// conditions.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kube/fields.h"
#include "kube/match_resources.h"
#include "kube/object.h"
#include "kube/object_key.h"
#include "simulator/admission_review.h"
#include "simulator/cel.h"
#include "simulator/field_error.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// A further condition for a request to be sent, or to be validated.
struct MatchCondition {
  std::string name;
  CelExpression expression;
};

// metadata.labels, as selectors look at them.
kube::Labels labelsOf(const Json& object);

// Whether one of the rules (where there are any), none of the excluded ones, and both selectors match.
bool matches(const kube::MatchResources& resources, const ReviewRequest& request);

// Whether every condition holds. One that is false decides; otherwise fails with the words of all that cannot
// be evaluated. https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
// #matching-requests-matchconditions
tl::expected<bool, std::string> allHold(const std::vector<MatchCondition>& conditions, CelRun& run);

// --- MatchIndex: which of many MatchResources may match a request, without a look at each of them.

// By the types that the rules name, and by a label that the objectSelector needs: of thousands of policies
// most are about other types, or about objects with a label that few objects have. Threading: none; any
// number of threads may read it once all is added.
class MatchIndex {
 public:
  // Adds what stands at `position` of the list that is indexed.
  void add(const kube::MatchResources& resources, size_t position);
  // Returns the positions of all that match the request, and possibly of some that do not, in ascending
  // order.
  std::vector<size_t> candidates(const ReviewRequest& request) const;

 private:
  struct Positions {
    std::vector<size_t> ofAll;                                           // that need no label
    std::map<std::string, std::vector<size_t>, std::less<>> ofLabelled;  // by the key of a label they need
  };

  std::map<kube::GroupResource, Positions> byType_;  // "*": any group, any resource
};

// --- MatchReader: reads what webhook configurations and admission policies have in common, and words what is
// wrong with it.

// Adds to `causes`, which must outlive it. Values of a wrong type are errors of the Fields.
class MatchReader {
 public:
  explicit MatchReader(std::vector<StatusCause>& causes) : causes_(&causes) {}

  void add(StatusCause cause) { causes_->push_back(std::move(cause)); }
  // A word that has to be one of some; `ifAbsent` when it is not there.
  std::string word(kube::Fields& fields, std::string_view key, const std::vector<std::string>& choices,
                   std::string_view ifAbsent);

  kube::RuleWithOperations readRule(kube::Fields& fields);
  kube::LabelSelector readSelector(kube::Fields& fields, std::string_view key);
  std::vector<MatchCondition> readConditions(kube::Fields& fields, const CelEnvironment& environment);
  // Returns the expression at `key`. nullopt: it is wrong, or absent, which `isRequired` makes a cause. One
  // that is not evaluated here always fails; warnings() names it.
  std::optional<CelExpression> readExpression(kube::Fields& fields, std::string_view key,
                                              const CelEnvironment& environment, bool isRequired = true,
                                              std::string_view whyRequired = {});

  // Returns a sentence on each expression that is stored and not evaluated, for a webhook or policy of that
  // failurePolicy.
  std::vector<std::string> warnings(bool failureIsIgnored) const;

 private:
  void checkWords(const std::string& path, const std::vector<std::string>& words, std::string_view what);
  void checkResources(const std::string& path, const std::vector<std::string>& resources);

  struct Unevaluated {
    std::string field;
    std::string why;
    bool isRequired = false;
  };

  std::vector<StatusCause>* causes_;
  std::vector<Unevaluated> unevaluated_;
};

}  // namespace lastout::simulator
