// Names: what people call the objects of a model: short, and still good as a reference.
#pragma once

#include <string>
#include <vector>

#include "cluster/model.h"

namespace lastout::replay {

// "deployments/my-namespace/my-name"; the group stands with it only where two types of the model share the
// resource.
class Names {
 public:
  explicit Names(const cluster::Model& model);
  static Names full(const cluster::Model& model);  // the group stands with every name
  const std::string& of(cluster::Slot slot) const { return names_[slot]; }
  // "a, b and 3 more"; at most `most` by name.
  std::string list(const std::vector<cluster::Slot>& slots, size_t most = 3) const;

 private:
  Names() = default;
  std::vector<std::string> names_;
};

// "1.250 s".
std::string seconds(std::chrono::milliseconds time);

}  // namespace lastout::replay
