// RandomPolicies: a small cluster of servers, tables that refer to them and what Kubernetes has beside, with
// random deletion policies and patches.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cluster/policies.h"
#include "kube/resource_map.h"
#include "tests/properties/dice.h"

namespace lastout::testing {

class RandomPolicies {
 public:
  explicit RandomPolicies(uint64_t seed);

  std::string manifests();
  // Returns a model of those manifests in which clients delete and change any of it; policies are added after
  // that.
  cluster::Model model(const std::vector<kube::Object>& given);
  std::vector<cluster::GivenPolicy> policies();
  kube::Labels someLabels();
  // What somebody patches of an object of the type.
  cluster::FormChange somePatch(const kube::Object& object);

  Dice& dice() { return dice_; }
  kube::ResourceMap& types() { return types_; }

 private:
  std::string labels(bool often);
  std::string truth() { return dice_.oneIn(2) ? "true" : "false"; }
  std::string server() { return dice_.oneIn(2) ? "s" : "t"; }
  std::string annotations(const std::string& name);
  std::string hashFor(const std::string& name);

  Dice dice_;
  std::map<std::string, std::vector<std::string>> tables_;  // by server, as a confirmation names them
  kube::ResourceMap types_;
};

}  // namespace lastout::testing
