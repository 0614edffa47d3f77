#include "cluster/forms.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace lastout::cluster {
namespace {

using nlohmann::json;

json asJson(const kube::Value& value) { return json(kube::toJson(value)); }

bool isSameContent(const std::shared_ptr<const kube::Value>& one,
                   const std::shared_ptr<const kube::Value>& other) {
  if (one == nullptr || other == nullptr) return one == other;
  return one == other || asJson(*one) == asJson(*other);
}

// One map of the metadata, by a merge patch of it.
void mergeInto(kube::Labels& map, const kube::Value* patch) {
  if (patch == nullptr) return;
  if (patch->isNull()) map.clear();
  if (patch->asMap() == nullptr) return;
  for (const kube::Member& member : *patch->asMap()) {
    if (member.value.isNull())
      map.erase(member.key);
    else if (const std::string* text = member.value.asString())
      map[member.key] = *text;
  }
}

// Everything but the metadata.
void mergeContent(ObjectForm& form, const FormChange& change) {
  if (change.manifest == nullptr) return;
  json patch = asJson(change.merge);
  patch.erase("metadata");
  if (patch.empty()) return;
  const json before = asJson(form.content == nullptr ? *change.manifest : *form.content);
  json after = before;
  after.merge_patch(patch);
  if (after == before) return;
  form.content.reset();
  if (after != asJson(*change.manifest))
    form.content = std::make_shared<const kube::Value>(kube::fromJson(after));
}

}  // namespace

bool isSame(const ObjectForm& one, const ObjectForm& other) {
  return one.labels == other.labels && one.annotations == other.annotations &&
         one.isRepaired == other.isRepaired && isSameContent(one.content, other.content);
}

ObjectForm changed(const ObjectForm& form, const FormChange& change) {
  ObjectForm after = form;
  if (change.labels) after.labels = *change.labels;
  if (change.merge.asMap() == nullptr) return after;
  mergeInto(after.labels, change.merge.at({"metadata", "labels"}));
  mergeInto(after.annotations, change.merge.at({"metadata", "annotations"}));
  mergeContent(after, change);
  return after;
}

kube::Result<uint8_t> formNumber(Model& model, Slot slot, ObjectForm form) {
  std::vector<ObjectForm>& forms = model.slots[slot].forms;
  const auto found = std::ranges::find_if(forms, [&](const ObjectForm& one) { return isSame(one, form); });
  const auto number = static_cast<uint8_t>(found - forms.begin());
  if (found != forms.end()) return number;
  if (forms.size() == kMaxForms)
    return tl::unexpected(kube::Error{model.name(slot) + " has over its life more than " +
                                          std::to_string(kMaxForms) +
                                          " forms: sets of labels, annotations and fields",
                                      {},
                                      {}});
  forms.push_back(std::move(form));
  return number;
}

kube::Result<void> growForms(Model& model, Slot slot) {
  for (size_t form = 0; form < model.slots[slot].forms.size(); ++form) {
    for (const uint32_t number : model.slots[slot].steps) {
      const ClientStep& step = model.steps[number];
      if (step.verb != ClientStep::Verb::SetForm || step.forms.size() > form) continue;
      const auto next = formNumber(model, slot, changed(model.slots[slot].forms[form], step.change));
      if (!next) return tl::unexpected(next.error());
      model.steps[number].forms.push_back(*next);
    }
  }
  return {};
}

}  // namespace lastout::cluster
