// UnremovedFinalizers: the finalizers on what `lastout up` loads that nothing in its cluster removes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "replay/scenario.h"

namespace lastout::cmd {

class UnremovedFinalizers {
 public:
  // `controllers`: those that run; they outlive this. `isLastoutInside`: lastout runs there, too.
  UnremovedFinalizers(const std::vector<replay::ScenarioController>& controllers, bool isLastoutInside)
      : controllers_(controllers), isLastoutInside_(isLastoutInside) {}

  void add(const std::vector<kube::Object>& objects);
  // Returns each as "example.com/cleanup of widgets.example.com".
  std::vector<std::string> take() const { return {found_.begin(), found_.end()}; }

 private:
  bool isRemoved(const kube::GroupResource& type, const std::string& finalizer) const;

  const std::vector<replay::ScenarioController>& controllers_;
  const bool isLastoutInside_;
  std::set<std::string> found_;
};

}  // namespace lastout::cmd
