// A name that two manifests describe. The machine has one object of it, made as the first says; so what it
// uses of the second must be the same.
#include <algorithm>
#include <string>
#include <vector>

#include "cluster/builder.h"
#include "criticalservice/pod_needs.h"
#include "kube/api_calls.h"
#include "kube/pods.h"
#include "kube/value.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

constexpr std::string_view kNothing;

// What is there once defaults are filled in does not differ from what was left out.
bool isEmpty(const kube::Value* value) {
  if (value == nullptr || value->isNull()) return true;
  if (const auto* list = value->asList()) return list->empty();
  return value->asMap() != nullptr && value->asMap()->empty();
}

// The same tree: where it stood, and in which order a map was written, does not count.
bool same(const kube::Value* a, const kube::Value* b) {
  if (isEmpty(a) || isEmpty(b)) return isEmpty(a) && isEmpty(b);
  if (a->asMap() != nullptr && b->asMap() != nullptr) {
    return a->asMap()->size() == b->asMap()->size() &&
           std::all_of(a->asMap()->begin(), a->asMap()->end(),
                       [&](const kube::Member& member) { return same(&member.value, b->find(member.key)); });
  }
  if (a->asList() != nullptr && b->asList() != nullptr) {
    return std::equal(a->asList()->begin(), a->asList()->end(), b->asList()->begin(), b->asList()->end(),
                      [](const kube::Value& left, const kube::Value& right) { return same(&left, &right); });
  }
  if (const std::string* text = a->asString()) return b->asString() != nullptr && *text == *b->asString();
  if (const int64_t* number = a->asInteger()) return b->asInteger() != nullptr && *number == *b->asInteger();
  if (const bool* flag = a->asBool()) return b->asBool() != nullptr && *flag == *b->asBool();
  return a->data.index() == b->data.index() && a->asMap() == nullptr && a->asList() == nullptr;
}

bool sameAt(const kube::Object& a, const kube::Object& b, std::initializer_list<std::string_view> path) {
  return same(a.content.at(path), b.content.at(path));
}

bool sameOwners(const kube::Object& a, const kube::Object& b) {
  return std::equal(a.meta.ownerReferences.begin(), a.meta.ownerReferences.end(),
                    b.meta.ownerReferences.begin(), b.meta.ownerReferences.end(),
                    [](const kube::OwnerReference& left, const kube::OwnerReference& right) {
                      return std::tie(left.kind, left.name, left.controller, left.blockOwnerDeletion) ==
                             std::tie(right.kind, right.name, right.controller, right.blockOwnerDeletion);
                    });
}

bool sameFinalizers(std::vector<std::string> a, std::vector<std::string> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  return a == b;
}

// Those of its spec that keep a Namespace beside Kubernetes' own, which every Namespace has.
std::vector<std::string> otherSpecFinalizers(const kube::Object& space) {
  std::vector<std::string> finalizers = criticalservice::textsAt(space.content, {"spec", "finalizers"});
  std::erase(finalizers, kube::kNamespaceSpecFinalizer);
  return finalizers;
}

// Returns true if both CRDs serve the same versions, and objects are converted by the same webhook or none.
bool sameVersions(const kube::Object& a, const kube::Object& b) {
  const auto conversion = [](const kube::Object& crd) { return kube::calledConversionOf(crd.content); };
  const auto served = [](const kube::Object& crd) { return kube::servedVersions({}, &crd.content); };
  return conversion(a) == conversion(b) && served(a) == served(b);
}

int64_t replicasIn(const kube::Object& object) {
  const kube::Value* replicas = object.content.at({"spec", "replicas"});
  return replicas == nullptr || replicas->asInteger() == nullptr ? 1 : *replicas->asInteger();
}

// Returns true if both have the same webhooks, as far as the machine uses them: whether their failures count,
// where they are served, and what they are called for.
bool sameWebhooks(const kube::Object& a, const kube::Object& b) {
  const std::vector<kube::CalledWebhook> left = kube::webhooksOf(a.key.type, a.content);
  const std::vector<kube::CalledWebhook> right = kube::webhooksOf(b.key.type, b.content);
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const kube::CalledWebhook& one, const kube::CalledWebhook& other) {
                      return one.matches == other.matches && one.address == other.address &&
                             one.failureIsIgnored == other.failureIsIgnored;
                    });
}

// The first of the fields by which a StatefulSet makes and deletes claims that differs; empty: none does.
std::string_view otherClaims(const kube::Object& first, const kube::Object& again) {
  const auto names = [](const kube::Object& set) {
    std::vector<std::string> all;
    for (const kube::Value& claimTemplate : kube::listAt(set.content, {"spec", "volumeClaimTemplates"}))
      all.push_back(kube::textAt(claimTemplate, {"metadata", "name"}));
    return all;
  };
  if (names(first) != names(again)) return "spec.volumeClaimTemplates";
  return deletesClaims(first.content) == deletesClaims(again.content)
             ? kNothing
             : "spec.persistentVolumeClaimRetentionPolicy";
}

// The first thing in the specification that differs; empty: nothing that the machine uses.
std::string_view otherSpecification(const kube::Object& first, const kube::Object& again, SlotKind kind,
                                    bool isCreated) {
  switch (kind) {
    case SlotKind::Deployment:
    case SlotKind::ReplicaSet:
    case SlotKind::StatefulSet: {
      const bool says = isCreated || again.content.at({"spec", "replicas"}) != nullptr;
      if (says && replicasIn(first) != replicasIn(again)) return "spec.replicas";
      const std::string_view claims = otherClaims(first, again);
      if (kind == SlotKind::StatefulSet && claims != kNothing) return claims;
      [[fallthrough]];
    }
    case SlotKind::DaemonSet:
    case SlotKind::Job:
      if (kind == SlotKind::Job && !sameAt(first, again, {"spec", "parallelism"})) return "spec.parallelism";
      if (kind == SlotKind::Job && !sameAt(first, again, {"spec", "ttlSecondsAfterFinished"}))
        return "spec.ttlSecondsAfterFinished";
      if (!sameAt(first, again, {"spec", "template", "metadata", "labels"})) return "Pod labels";
      if (!sameAt(first, again, {"spec", "template", "metadata", "finalizers"})) return "Pod finalizers";
      [[fallthrough]];
    case SlotKind::Pod:
      return mountedClaims(first.content, kind, "") == mountedClaims(again.content, kind, "") ? kNothing
                                                                                              : "volumes";
    default:
      break;
  }
  if (kind == SlotKind::ManifestWork &&
      !sameAt(first, again, {"spec", "deleteOption", "ttlSecondsAfterFinished"}))
    return "spec.deleteOption.ttlSecondsAfterFinished";
  if (kind == SlotKind::ManifestWorkReplicaSet && !sameAt(first, again, {"spec", "cascadeDeletionPolicy"}))
    return "spec.cascadeDeletionPolicy";
  if (kind == SlotKind::Namespace && !sameFinalizers(otherSpecFinalizers(first), otherSpecFinalizers(again)))
    return "spec.finalizers";
  if (kind == SlotKind::Crd && !sameVersions(first, again)) return "spec.versions or spec.conversion";
  if (again.key.type == kube::kServices && !sameAt(first, again, {"spec", "selector"}))
    return "spec.selector";
  if (again.key.type == kube::kServices &&
      kube::calledPortsOf(first.content) != kube::calledPortsOf(again.content))
    return "spec.ports";
  if (again.key.type == kube::kServices && kube::isHeadless(first.content) != kube::isHeadless(again.content))
    return "spec.clusterIP";
  if (kind == SlotKind::PersistentVolume &&
      kube::isReleased(first.content) != kube::isReleased(again.content))
    return "status.phase";
  if (kind == SlotKind::PersistentVolume && !sameAt(first, again, {"spec", "claimRef", "name"}))
    return "spec.claimRef";
  if (kind == SlotKind::PersistentVolumeClaim && !sameAt(first, again, {"spec", "volumeName"}))
    return "spec.volumeName";
  if (again.key.type == kube::kApiServices && !sameAt(first, again, {"spec", "service"}))
    return "spec.service";
  if (again.key.type.group == kube::kAdmissionRegistrationGroup && !sameWebhooks(first, again))
    return "webhooks";
  return kNothing;
}

std::string_view otherMetadata(const kube::Object& first, const kube::Object& again) {
  if (!sameFinalizers(first.meta.finalizers, again.meta.finalizers)) return "finalizers";
  if (!sameOwners(first, again)) return "ownerReferences";
  return first.meta.labels == again.meta.labels ? kNothing : "labels";
}

// An invalid one is an error wherever it stands; of two that are valid, the specifications count.
std::string_view otherService(Builder& builder, const kube::Object& first, const kube::Object& again) {
  const auto parsed = criticalservice::parse(again, builder.input.types);
  if (!parsed) {
    builder.errors.insert(builder.errors.end(), parsed.error().begin(), parsed.error().end());
    return kNothing;
  }
  const auto known = criticalservice::parse(first, builder.input.types);
  if (!known) return kNothing;  // wireServices() says so
  if (known->provider != parsed->provider) return "spec.provider";
  if (known->criteria != parsed->criteria) return "spec.criteria";
  if (known->intent != parsed->intent) return "spec.deletionIntent";
  return known->enforcement == parsed->enforcement ? kNothing : "spec.enforcement";
}

// A work that names an object of the scenario's file, say.
bool isSameDocument(const kube::Object& first, const kube::Object& again) {
  return !first.file.empty() && first.file == again.file && first.content.position == again.content.position;
}

}  // namespace

void checkRepeated(Builder& builder, const kube::Object& first, const kube::Object& again, bool isCreated) {
  if (isSameDocument(first, again)) return;
  const SlotKind kind = kindOf(again.key.type);
  std::string_view what = kind == SlotKind::CriticalService
                              ? otherService(builder, first, again)
                              : otherSpecification(first, again, kind, isCreated);
  if (what.empty() && isCreated) what = otherMetadata(first, again);
  const auto references = [&](const kube::Object& object) {
    return criticalservice::referencesOf(object, builder.askedFields);
  };
  if (what.empty() && references(first) != references(again))
    what = "names in the fields that criteria ask about";
  if (what.empty()) return;
  builder.errors.push_back({.message = kube::toString(again.key) + " stands here with other " +
                                       std::string(what) +
                                       " than before; write both alike. The first is at " +
                                       kube::toString(kube::Error{"", first.file, first.content.position}),
                            .file = again.file,
                            .position = again.content.position});
}

}  // namespace lastout::cluster
