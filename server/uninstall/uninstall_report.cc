#include "server/uninstall/uninstall_report.h"

namespace lastout::server {
namespace {

constexpr size_t kMostTold = 20;

}  // namespace

void UninstallReport::did(const std::string& object, const std::string& deed) {
  tell_(object + (dryRun_ ? ": would be " : ": ") + deed);
}

void UninstallReport::problem(const std::string& line) {
  ++problems_;
  complain_(line);
}

void UninstallReport::refused(const std::string& object, const std::string& what, const NotDone& why) {
  problem(object + ": cannot " + what + (why.code == 403 ? ", a right is missing: " : ": ") + why.why);
}

void UninstallReport::noteOne(const std::string& kind, const std::string& line) {
  if (++counts_[kind].done <= kMostTold) note(line);
}

void UninstallReport::didOne(const std::string& kind, const std::string& object, const std::string& deed) {
  if (++counts_[kind].done <= kMostTold) did(object, deed);
}

void UninstallReport::refusedOne(const std::string& kind, const std::string& object, const std::string& what,
                                 const NotDone& why) {
  if (++counts_[kind].refused <= kMostTold) return refused(object, what, why);
  ++problems_;
}

void UninstallReport::finish(const std::string& kind) {
  const Count count = counts_[kind];
  counts_.erase(kind);
  if (count.done > kMostTold)
    tell_(kind + ": the same of " + std::to_string(count.done - kMostTold) + " more");
  if (count.refused > kMostTold)
    complain_(kind + ": the same of " + std::to_string(count.refused - kMostTold) + " more");
}

}  // namespace lastout::server
