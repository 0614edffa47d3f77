#include "simulator/loader.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "criticalservice/finalizer_removers.h"
#include "kube/well_known.h"
#include "manifestwork/manifest_work.h"

namespace lastout::simulator {
namespace {

// Webhooks are registered when all else is there: an install manifest has its own Service, and objects that
// its webhook would review. So are policies, which come into force by their bindings. What lastout is to
// guard is there before it is told so.
int rankOf(const kube::Object& object) {
  if (object.key.type == kube::kCustomResourceDefinitions) return 0;
  if (object.key.type == kube::kNamespaces) return 1;
  if (object.key.type.group == kube::kLastoutGroup) return 3;
  if (object.key.type == manifestwork::manifestWorkType()) return 4;
  if (object.key.type == kube::kValidatingAdmissionPolicyBindings) return 6;
  const bool isWebhook = object.key.type == kube::kMutatingWebhookConfigurations ||
                         object.key.type == kube::kValidatingWebhookConfigurations;
  return isWebhook ? 5 : 2;
}

// An object by which owner references find it: they name a kind, not a resource.
using OwnerKindAndName = std::tuple<std::string, std::string, std::string>;  // namespace, kind, name

class Load {
 public:
  explicit Load(EmbeddedCluster& cluster) : cluster_(cluster) {}

  void run(std::vector<kube::Object> objects);
  tl::expected<LoadedManifests, kube::Errors> result() && {
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return std::move(loaded_);
  }

 private:
  bool isReady(const kube::Object& object) const;
  void makeNamespace(const kube::Object& object);
  void create(const kube::Object& object);
  void rename(Json& object, const kube::Object& source) const;
  ExchangeResponse send(const std::string& method, const std::string& path, const Json& body);
  std::string pathOf(const kube::Object& object) const;
  void fail(const kube::Object& object, const ExchangeResponse& response);

  EmbeddedCluster& cluster_;
  LoadedManifests loaded_;
  kube::Errors errors_;
  std::set<OwnerKindAndName> awaited_;            // objects of this load that are not created yet
  std::map<OwnerKindAndName, std::string> uids_;  // of those that are
  std::set<std::string> namespaces_;
};

OwnerKindAndName ownerNameOf(const kube::Object& object) {
  return {object.key.namespaceName, object.kind, object.key.name};
}

void Load::run(std::vector<kube::Object> objects) {
  std::ranges::stable_sort(objects, {}, rankOf);
  for (const kube::Object& object : objects) awaited_.insert(ownerNameOf(object));
  while (!objects.empty()) {
    std::vector<kube::Object> later;
    for (kube::Object& object : objects) {
      if (isReady(object))
        create(object);
      else
        later.push_back(std::move(object));
    }
    if (later.size() == objects.size()) {  // they own each other
      create(later.front());
      later.erase(later.begin());
    }
    objects = std::move(later);
  }
}

bool Load::isReady(const kube::Object& object) const {
  return std::ranges::none_of(object.meta.ownerReferences, [&](const kube::OwnerReference& reference) {
    return awaited_.contains({object.key.namespaceName, reference.kind, reference.name}) ||
           awaited_.contains({"", reference.kind, reference.name});
  });
}

ExchangeResponse Load::send(const std::string& method, const std::string& path, const Json& body) {
  ExchangeRequest request;
  request.method = method;
  request.path = path;
  if (method == "POST") request.query = {{"fieldValidation", "Strict"}};  // as kubectl does
  request.body = body.is_null() ? std::string() : toText(body);
  request.user = adminUser();
  return cluster_.handle(request);
}

std::string Load::pathOf(const kube::Object& object) const {
  const size_t slash = object.apiVersion.find('/');
  std::string path = slash == std::string::npos ? "/api/" : "/apis/";
  path += object.apiVersion + "/";
  if (!object.key.namespaceName.empty()) path += "namespaces/" + object.key.namespaceName + "/";
  return path + object.key.type.resource;
}

void Load::makeNamespace(const kube::Object& object) {
  const std::string& name = object.key.namespaceName;
  if (name.empty() || !namespaces_.insert(name).second) return;
  send("POST", "/api/v1/namespaces",
       {{"apiVersion", "v1"}, {"kind", "Namespace"}, {"metadata", {{"name", name}}}});  // or it is there
}

// Owner references name the uids of this cluster.
void Load::rename(Json& object, const kube::Object& source) const {
  object["metadata"].erase("resourceVersion");
  if (source.meta.ownerReferences.empty()) return;
  for (Json& reference : object["metadata"]["ownerReferences"]) {
    for (const std::string& space : {source.key.namespaceName, std::string()}) {
      const auto uid = uids_.find(
          {space, std::string(stringAt(reference, {"kind"})), std::string(stringAt(reference, {"name"}))});
      if (uid != uids_.end()) reference["uid"] = uid->second;
    }
    if (stringAt(reference, {"uid"}).empty()) reference["uid"] = "not-here";
  }
}

void Load::create(const kube::Object& object) {
  awaited_.erase(ownerNameOf(object));
  makeNamespace(object);
  Json content = kube::toSortedJson(object.content);
  content["metadata"]["namespace"] = object.key.namespaceName;
  if (object.key.namespaceName.empty()) content["metadata"].erase("namespace");
  rename(content, object);
  const ExchangeResponse response = send("POST", pathOf(object), content);
  const bool isKnownNamespace = response.status == 409 && object.key.type == kube::kNamespaces;
  if (response.status != 201 && !isKnownNamespace) return fail(object, response);
  const Json created = Json::parse(response.body, nullptr, false);
  uids_[ownerNameOf(object)] = stringAt(created, {"metadata", "uid"});
  if (object.key.type == kube::kNamespaces) namespaces_.insert(object.key.name);
  ++loaded_.objects;
  for (const std::string& warning : response.warnings)
    loaded_.warnings.push_back(
        {kube::toString(object.key) + ": " + warning, object.file, object.content.position});
  if (!object.meta.deletionTimestamp) return;
  const ExchangeResponse deleted = send("DELETE", pathOf(object) + "/" + object.key.name, nullptr);
  if (deleted.status != 200) fail(object, deleted);
}

void Load::fail(const kube::Object& object, const ExchangeResponse& response) {
  const Json status = Json::parse(response.body, nullptr, false);
  const std::string_view message = stringAt(status, {"message"});
  errors_.push_back({kube::toString(object.key) + " was refused: " +
                         (message.empty() ? "its type is not served here" : std::string(message)),
                     object.file, object.content.position});
}

// A work as it is stored, whatever form the file has it in.
kube::Object workObject(const manifestwork::ManifestWork& work) {
  kube::Object object = work.object;
  Json content = {{"apiVersion", object.apiVersion},
                  {"kind", object.kind},
                  {"metadata", {{"name", object.key.name}}},
                  {"spec", {{"workload", {{"manifests", Json::array()}}}}}};
  for (const kube::Object& manifest : work.manifests) {
    Json applied = kube::toSortedJson(manifest.content);
    if (!manifest.key.namespaceName.empty()) applied["metadata"]["namespace"] = manifest.key.namespaceName;
    content["spec"]["workload"]["manifests"].push_back(std::move(applied));
  }
  for (const char* field : {"deleteOption", "manifestConfigs"}) {
    if (const kube::Value* option = object.content.at({"spec", field}))
      content["spec"][field] = kube::toSortedJson(*option);
  }
  object.content = kube::fromJson(content);
  return object;
}

}  // namespace

tl::expected<LoadedManifests, kube::Errors> loadManifests(EmbeddedCluster& cluster,
                                                          const replay::Manifests& manifests) {
  std::vector<kube::Object> objects = manifests.objects;
  for (const manifestwork::ManifestWork& work : manifests.works) objects.push_back(workObject(work));
  Load load(cluster);
  load.run(std::move(objects));
  return std::move(load).result();
}

tl::expected<void, kube::Errors> addControllers(EmbeddedCluster& cluster,
                                                const std::vector<replay::ScenarioController>& controllers) {
  kube::Errors errors;
  const kube::MutexLock lock(cluster.plane().mutex);
  for (const replay::ScenarioController& controller : controllers) {
    std::optional<kube::ObjectKey> runsIn;
    if (controller.runsIn) runsIn = controller.runsIn->pattern.key;
    const auto added = cluster.plane().live.addController({.name = controller.name,
                                                           .runsIn = cluster::kNone,
                                                           .finalizer = controller.finalizer,
                                                           .from = controller.from,
                                                           .takes = controller.takes},
                                                          runsIn);
    if (!added) errors.push_back(added.error());
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return {};
}

std::vector<std::string> unremovedFinalizers(const replay::Manifests& manifests,
                                             const std::vector<replay::ScenarioController>& controllers,
                                             bool isLastoutInside) {
  const auto isRemoved = [&](const kube::GroupResource& type, const std::string& finalizer) {
    const auto removes = [&](const replay::ScenarioController& controller) {
      return controller.finalizer == finalizer && controller.from == type;
    };
    if (std::ranges::any_of(controllers, removes)) return true;
    if (finalizer.starts_with(kube::kFinalizerDomain)) return isLastoutInside;
    // The embedded cluster does not follow what uses an object.
    return !criticalservice::builtInRemoverOf(finalizer).empty() && !kube::isUsageFinalizer(type, finalizer);
  };
  std::set<std::string> unremoved;
  const auto look = [&](const std::vector<kube::Object>& objects) {
    for (const kube::Object& object : objects) {
      for (const std::string& finalizer : object.meta.finalizers) {
        if (!isRemoved(object.key.type, finalizer))
          unremoved.insert(finalizer + " of " + toString(object.key.type));
      }
    }
  };
  look(manifests.objects);
  for (const manifestwork::ManifestWork& work : manifests.works) look(work.manifests);
  return {unremoved.begin(), unremoved.end()};
}

}  // namespace lastout::simulator
