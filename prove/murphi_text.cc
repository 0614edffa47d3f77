#include <algorithm>
#include <set>

#include "cluster/machine.h"
#include "kube/patterns.h"
#include "kube/well_known.h"
#include "prove/murphi_tables.h"

namespace lastout::prove {

namespace {

using cluster::Model;
using cluster::Slot;
using cluster::SlotInfo;

// "s3_deployments_apps_operator_controller": unique by its number, readable by the rest.
std::string identifier(const std::string& prefix, size_t number, const std::string& name) {
  constexpr size_t kMostOfName = 80;
  std::string text = prefix + std::to_string(number) + "_" + name.substr(0, kMostOfName);
  const auto isPlain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  std::ranges::replace_if(
      text, [&](char c) { return !isPlain(c); }, '_');
  return text;
}

std::string joined(const std::vector<std::string>& conditions, const char* between, const char* ofNone) {
  if (conditions.empty()) return ofNone;
  std::string text = "(" + conditions.front() + ")";
  for (size_t i = 1; i < conditions.size(); ++i) text += std::string(between) + "(" + conditions[i] + ")";
  return text;
}

}  // namespace

MurphiNames::MurphiNames(const Model& model) : model_(model) {
  std::set<std::string> names;
  for (const SlotInfo& info : model.slots) {
    slots_.push_back(identifier("s", slots_.size(), kube::toString(info.key)));
    names.insert(info.finalizers.begin(), info.finalizers.end());
    mostOwners_ = std::max(mostOwners_, info.owners.size());
    mostChildren_ = std::max(mostChildren_, info.children.size());
  }
  finalizerNames_.assign(names.begin(), names.end());
}

std::vector<std::string> MurphiNames::finalizersMeantBy(std::string_view named) const {
  // The garbage collector's two are in no slot's vocabulary.
  if (named == kube::kForegroundFinalizer || named == kube::kOrphanFinalizer)
    return {finalizerNamed(std::string(named))};
  std::vector<std::string> meant;
  for (const std::string& name : finalizerNames_) {
    if (kube::meansFinalizer(named, name)) meant.push_back(finalizerNamed(name));
  }
  return meant;
}

std::string MurphiNames::finalizerNamed(const std::string& name) const {
  if (name == kube::kForegroundFinalizer) return "f_foreground";
  if (name == kube::kOrphanFinalizer) return "f_orphan";
  const auto found = std::ranges::lower_bound(finalizerNames_, name);
  if (found == finalizerNames_.end() || *found != name) return "f_none";
  return identifier("f", static_cast<size_t>(found - finalizerNames_.begin()), name);
}

std::vector<std::string> MurphiNames::finalizers(Slot slot, uint16_t bits) const {
  std::vector<std::string> result;
  for (const std::string& name : cluster::finalizerNames(model_.slots[slot], bits))
    result.push_back(finalizerNamed(name));
  return result;
}

std::string MurphiNames::finalizer(Slot slot, uint16_t bit) const {
  const std::vector<std::string> all = finalizers(slot, bit);
  return all.empty() ? "f_none" : all.front();
}

std::string MurphiNames::isAnyOf(const std::string& variable, Slot slot, uint16_t bits) const {
  std::vector<std::string> any;
  for (const std::string& finalizer : finalizers(slot, bits)) any.push_back(variable + " = " + finalizer);
  return anyOf(any);
}

std::string MurphiNames::allSlots() const {
  std::string text;
  for (const std::string& slot : slots_) text += ",\n    " + slot;
  return text;
}

std::string MurphiNames::allFinalizers() const {
  std::string text;
  for (const std::string& name : finalizerNames_) text += ", " + finalizerNamed(name);
  return text;
}

MurphiCase caseOf(std::string key, const std::string& value) {
  return {std::move(key), "return " + value + ";"};
}

std::string murphiFunction(const std::string& head, const std::string& variable, const std::string& otherwise,
                           const std::vector<MurphiCase>& cases) {
  std::string text = "function " + head + ";\nbegin\n";
  if (!cases.empty()) {
    text += "  switch " + variable + "\n";
    for (const MurphiCase& one : cases) text += "    case " + one.key + ": " + one.body + "\n";
    text += "  end;\n";
  }
  return text + "  return " + otherwise + ";\nend;\n\n";
}

std::string word(bool value) { return value ? "true" : "false"; }

std::string allOf(const std::vector<std::string>& conditions) { return joined(conditions, " & ", "true"); }

std::string anyOf(const std::vector<std::string>& conditions) { return joined(conditions, " | ", "false"); }

}  // namespace lastout::prove
