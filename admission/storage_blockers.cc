#include "admission/storage_blockers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "criticalservice/pod_needs.h"
#include "kube/messages.h"
#include "kube/pods.h"
#include "kube/well_known.h"

namespace lastout::admission {
namespace {

using Objects = std::vector<const kube::Object*>;

constexpr size_t kMostUsers = 10;       // in one sentence
constexpr size_t kMostControllers = 5;  // above one Pod

bool isClaimProtected(const kube::Object& claim) {
  return claim.meta.deletionTimestamp && kube::hasFinalizer(claim.meta, kube::kPvcProtectionFinalizer);
}

// The CSI attacher keeps the volume until it is attached nowhere.
bool isKeptByAttacher(const kube::Object& volume) {
  return std::ranges::any_of(volume.meta.finalizers, [](const std::string& finalizer) {
    return finalizer.starts_with(kube::kAttacherFinalizerPrefix);
  });
}

class StorageFinder {
 public:
  StorageFinder(const SpecObjects& objects, SpecBlockers& found) : objects_(objects), found_(found) {
    for (const kube::Object* object : objects.all) addUser(*object);
  }

  void find() {
    for (const kube::Object* object : objects_.all) {
      const kube::GroupResource& type = object->key.type;
      if (type == kube::kPods) addNode(*object);
      if (type == kube::kPersistentVolumeClaims && isClaimProtected(*object)) addUsers(*object);
      if (type == kube::kPersistentVolumes && object->meta.deletionTimestamp) addVolume(*object);
      if (type == kube::kVolumeAttachments) addAttachment(*object);
    }
  }

 private:
  void addUser(const kube::Object& object) {
    const bool isPod = object.key.type == kube::kPods;
    const kube::Value* podTemplate = isPod ? &object.content : criticalservice::podTemplateOf(object);
    if (podTemplate == nullptr || object.key.type == kube::kControllerRevisions) return;
    if (isPod ? kube::isWithoutNode(object) : !criticalservice::mayHavePods(object)) return;
    for (const kube::MountedClaim& mounted : kube::claimsOf(podTemplate->find("spec"), object.key.name)) {
      const kube::ObjectKey claim{kube::kPersistentVolumeClaims, object.key.namespaceName, mounted.name};
      if (!mounted.isEphemeral || (isPod && controls(object, claim) && !kube::isShutDown(object)))
        (isPod ? pods_ : workloads_)[claim].push_back(&object);
    }
  }

  static Objects at(const std::map<kube::ObjectKey, Objects>& users, const kube::ObjectKey& claim) {
    const auto found = users.find(claim);
    return found == users.end() ? Objects() : found->second;
  }

  // The object that controls the other one, and may not be known itself; nullopt: none does.
  std::optional<kube::ObjectKey> controllerOf(const kube::Object& one) const {
    const auto owner = std::ranges::find_if(one.meta.ownerReferences, &kube::OwnerReference::controller);
    if (owner == one.meta.ownerReferences.end()) return std::nullopt;
    const kube::ResourceType* type = objects_.types.findKind(kube::groupOf(owner->apiVersion), owner->kind);
    if (type == nullptr) return std::nullopt;
    kube::ObjectKey key{type->type, type->namespaced ? one.key.namespaceName : "", owner->name};
    const kube::Object* known = objects_.find(key);
    const bool isAnother =
        known != nullptr && !known->meta.uid.empty() && !owner->uid.empty() && known->meta.uid != owner->uid;
    return isAnother ? std::nullopt : std::optional(std::move(key));
  }

  bool controls(const kube::Object& pod, const kube::ObjectKey& claim) const {
    const kube::Object* known = objects_.find(claim);
    return known != nullptr && controllerOf(*known) == pod.key;
  }

  // The object that makes the Pod, as far up as it is known; empty: nobody does.
  std::string makerOf(const kube::Object& pod) const {
    std::string name;
    const kube::Object* one = &pod;
    for (size_t i = 0; one != nullptr && i < kMostControllers; ++i) {
      const auto controller = controllerOf(*one);
      if (!controller) break;
      name = kube::toString(*controller);
      one = objects_.find(*controller);
    }
    return name;
  }

  // "pods/shop/db (being deleted)", "pods/shop/web-1 (of deployments.apps/shop/web)".
  std::string named(const kube::Object& user) const {
    const std::string maker = makerOf(user);
    const std::string key = kube::toString(user.key);
    if (user.meta.deletionTimestamp) return key + " (being deleted)";
    return maker.empty() ? key : key + " (of " + maker + ")";
  }

  // `why`: ends before the users; empty: nobody asks for its deletion before they are gone.
  void add(const kube::Object& kept, const std::string& why, const Objects& users) {
    if (users.empty()) return;
    SpecBlocker blocker{.keeps = !why.empty(), .reason = "InUse"};
    std::vector<std::string> names;
    for (const kube::Object* user : users) {
      blocker.objects.push_back(user->key);
      names.push_back(named(*user));
    }
    blocker.message = why + kube::listed(names, kMostUsers);
    found_[kept.key].push_back(std::move(blocker));
  }

  void addUsers(const kube::Object& claim) {
    const Objects pods = at(pods_, claim.key);
    add(claim, "it stays while Pods use it: ", pods);
    if (pods.empty()) add(claim, "it stays while Pods that these make use it: ", at(workloads_, claim.key));
  }

  void addVolume(const kube::Object& volume) {
    Objects claims;
    Objects attachments;
    for (const kube::Object* one : objects_.all) {
      if (one->key.type == kube::kPersistentVolumeClaims &&
          kube::isBound(one->key, kube::volumeOf(one->content), volume.key, kube::claimOf(volume.content)))
        claims.push_back(one);
      if (one->key.type == kube::kVolumeAttachments && volumeNameOf(*one) == volume.key.name)
        attachments.push_back(one);
    }
    if (kube::hasFinalizer(volume.meta, kube::kPvProtectionFinalizer) && kube::mayBeInUse(volume.content))
      add(volume, "it stays while a claim is bound to it: ", claims);
    if (isKeptByAttacher(volume)) add(volume, "it stays while it is attached: ", attachments);
  }

  static const std::string& volumeNameOf(const kube::Object& attachment) {
    return kube::textAt(attachment.content, {"spec", "source", "persistentVolumeName"});
  }

  // Kubernetes deletes it once no Pod on that Node uses the volume: nothing then keeps it but its driver.
  void addAttachment(const kube::Object& attachment) {
    const std::string& node = kube::textAt(attachment.content, {"spec", "nodeName"});
    const kube::Object* volume = objects_.find({kube::kPersistentVolumes, "", volumeNameOf(attachment)});
    const auto claim = volume == nullptr ? std::nullopt : kube::claimOf(volume->content);
    Objects pods = claim ? at(pods_, *claim) : Objects();
    std::erase_if(pods, [&](const kube::Object* pod) { return kube::nodeOf(*pod) != node; });
    if (!attachment.meta.deletionTimestamp) add(attachment, {}, pods);
    const std::string& problem = kube::textAt(attachment.content, {"status", "detachError", "message"});
    if (problem.empty()) return;
    const std::string cause = "its volume cannot be detached from " + nodeName(node) + ": " + problem;
    found_[attachment.key].push_back(
        {.keeps = true, .reason = "InUse", .message = cause, .cause = cause, .objects = {attachment.key}});
  }

  static std::string nodeName(const std::string& node) {
    return kube::toString(kube::ObjectKey{kube::kNodes, "", node});
  }

  void addNode(const kube::Object& pod) {
    const kube::Object* node = objects_.find({kube::kNodes, "", kube::nodeThatEnds(pod)});
    if (node == nullptr || kube::isOutOfService(node->content)) return;
    const std::string ready = kube::notReadyStatus(node->content);
    if (ready.empty()) return;
    // A kubelet that says False works, but may not be able to stop containers.
    const bool isSilent = ready == "Unknown";
    const std::string name = kube::toString(node->key);
    const std::string why = "its condition Ready is " + ready;
    found_[pod.key].push_back(
        {.keeps = true,
         .reason = "NodeNotReady",
         .message = name + (isSilent ? " ends no Pods, because " : " may end no Pods, because ") + why +
                    (isSilent ? "; bring it back, or, once that machine is off, delete " + name
                              : "; its other conditions and its events say why"),
         .cause = why + (isSilent ? ", so nobody ends its Pods" : ", so it may not end its Pods"),
         .objects = {node->key}});
  }

  const SpecObjects& objects_;
  std::map<kube::ObjectKey, Objects> pods_;       // by the claim that they use
  std::map<kube::ObjectKey, Objects> workloads_;  // the same
  SpecBlockers& found_;
};

}  // namespace

void addStorageBlockers(const SpecObjects& objects, SpecBlockers& found) {
  StorageFinder(objects, found).find();
}

}  // namespace lastout::admission
