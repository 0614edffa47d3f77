// The told run as JSON lines, in the form of the recordings in tests/recordings.
//
// What the machine does not hold is left out or made up from what it does: objects are their metadata and, of
// CriticalServices and CRDs, what counts of their spec, and, where a provider converts objects, what that
// follows from; a uid is the object's number and how many of its name
// there were before. The virtual clock starts with the year 2000.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "cluster/transition.h"
#include "cluster/users.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/dependencies.h"
#include "kube/status_reason.h"
#include "kube/timestamp.h"
#include "kube/value.h"
#include "replay/blockers.h"
#include "replay/live_graph.h"
#include "replay/output.h"
#include "replay/recording.h"

namespace lastout::replay {

namespace {

using cluster::Actor;
using cluster::EventKind;
using cluster::PropagationPolicy;
using cluster::Slot;
using cluster::SlotKind;
using kube::OrderedJson;

std::string wallTime(std::chrono::milliseconds at) {
  constexpr auto kStart = std::chrono::sys_days{std::chrono::year{2000} / 1 / 1};
  return kube::timestampText(kStart + std::chrono::floor<std::chrono::seconds>(at));
}

class Tracer {
 public:
  Tracer(const Ready& ready, const ScenarioReport& report)
      : ready_(ready),
        report_(report),
        model_(ready.compiled.model),
        machine_(model_),
        denials_(machine_),
        names_(Names::full(model_)),
        known_(model_.slots.size()),
        born_(model_.slots.size()),
        deletedAt_(model_.slots.size()) {
    noteSources();
  }

  std::string run() {
    marker({},
           report_.name + ": " +
               (report_.options.order == Order::Random ? "random order, seed " + std::to_string(report_.seed)
                                                       : "written order"));
    std::vector<uint64_t> initial = machine_.initial();
    const cluster::StateRef state(initial.data(), machine_.layout());
    for (Slot slot = 0; slot < known_.size(); ++slot) {
      known_[slot] = state.object(slot);
      if (known_[slot].present()) watch({}, slot, "ADDED");
    }
    for (const Happening& happening : report_.log) write(happening);
    marker(report_.time, ending());
    return std::move(out_);
  }

 private:
  void line(std::chrono::milliseconds at, const OrderedJson& fields) {
    OrderedJson json = {{"t", static_cast<double>(at.count()) / 1000.0}};
    json.update(fields);
    (out_ += json.dump()) += '\n';
  }

  void marker(std::chrono::milliseconds at, const std::string& note) {
    line(at, {{"kind", "marker"}, {"note", note}});
  }

  std::string ending() const {
    switch (report_.end) {
      case End::Empty:
        return "ends empty";
      case End::Undecided:
        return "UNDECIDED: still changing";
      case End::Stuck:
        break;
    }
    std::string text = "STUCK:";
    for (const Slot slot : ready_.compiled.goal) {
      if (known_[slot].present()) text += " " + names_.of(slot);
    }
    return text;
  }

  void write(const Happening& happening) {
    const Slot slot = happening.event.slot;
    switch (happening.event.kind) {
      case EventKind::Requested:
        // Of a Namespace that already terminates nothing else is told: it is answered without a review.
        if (model_.slots[slot].kind == SlotKind::Namespace && known_[slot].terminating() &&
            happening.event.actor == Actor::Client)
          client(happening, 200);
        break;
      case EventKind::Denied:
        denied(happening);
        break;
      case EventKind::Accepted:
        // Whoever ends the instances of a CRD is not reviewed (docs/semantics.md: CRD).
        if (happening.event.actor != Actor::CrdCleanup) admission(happening, true, {});
        if (happening.event.actor == Actor::Client) client(happening, 200);
        if (!known_[slot].terminating()) deletedAt_[slot] = happening.at;
        break;
      case EventKind::Created:
        ++born_[slot];
        known_[slot] = happening.object;
        watch(happening.at, slot, "ADDED");
        break;
      case EventKind::Changed:
        known_[slot] = happening.object;
        watch(happening.at, slot, "MODIFIED");
        finalized(happening);
        break;
      case EventKind::Gone:  // with what it was last seen with, as a watch does
        watch(happening.at, slot, "DELETED");
        known_[slot] = {};
        finalized(happening);
        break;
    }
  }

  void denied(const Happening& happening) {
    const char* refused = happening.event.refused;
    if (refused == nullptr) {
      const Slot slot = happening.event.slot;
      const std::vector<std::string>& causes =
          denials_.blockersOf(happening.state, slot, askerOf(model_, happening.action, happening.event))
              .causes;
      admission(happening, false, causes, isByPoliciesAlone(happening));
    }
    if (happening.event.actor == Actor::Client)
      client(happening, kube::codeOfReason(refused == nullptr ? "Forbidden" : refused).value_or(403));
  }

  bool isByPoliciesAlone(const Happening& happening) const {
    std::vector<uint64_t> words = *happening.state;
    const cluster::StateRef state(words.data(), machine_.layout());
    return unmetCriteria(machine_, state, happening.event.slot).causes.empty();
  }

  void finalized(const Happening& happening) {
    if (happening.event.actor == Actor::Finalizers)
      line(happening.at, {{"kind", "finalizer-controller"},
                          {"action", "removed finalizer"},
                          {"name", model_.slots[happening.event.slot].key.name},
                          {"status", 200}});
  }

  OrderedJson place(Slot slot) const {
    const kube::ObjectKey& key = model_.slots[slot].key;
    return {{"resource", key.type.resource},
            {"namespace", key.namespaceName.empty() ? OrderedJson() : OrderedJson(key.namespaceName)},
            {"name", key.name}};
  }

  // `byPolicies`: DeletionPolicies deny it, and no CriticalService does.
  void admission(const Happening& happening, bool allowed, const std::vector<std::string>& why,
                 bool byPolicies = false) {
    if (!model_.guarded) return;  // nobody reviews
    const Slot slot = happening.event.slot;
    const bool isUpdate = askerOf(model_, happening.action, happening.event).isUpdate;
    OrderedJson json = {{"kind", "admission"}, {"operation", isUpdate ? "UPDATE" : "DELETE"}};
    json["group"] = model_.slots[slot].key.type.group;
    json.update(place(slot));
    json["uid"] = uid(slot, born_[slot]);
    json["propagationPolicy"] = policy(happening);
    json["dryRun"] = happening.event.actor == Actor::Client && model_.steps[happening.event.by].dryRun;
    json["requestName"] = model_.slots[slot].key.name;
    json["user"] = user(model_, happening.event);
    json["allowed"] = allowed;
    json["why"] = why;
    if (byPolicies) json["webhooks"] = {std::string(kPoliciesWebhook)};
    line(happening.at, json);
  }

  void client(const Happening& happening, int status) {
    const cluster::ClientStep& step = model_.steps[happening.event.by];
    const kube::ResourceType* type = ready_.scenario.types.find(model_.slots[happening.event.slot].key.type);
    const std::string verb = step.verb == cluster::ClientStep::Verb::Delete   ? "DELETE "
                             : step.verb == cluster::ClientStep::Verb::Create ? "CREATE "
                                                                              : "PATCH ";
    line(happening.at, {{"kind", "client"},
                        {"action", verb + (type == nullptr ? std::string("object") : type->singular)},
                        {"name", model_.slots[happening.event.slot].key.name},
                        {"status", status}});
  }

  OrderedJson policy(const Happening& happening) const {
    if (happening.event.actor == Actor::Agent &&
        model_.slots[happening.event.slot].kind == SlotKind::AppliedManifestWork)
      return nullptr;
    if (happening.event.actor == Actor::Workloads || happening.event.actor == Actor::ReplicaSets)
      return nullptr;
    if (happening.event.actor == Actor::TimeToLive)
      return model_.slots[happening.event.slot].kind == SlotKind::Job ? OrderedJson("Foreground")
                                                                      : OrderedJson();
    if (happening.event.actor == Actor::Collector) return toString(collectorPolicy(happening));
    if (happening.event.actor != Actor::Client) return "Background";
    const cluster::ClientStep& step = model_.steps[happening.event.by];
    return step.hasPolicy ? OrderedJson(toString(step.policy)) : OrderedJson();
  }

  // The garbage collector asks with the policy of the owners that the object goes with. What it asked stands
  // in the finalizers afterwards; after a DELETE that was denied, it would ask the same again.
  PropagationPolicy collectorPolicy(const Happening& happening) const {
    if (happening.event.kind == EventKind::Denied) {
      std::vector<uint64_t> words = *happening.state;
      const cluster::Transition then(machine_, cluster::StateRef(words.data(), machine_.layout()), nullptr);
      return *cluster::collectorRequest(then, happening.event.slot).policy;
    }
    const uint16_t finalizers = happening.object.finalizers;
    if ((finalizers & cluster::kForegroundBit) != 0) return PropagationPolicy::Foreground;
    return (finalizers & cluster::kOrphanBit) != 0 ? PropagationPolicy::Orphan
                                                   : PropagationPolicy::Background;
  }

  static std::string user(const cluster::Model& model, const cluster::ClusterEvent& event) {
    return event.actor == Actor::Agent ? "agent" : cluster::userOf(model, event.actor, event.by, event.slot);
  }

  static std::string uid(Slot slot, uint32_t born) {
    char text[48];
    std::snprintf(text, sizeof text, "00000000-0000-4000-8000-%06x%06x", slot & 0xffffffu, born & 0xffffffu);
    return text;
  }

  OrderedJson owners(Slot slot) const {
    OrderedJson result = OrderedJson::array();
    const std::vector<cluster::OwnerLink>& links = model_.slots[slot].owners;
    for (size_t i = 0; i < links.size(); ++i) {
      const cluster::OwnerState owner = known_[slot].owner(i);
      if (owner == cluster::OwnerState::None || links[i].owner == cluster::kNone) continue;
      const cluster::SlotInfo& info = model_.slots[links[i].owner];
      const uint32_t born = born_[links[i].owner];
      OrderedJson reference = typeOf(info.key.type);
      reference["name"] = info.key.name;
      reference["uid"] =
          uid(links[i].owner, owner == cluster::OwnerState::Dangling && born > 0 ? born - 1 : born);
      if (links[i].controller) reference["controller"] = true;
      if (links[i].blockOwnerDeletion && !known_[slot].isUnblocked(i)) reference["blockOwnerDeletion"] = true;
      result.push_back(std::move(reference));
    }
    return result;
  }

  OrderedJson typeOf(const kube::GroupResource& type) const {
    const kube::ResourceType* found = ready_.scenario.types.find(type);
    if (found == nullptr) return OrderedJson::object();
    const std::string group = type.group.empty() ? "" : type.group + "/";
    return {{"apiVersion", group + found->version}, {"kind", found->kind}};
  }

  void watch(std::chrono::milliseconds at, Slot slot, std::string_view type) {
    const cluster::SlotInfo& info = model_.slots[slot];
    OrderedJson metadata = {{"name", info.key.name}};
    if (!info.key.namespaceName.empty()) metadata["namespace"] = info.key.namespaceName;
    metadata["uid"] = uid(slot, born_[slot]);
    if (known_[slot].terminating()) metadata["deletionTimestamp"] = wallTime(deletedAt_[slot]);
    if (OrderedJson names = metadataFinalizers(model_.slots[slot], known_[slot].finalizers); !names.empty())
      metadata["finalizers"] = std::move(names);
    if (OrderedJson references = owners(slot); !references.empty())
      metadata["ownerReferences"] = std::move(references);
    const kube::Labels& labels = info.forms.at(known_[slot].form).labels;
    if (!labels.empty()) metadata["labels"] = OrderedJson(labels);
    OrderedJson object = typeOf(info.key.type);
    object["metadata"] = std::move(metadata);

    if (info.kind == SlotKind::CriticalService) addService(slot, object);
    if (info.kind == SlotKind::Crd) addDefinition(info.key.name, object);
    addReferences(info.key, object);

    OrderedJson json = {{"kind", "watch"}, {"resource", info.key.type.resource}, {"type", type}};
    json.update(place(slot));
    json["terminating"] = known_[slot].terminating();
    json["finalizers"] = metadataFinalizers(model_.slots[slot], known_[slot].finalizers);
    json["object"] = std::move(object);
    line(at, json);
  }

  // What it guards, and under which intent by now.
  void addService(Slot slot, OrderedJson& object) const {
    const auto number =
        std::find(model_.services.begin(), model_.services.end(), slot) - model_.services.begin();
    criticalservice::CriticalService service = model_.serviceSpecs[static_cast<size_t>(number)];
    service.intent = static_cast<criticalservice::DeletionIntent>(known_[slot].value);
    const bool converts = service.criteria.size() > criticalservice::writtenCriteria(service).size();
    // Found in manifests, of which a recording has the metadata alone, or else what they name.
    service.dependencies = {criticalservice::DependencyMode::Listed, {}};
    for (const criticalservice::Dependency& dependency : model_.dependencies[static_cast<size_t>(number)])
      service.dependencies.listed.push_back(dependency.object);
    object["spec"] = kube::toJson(*criticalservice::toManifest(service).find("spec"));
    if (converts) object["spec"]["guard"]["dependencies"] = "Auto";
  }

  // What names other objects, where some provider is to be found out that converts objects, or a criterion
  // asks about that.
  void noteSources() {
    const bool anyConverts = std::ranges::any_of(model_.serviceSpecs, [](const auto& service) {
      return service.criteria.size() > criticalservice::writtenCriteria(service).size();
    });
    criticalservice::FieldsByType asked;
    for (const auto& service : model_.serviceSpecs) criticalservice::addFields(service, asked);
    const auto note = [&](const std::vector<kube::Object>& objects) {
      for (const kube::Object& object : objects) {
        const bool tells = anyConverts && !criticalservice::DependencyFinder().put(object).empty();
        if (tells || asked.contains(object.key.type)) sources_.emplace(object.key, &object);
      }
    };
    for (const auto& [type, all] : asked) {
      for (const kube::ReferenceFields& fields : all) {
        copied_.insert(fields.name.keys.front());
        for (const auto* path : {&fields.namespaceName, &fields.kind})
          if (*path) copied_.insert((*path)->keys.front());
      }
    }
    copiesAnnotations_ = copied_.erase("metadata") > 0;
    note(ready_.scenario.objects);
    for (const cluster::WorkSpec& work : ready_.scenario.works) note(work.manifests);
    note(ready_.scenario.later);
  }

  void addReferences(const kube::ObjectKey& key, OrderedJson& object) const {
    const auto source = sources_.find(key);
    if (source == sources_.end()) return;
    if (copiesAnnotations_ && !source->second->meta.annotations.empty())
      object["metadata"]["annotations"] = OrderedJson(source->second->meta.annotations);
    for (const std::string& field : copied_) {
      if (const kube::Value* value = source->second->content.find(field))
        object[field] = kube::toJson(*value);
    }
  }

  void addDefinition(const std::string& name, OrderedJson& object) const {
    for (const kube::ResourceType& type : ready_.scenario.types.types()) {
      if (type.builtIn || kube::crdName(type.type) != name) continue;
      object["spec"] = {
          {"group", type.type.group},
          {"scope", type.namespaced ? "Namespaced" : "Cluster"},
          {"names", {{"plural", type.type.resource}, {"singular", type.singular}, {"kind", type.kind}}},
          {"versions", OrderedJson::array({{{"name", type.version}, {"served", true}, {"storage", true}}})}};
    }
  }

  const Ready& ready_;
  const ScenarioReport& report_;
  const cluster::Model& model_;
  cluster::Machine machine_;
  DenialCache denials_;
  Names names_;
  // Objects that dependencies and references are found in, and which of their members.
  std::map<kube::ObjectKey, const kube::Object*> sources_;
  std::set<std::string> copied_ = {"spec", "subjects", "roleRef"};
  bool copiesAnnotations_ = false;
  std::vector<cluster::ObjectState> known_;           // as a watcher saw each object last
  std::vector<uint32_t> born_;                        // how often each was created during the run
  std::vector<std::chrono::milliseconds> deletedAt_;  // when each was last marked deleted
  std::string out_;
};

}  // namespace

std::string toTrace(const Ready& ready, const ScenarioReport& report) { return Tracer(ready, report).run(); }

}  // namespace lastout::replay
