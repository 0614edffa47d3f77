// SchemaRules: x-kubernetes-validations, the CEL rules of a CRD's schema.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#validation-rules
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/cel.h"
#include "simulator/json.h"
#include "simulator/status.h"

namespace lastout::simulator {

// The names of a rule with the types that its schema gives them: `self` and `oldSelf`.
class RuleEnvironment {
 public:
  // `isRoot`: it is the schema of a whole object, whose metadata rules may use.
  RuleEnvironment(const Json& schema, bool isRoot);
  // Returns what a rule or a messageExpression is compiled with; borrows from this.
  CelEnvironment of(CelType result) const;

 private:
  CelType typeOf(const Json& schema, const std::string& name, bool isRoot);

  CelObjects objects_;
  CelNames names_;
};

// Returns the name by which a rule uses a field, since some fields' names are no identifiers of CEL; nullopt:
// it cannot.
std::optional<std::string> celFieldName(std::string_view field);

// Holds the object against the rules of its schema; `old`: what it replaces, nullptr for a new one. Rules
// about the change of a list's items are not looked at, nor are rules that are not evaluated here.
std::vector<StatusCause> ruleProblems(const Json& schema, const Json& object, const Json* old);

// --- What a CRD's schema has to be itself before the API server takes it: a structural schema.
// https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/#specifying-a-structural-schema

// Returns what is wrong with a schema of a whole object; at most 100 causes. `path` is its field in the CRD.
// The cost of its rules is not estimated.
std::vector<StatusCause> structureProblems(const Json& schema, const std::string& path);

}  // namespace lastout::simulator
