#include "protection/describe.h"

#include <algorithm>
#include <vector>

namespace lastout::protection {
namespace {

constexpr size_t kLabelWidth = 11;  // of "exceptions" and a space

std::string listedWith(const std::vector<std::string>& words, std::string_view between = ", ") {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : std::string(between)) + word;
  return text;
}

std::string padded(std::string text, size_t width) {
  text.append(text.size() < width ? width - text.size() : 0, ' ');
  return text;
}

std::string wordsOf(const ResourcePattern& pattern) {
  if (pattern.resource == "*")
    return pattern.group == "*"    ? "objects of any type"
           : pattern.group.empty() ? "objects of the core group"
                                   : "objects of group " + pattern.group;
  return pattern.group.empty() ? pattern.resource : pattern.resource + "." + pattern.group;
}

std::string wordsOf(const kube::SelectorRequirement& requirement) {
  using Operator = kube::SelectorRequirement::Operator;
  switch (requirement.op) {
    case Operator::In:
      return requirement.key + " in (" + listedWith(requirement.values) + ")";
    case Operator::NotIn:
      return requirement.key + " not in (" + listedWith(requirement.values) + ")";
    case Operator::Exists:
      return requirement.key;
    case Operator::DoesNotExist:
      return "no " + requirement.key;
  }
  return "";
}

std::string wordsOf(const Selection& selection) {
  std::vector<std::string> types;
  for (const ResourcePattern& pattern : selection.resources) types.push_back(wordsOf(pattern));
  std::string text = listedWith(types);
  if (!selection.names.empty()) text += " named " + listedWith(selection.names, " or ");
  if (!selection.namespaces.empty()) text += " in namespace " + listedWith(selection.namespaces, " or ");
  std::vector<std::string> labels;
  for (const kube::SelectorRequirement& one : selection.labels.requirements) labels.push_back(wordsOf(one));
  if (!labels.empty()) text += " with labels " + listedWith(labels);
  return text;
}

std::string wordsOf(const LabelUpkeep& labels) {
  const auto word = [](bool has, const Label& label) {
    return (has ? label.key + "=" : "no ") + (has ? label.value : label.key);
  };
  return word(labels.isProtected, labels.protection) + ", " + word(labels.isExempt, labels.exemption) +
         " (kept with --label-policies)";
}

std::string wordsOfExternal(const Hold& hold) {
  if (!hold.hasExternalStep())
    return "none: " + std::string(kNothingOutside) + " (spec.hold.external.reportedBy is not set)";
  return listedWith(hold.external->allowed, " or ") + ", reported by " + toString(*hold.external->reportedBy);
}

class Lines {
 public:
  void add(std::string_view label, const std::string& text) {
    text_ += "  " + padded(std::string(label), kLabelWidth) + text + "\n";
  }
  // The label before the first of them.
  template <class List, class Words>
  void addEach(std::string_view label, const List& list, const Words& words) {
    for (const auto& one : list) {
      add(label, words(one));
      label = "";
    }
  }
  void line(const std::string& text) { text_ += text + "\n"; }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void addPlacements(Lines& lines, const std::vector<Placement>& placements) {
  size_t width = 0;
  for (const Placement& one : placements) width = std::max(width, toString(one.place).size());
  for (const Placement& one : placements)
    lines.line("    " + padded(std::string(toString(one.place)), width + 2) + one.part + " (" + one.why +
               ")");
}

}  // namespace

std::string describe(const DeletionPolicy& policy, PolicyMode mode) {
  Lines lines;
  lines.line("policy " + policy.meta.name);
  const auto selection = [](const Selection& one) { return wordsOf(one); };
  const auto key = [](const KeyTest& one) { return toString(one); };
  if (policy.listedBy)
    lines.add("protects", "what " + kube::toString(policy.listedBy->type) + " list");
  else
    lines.addEach("protects", policy.objects, selection);
  lines.addEach("except", policy.exceptObjects, selection);
  if (policy.when.empty()) lines.add("when", "at all times");
  lines.addEach("when", policy.when, [](const Case& one) { return toString(one); });
  lines.addEach("blocks", policy.blocks, [](Block one) { return std::string(toString(one)); });
  if (policy.hold) {
    lines.add("holds", "by finalizer " + policy.hold->finalizer + "; the DELETE is accepted");
    lines.add("external", wordsOfExternal(*policy.hold));
  }
  lines.addEach("overrides", policy.overrides, key);
  lines.addEach("exemptions", policy.exemptions, key);
  if (!policy.exemptUsers.empty()) lines.add("exempt", "users " + listedWith(policy.exemptUsers));
  if (!policy.exemptGroups.empty()) lines.add("exempt", "groups " + listedWith(policy.exemptGroups));
  if (policy.labels) lines.add("labels", wordsOf(*policy.labels));
  if (policy.cleansUpOnShutdown)
    lines.add("ends", std::string("with lastout: API servers evaluate nothing of it then") +
                          (policy.labels ? ", and its labels are taken away" : ""));
  if (policy.skipTerminating) lines.add("skips", "what is being deleted already");
  if (!policy.failsClosed) lines.add("fails", "open: what nobody can decide is let pass");
  lines.line("  runs in");
  addPlacements(lines, placementsOf(policy, mode));
  return lines.take();
}

}  // namespace lastout::protection
