#include "criticalservice/pod_needs.h"

#include <algorithm>
#include <utility>

#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::criticalservice {
namespace {

constexpr int64_t kMostReplicas = 64;  // whose claims are found

bool isOptional(const kube::Value& reference) {
  const kube::Value* optional = reference.find("optional");
  return optional != nullptr && optional->asBool() != nullptr && *optional->asBool();
}

class Needs {
 public:
  explicit Needs(const kube::Object& object) : object_(object) {}

  void read(const kube::Value& podTemplate);
  std::vector<Dependency> take() { return std::move(found_); }

 private:
  void add(const char* resource, const std::string& name, std::string why) {
    if (name.empty() || found_.size() == kMostRead) return;
    found_.push_back({{{"", resource}, object_.key.namespaceName, name}, std::move(why), false});
  }
  // `reference`: {<field>: <name>, optional}; nullptr: there is none.
  void addNamed(const char* resource, const kube::Value* reference, std::string_view field,
                const std::string& why) {
    if (reference != nullptr && !isOptional(*reference))
      add(resource, kube::textAt(*reference, {field}), why);
  }
  void readVolume(const kube::Value& volume);
  void readContainer(const kube::Value& container);
  void readClaimTemplate(const kube::Value& claim);

  const kube::Object& object_;
  std::vector<Dependency> found_;
};

void Needs::read(const kube::Value& podTemplate) {
  if (std::string account = serviceAccountOf(podTemplate); account != kDefaultAccount)
    add("serviceaccounts", account, "its ServiceAccount");
  forEachItem(podTemplate.at({"spec", "volumes"}), [&](const kube::Value& volume) { readVolume(volume); });
  for (const std::string_view list : {"initContainers", "containers"})
    forEachItem(podTemplate.at({"spec", list}),
                [&](const kube::Value& container) { readContainer(container); });
  forEachItem(podTemplate.at({"spec", "imagePullSecrets"}), [&](const kube::Value& secret) {
    add("secrets", kube::textAt(secret, {"name"}), "image pull secret");
  });
  forEachItem(object_.content.at({"spec", "volumeClaimTemplates"}),
              [&](const kube::Value& claim) { readClaimTemplate(claim); });
}

void Needs::readVolume(const kube::Value& volume) {
  const std::string why = "volume " + kube::textAt(volume, {"name"});
  addNamed("secrets", volume.find("secret"), "secretName", why);
  addNamed("configmaps", volume.find("configMap"), "name", why);
  addNamed("persistentvolumeclaims", volume.find("persistentVolumeClaim"), "claimName", why);
  forEachItem(volume.at({"projected", "sources"}), [&](const kube::Value& source) {
    addNamed("secrets", source.find("secret"), "name", why);
    addNamed("configmaps", source.find("configMap"), "name", why);
  });
  if (volume.asMap() == nullptr) return;
  addNamed("secrets", volume.find("azureFile"), "secretName", why);
  // What a driver reads to reach the volume: {csi: {nodePublishSecretRef: {name}}}, {rbd: {secretRef:
  // {name}}}
  for (const kube::Member& source : *volume.asMap()) {
    for (const std::string_view reference : {"secretRef", "nodePublishSecretRef"})
      addNamed("secrets", source.value.find(reference), "name", why);
  }
}

void Needs::readContainer(const kube::Value& container) {
  forEachItem(container.find("env"), [&](const kube::Value& variable) {
    const std::string why = "variable " + kube::textAt(variable, {"name"});
    addNamed("secrets", variable.at({"valueFrom", "secretKeyRef"}), "name", why);
    addNamed("configmaps", variable.at({"valueFrom", "configMapKeyRef"}), "name", why);
  });
  forEachItem(container.find("envFrom"), [&](const kube::Value& source) {
    const std::string why = "variables of container " + kube::textAt(container, {"name"});
    addNamed("secrets", source.find("secretRef"), "name", why);
    addNamed("configmaps", source.find("configMapRef"), "name", why);
  });
}

// A StatefulSet's Pods each have a claim: "<template>-<set>-<ordinal>".
void Needs::readClaimTemplate(const kube::Value& claim) {
  const std::string& name = kube::textAt(claim, {"metadata", "name"});
  if (name.empty()) return;
  const kube::Value* written = object_.content.at({"spec", "replicas"});
  const int64_t replicas = written != nullptr && written->asInteger() != nullptr ? *written->asInteger() : 1;
  for (int64_t i = 0; i < std::min(replicas, kMostReplicas); ++i)
    add("persistentvolumeclaims", name + "-" + object_.key.name + "-" + std::to_string(i), "volume " + name);
}

}  // namespace

bool mayHavePods(const kube::Object& object) {
  if (object.meta.deletionTimestamp) return false;
  const kube::Value* replicas = object.content.at({"spec", "replicas"});
  return replicas == nullptr || replicas->asInteger() == nullptr || *replicas->asInteger() > 0;
}

const kube::Value* podTemplateOf(const kube::Object& object) {
  const kube::Value* found = &object.content;
  if (object.key.type == kube::kControllerRevisions) {
    found = object.content.at({"data", "spec", "template"});
  } else if (object.key.type != kube::kPods) {
    found = object.content.at({"spec", "template"});
    if (found == nullptr) found = object.content.at({"spec", "jobTemplate", "spec", "template"});
  }
  const kube::Value* containers = found == nullptr ? nullptr : found->at({"spec", "containers"});
  return containers != nullptr && containers->asList() != nullptr ? found : nullptr;
}

std::string serviceAccountOf(const kube::Value& podTemplate) {
  for (const std::string_view field : {"serviceAccountName", "serviceAccount"}) {
    if (const std::string& name = kube::textAt(podTemplate, {"spec", field}); !name.empty()) return name;
  }
  return std::string(kDefaultAccount);
}

std::vector<Dependency> podNeeds(const kube::Object& object, const kube::Value& podTemplate) {
  Needs needs(object);
  needs.read(podTemplate);
  return needs.take();
}

kube::Labels labelsAt(const kube::Value& value, std::initializer_list<std::string_view> path) {
  kube::Labels labels;
  const kube::Value* map = value.at(path);
  if (map == nullptr || map->asMap() == nullptr) return labels;
  for (const kube::Member& member : *map->asMap()) {
    if (const std::string* text = member.value.asString()) labels.emplace(member.key, *text);
  }
  return labels;
}

bool selects(const kube::Labels& selector, const kube::Labels& podLabels) {
  return !selector.empty() && std::ranges::includes(podLabels, selector);
}

bool selectsPod(const kube::Object& service, const kube::ObjectKey& pod, const kube::Labels& labels) {
  return service.key.namespaceName == pod.namespaceName &&
         selects(labelsAt(service.content, {"spec", "selector"}), labels);
}

bool isBehind(const kube::Object& service, const kube::Object& object) {
  return selectsPod(service, object.key,
                    object.key.type == kube::kPods
                        ? object.meta.labels
                        : labelsAt(object.content, {"spec", "template", "metadata", "labels"}));
}

bool hasPortNamed(const kube::Object& object, std::string_view name) {
  const kube::Value* podTemplate = podTemplateOf(object);
  if (podTemplate == nullptr || name.empty()) return true;
  bool found = false;
  const auto look = [&](const kube::Value& container) {
    forEachItem(container.find("ports"), [&](const kube::Value& port) {
      const std::string& protocol = kube::textAt(port, {"protocol"});
      found |= kube::textAt(port, {"name"}) == name && (protocol.empty() || protocol == "TCP");
    });
  };
  forEachItem(podTemplate->at({"spec", "containers"}), look);
  // Sidecars: init containers that go on running beside the others.
  forEachItem(podTemplate->at({"spec", "initContainers"}), [&](const kube::Value& container) {
    if (kube::textAt(container, {"restartPolicy"}) == "Always") look(container);
  });
  return found;
}

std::vector<std::string> textsAt(const kube::Value& value, std::initializer_list<std::string_view> path) {
  std::vector<std::string> texts;
  forEachItem(value.at(path), [&](const kube::Value& item) {
    if (const std::string* text = item.asString()) texts.push_back(*text);
  });
  return texts;
}

void forEachItem(const kube::Value* list, const std::function<void(const kube::Value& item)>& visit) {
  if (list == nullptr || list->asList() == nullptr) return;
  for (const kube::Value& item : *list->asList()) visit(item);
}

}  // namespace lastout::criticalservice
