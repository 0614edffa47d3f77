// MatchReader: reads what webhook configurations and admission policies have in common, and words what is
// wrong with it.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/fields.h"
#include "simulator/match_resources.h"
#include "simulator/status.h"

namespace lastout::simulator {

// Adds to `causes`, which must outlive it. Values of a wrong type are errors of the Fields.
class MatchReader {
 public:
  explicit MatchReader(std::vector<Cause>& causes) : causes_(&causes) {}

  void required(const std::string& field, std::string_view why = {});
  void wrong(const std::string& field, std::string_view value, std::string_view why);
  void forbidden(const std::string& field, std::string_view why);
  void duplicate(const std::string& field, std::string_view value);
  void tooMany(const std::string& field, size_t count, size_t most);
  void notSupported(const std::string& field, std::string_view value,
                    std::initializer_list<std::string_view> supported);
  // A word that has to be one of some; `ifAbsent` when it is not there.
  std::string word(kube::Fields& fields, std::string_view key,
                   std::initializer_list<std::string_view> choices, std::string_view ifAbsent);

  kube::RuleWithOperations readRule(kube::Fields& fields);
  kube::LabelSelector readSelector(kube::Fields& fields, std::string_view key);
  std::vector<MatchCondition> readConditions(kube::Fields& fields, const CelEnvironment& environment);
  // What stands at `key`, compiled. nullopt: it is wrong, or absent, which `isRequired` makes a cause.
  std::optional<CelExpression> readExpression(kube::Fields& fields, std::string_view key,
                                              const CelEnvironment& environment, bool isRequired = true);

 private:
  std::vector<Cause>* causes_;
};

}  // namespace lastout::simulator
