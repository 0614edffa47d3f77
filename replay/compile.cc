#include "replay/compile.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "cluster/unwritten.h"
#include "kube/builtin_types.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "replay/controller_needs.h"
#include "replay/goal.h"
#include "replay/resolve.h"

namespace lastout::replay {

namespace {

// What is possible next is looked for among all objects after every action, so time grows with their square.
constexpr size_t kMostObjects = 4096;

using cluster::Slot;

class Compiler {
 public:
  explicit Compiler(const Scenario& scenario) : scenario_(scenario) {}

  tl::expected<Compiled, kube::Errors> run() {
    cluster::BuildInput input{.objects = scenario_.objects,
                              .works = scenario_.works,
                              .later = scenario_.later,
                              .kubernetes = scenario_.kubernetes,
                              .guarded = scenario_.guard,
                              .runsDeferredDeletions = scenario_.runsDeferredDeletions,
                              .usedCronJobs = usedCronJobs(),
                              .types = scenario_.types,
                              .lastoutNamespace = scenario_.lastoutNamespace};
    auto model = cluster::build(input);
    if (!model) return tl::unexpected(std::move(model.error()));
    out_.model = std::move(*model);
    if (out_.model.slots.size() > kMostObjects) {
      fail({std::to_string(out_.model.slots.size()) + " objects, Pods included, are more than the " +
                std::to_string(kMostObjects) + " that a scenario can be replayed with",
            "",
            {}},
           {});
      return tl::unexpected(std::move(errors_));
    }
    addControllers();
    addJobController();
    for (uint32_t i = 0; i < scenario_.steps.size(); ++i) addStep(scenario_.steps[i], i);
    addPolicies();
    out_.goal = goalSlots(out_.model, scenario_);
    watchReplaced();
    addExpectations();
    warnOfNoGoal();
    for (const Milestone& milestone : scenario_.story) {
      const auto slot = resolveOne(out_.model, milestone.event.object, scenario_.file, errors_);
      if (slot) out_.story.push_back({.slot = *slot, .kind = milestone.event.kind});
    }
    if (!errors_.empty()) return tl::unexpected(std::move(errors_));
    return std::move(out_);
  }

 private:
  void fail(const kube::Error& error, kube::Position where) {
    errors_.push_back({error.message, scenario_.file, error.position.line == 0 ? where : error.position});
  }

  // Of each object the manifest that counts comes first.
  std::vector<const kube::Object*> allObjects() const {
    std::vector<const kube::Object*> objects;
    const auto add = [&](const std::vector<kube::Object>& more) {
      for (const kube::Object& object : more) objects.push_back(&object);
    };
    add(scenario_.objects);
    for (const cluster::WorkSpec& work : scenario_.works) {
      objects.push_back(&work.manifestWork);
      add(work.manifests);
    }
    add(scenario_.later);
    return objects;
  }

  // After all steps: they may give an object another form.
  void addPolicies() {
    const auto added = cluster::addPolicies(out_.model, scenario_.policies, allObjects(), scenario_.types,
                                            scenario_.externalStep);
    if (!added) fail(added.error(), {});
  }

  void addControllers() {
    if (scenario_.controllers.empty()) return;
    const ControllerNeeds needs(out_.model, allObjects());
    std::vector<cluster::FinalizerController> built;
    std::vector<kube::Position> where;
    for (const ScenarioController& controller : scenario_.controllers) {
      auto one = controllerOf(controller, needs);
      if (!one) continue;
      built.push_back(std::move(*one));
      where.push_back(controller.where);
    }
    if (built.size() == scenario_.controllers.size()) findCandidates(needs, built);
    for (size_t i = 0; i < built.size(); ++i)
      if (auto number = cluster::addController(out_.model, std::move(built[i])); !number)
        fail(number.error(), where[i]);
  }

  // Finds the candidates for each object: of those that were inferred for a finalizer, the ones that set it
  // on that object or else may update the object, and that may ever run; all, if there are none.
  void findCandidates(const ControllerNeeds& needs,
                      std::vector<cluster::FinalizerController>& controllers) const {
    std::map<std::pair<kube::GroupResource, std::string>, std::vector<uint32_t>> inferred;
    for (uint32_t i = 0; i < controllers.size(); ++i)
      if (scenario_.controllers[i].isCandidate)
        inferred[{controllers[i].from, controllers[i].finalizer}].push_back(i);
    for (const auto& [what, all] : inferred) {
      if (all.size() < 2) continue;
      for (cluster::Slot slot = 0; slot < out_.model.slots.size(); ++slot) {
        const kube::ObjectKey& key = out_.model.slots[slot].key;
        if (key.type != what.first) continue;
        const auto setIt = [&](uint32_t i) {
          const std::vector<kube::ObjectKey>& on = scenario_.controllers[i].setOn;
          return std::ranges::find(on, key) != on.end();
        };
        const auto isAble = [&](uint32_t i) {
          return mayRun(controllers[i].runsIn) &&
                 !needs.lacksRights(controllers[i].runsIn, key, controllers[i].finalizer);
        };
        std::vector<uint32_t> candidates = those(all, setIt);
        if (candidates.empty()) candidates = those(all, isAble);
        for (const uint32_t i : all)
          controllers[i].needs[slot].candidates = candidates.empty() ? all : candidates;
      }
    }
  }

  template <class Matches>
  static std::vector<uint32_t> those(const std::vector<uint32_t>& all, Matches matches) {
    std::vector<uint32_t> some;
    std::ranges::copy_if(all, std::back_inserter(some), matches);
    return some;
  }

  std::vector<kube::ObjectPattern> usedCronJobs() const {
    std::vector<kube::ObjectPattern> used;
    for (const ScenarioController& controller : scenario_.controllers)
      if (controller.runsIn && controller.runsIn->pattern.key.type == kube::kCronJobs)
        used.push_back(controller.runsIn->pattern);
    return used;
  }

  // Returns true if a Pod of the workload runs at the start, or may.
  bool mayRun(Slot workload) const {
    const cluster::SlotInfo& info = out_.model.slots[workload];
    if (info.kind == cluster::SlotKind::Pod) return !info.hasStoppedAtStart;
    if (info.kind == cluster::SlotKind::CronJob)
      return std::ranges::any_of(info.children, [this](Slot job) { return mayRun(job); });
    return info.valueAtCreation > 0;
  }

  // Kubernetes' own, for the Pods whose finalizer the model has. It comes after those of the scenario, whose
  // numbers are those of Scenario::controllers.
  void addJobController() {
    const auto isTracked = [](const cluster::SlotInfo& info) {
      return std::ranges::find(info.finalizers, kube::kJobTrackingFinalizer) != info.finalizers.end();
    };
    if (std::ranges::none_of(out_.model.slots, isTracked)) return;
    cluster::FinalizerController built{.name = std::string(kube::findWorkloadType(kube::kJobs)->controller),
                                       .finalizer = std::string(kube::kJobTrackingFinalizer),
                                       .from = kube::kPods};
    for (cluster::Slot slot = 0; slot < out_.model.slots.size(); ++slot) {
      if (const cluster::Slot job = cluster::reviewedJobOf(out_.model, slot); job != cluster::kNone)
        built.needs[slot].reportsTo = job;
    }
    if (auto number = cluster::addController(out_.model, std::move(built)); !number) fail(number.error(), {});
  }

  // Returns nullopt if it runs in nothing that is there.
  std::optional<cluster::FinalizerController> controllerOf(const ScenarioController& controller,
                                                           const ControllerNeeds& needs) {
    cluster::FinalizerController built{.name = controller.name,
                                       .runsIn = cluster::kNone,
                                       .finalizer = controller.finalizer,
                                       .from = controller.from,
                                       .scope = controller.scope,
                                       .takes = controller.takes};
    if (controller.runsIn) {
      const auto slot = resolveOne(out_.model, *controller.runsIn, scenario_.file, errors_);
      if (!slot) return std::nullopt;
      built.runsIn = *slot;
    }
    built.needs = needs.of(controller, built.runsIn, scenario_.file, out_.warnings);
    return built;
  }

  // One step of the scenario is one step of the model for each object; all of them may be sent at once.
  void addStep(const ScenarioStep& step, uint32_t document) {
    const uint32_t after = last_;
    sendAfter_ = {};
    if (step.after) {
      const auto slot = resolveOne(out_.model, step.after->object, scenario_.file, errors_);
      sendAfter_ = (slot ? watched(*step.after, *slot, document) : std::nullopt).value_or(WatchedEvent{});
    }
    cluster::ClientStep built{.retry = step.retry,
                              .serverSide = step.serverSide,
                              .at = step.at,
                              .as = step.as,
                              .document = document,
                              .after = after};
    built.dryRun = step.dryRun;
    built.precondition = step.precondition;
    built.hasPolicy = step.policy.has_value();
    built.policy = step.policy.value_or(cluster::PropagationPolicy::Background);
    if (step.kind == ScenarioStep::Kind::Delete) {
      for (const Slot slot : resolveAll(step.objects))
        add(built, cluster::ClientStep::Verb::Delete, slot, step.where);
    } else if (step.kind == ScenarioStep::Kind::Apply) {
      addApply(step, built);
    } else if (!step.objects.empty()) {
      const auto slot = resolveOne(out_.model, step.objects.front(), scenario_.file, errors_);
      if (slot && step.kind == ScenarioStep::Kind::Patch) addPatch(step, built, *slot);
      if (slot && step.kind == ScenarioStep::Kind::Scale) addScale(step, built, *slot);
    }
  }

  // In the order written; an object that two references name counts once.
  std::vector<Slot> resolveAll(const std::vector<ScenarioReference>& references) {
    std::vector<Slot> result;
    for (const ScenarioReference& reference : references) {
      for (const Slot slot : resolveSome(out_.model, reference, scenario_.file, errors_)) {
        if (std::find(result.begin(), result.end(), slot) == result.end()) result.push_back(slot);
      }
    }
    return result;
  }

  void addApply(const ScenarioStep& step, const cluster::ClientStep& built) {
    for (const ScenarioReference& reference : step.objects) {
      const auto slot = resolveOne(out_.model, reference, scenario_.file, errors_);
      if (slot) add(built, cluster::ClientStep::Verb::Create, *slot, step.where);
    }
    for (const kube::Object& object : step.manifests) {
      const auto slot = out_.model.find(object.key);
      if (slot) add(built, cluster::ClientStep::Verb::Create, *slot, step.where);
    }
  }

  void addPatch(const ScenarioStep& step, cluster::ClientStep built, Slot slot) {
    if (step.intent) {
      if (out_.model.slots[slot].kind != cluster::SlotKind::CriticalService) {
        wrongObject(step, slot, "deletionIntent", "a CriticalService");
        return;
      }
      built.value = static_cast<uint16_t>(*step.intent);
      add(built, cluster::ClientStep::Verb::SetIntent, slot, step.where);
      return;
    }
    if (step.labels || !step.merge.isNull()) {
      built.change.labels = step.labels;
      if (!step.merge.isNull() && !addMerge(step, slot, built.change)) return;
      add(std::move(built), cluster::ClientStep::Verb::SetForm, slot, step.where);
      return;
    }
    const auto value =
        cluster::finalizerMask(out_.model, slot, step.finalizers.value_or(std::vector<std::string>{}));
    if (!value) {
      fail(value.error(), step.where);
      return;
    }
    built.value = *value;
    add(std::move(built), cluster::ClientStep::Verb::SetFinalizers, slot, step.where);
  }

  // Returns true if the object would name others than before in a field that a criterion asks about: the
  // machine takes that to stay.
  bool changesReferences(const kube::Object& manifest, const kube::Value& merge) const {
    criticalservice::FieldsByType asked;
    for (const criticalservice::CriticalService& service : out_.model.serviceSpecs)
      criticalservice::addFields(service, asked);
    if (!asked.contains(manifest.key.type)) return false;
    kube::Json after = kube::toJson(manifest.content);
    after.merge_patch(kube::Json(kube::toJson(merge)));
    kube::Object patched = manifest;
    patched.content = kube::fromJson(after);
    return criticalservice::referencesOf(patched, asked) != criticalservice::referencesOf(manifest, asked);
  }

  // Returns false if the object cannot be patched so. Fields mean something to policies alone: of another
  // type than a custom one the machine would have to know them, too.
  bool addMerge(const ScenarioStep& step, Slot slot, cluster::FormChange& change) {
    const cluster::SlotInfo& info = out_.model.slots[slot];
    const std::vector<const kube::Object*> objects = allObjects();
    const auto manifest =
        std::ranges::find_if(objects, [&](const kube::Object* one) { return one->key == info.key; });
    if (manifest == objects.end()) {
      wrongObject(step, slot, "merge", "an object with a manifest: patch all its labels");
      return false;
    }
    const bool hasFields = std::ranges::any_of(
        *step.merge.asMap(), [](const kube::Member& member) { return member.key != "metadata"; });
    const bool isCustom = info.kind == cluster::SlotKind::Plain && info.crd != cluster::kNone &&
                          info.key.type != protection::deletionPolicyType();
    if (hasFields && !isCustom) {
      wrongObject(step, slot, "merge", "a custom resource: of others a merge has metadata alone");
      return false;
    }
    if (changesReferences(**manifest, step.merge)) {
      fail({"merge: it changes which objects " + out_.model.name(slot) +
                " names in a field that a criterion asks about, which scenarios do not follow",
            {},
            {}},
           step.where);
      return false;
    }
    change.merge = step.merge;
    if (hasFields) change.manifest = std::make_shared<const kube::Value>((*manifest)->content);
    return true;
  }

  void addScale(const ScenarioStep& step, cluster::ClientStep built, Slot slot) {
    if (!cluster::hasReplicas(out_.model.slots[slot].kind))
      return wrongObject(step, slot, "scale",
                         "a Deployment, ReplicaSet, ReplicationController or StatefulSet");
    built.value = static_cast<uint16_t>(step.replicas);
    add(built, cluster::ClientStep::Verb::SetReplicas, slot, step.where);
  }

  void wrongObject(const ScenarioStep& step, Slot slot, const std::string& what, const std::string& wanted) {
    errors_.push_back(
        {what + ": " + out_.model.name(slot) + " is not " + wanted, scenario_.file, step.where});
  }

  void add(cluster::ClientStep step, cluster::ClientStep::Verb verb, Slot slot, kube::Position where) {
    step.verb = verb;
    step.object = slot;
    auto number = cluster::addStep(out_.model, std::move(step));
    if (!number) {
      fail(number.error(), where);
      return;
    }
    last_ = *number;
    out_.sendAfter.resize(last_ + 1);
    out_.sendAfter[last_] = sendAfter_;
  }

  std::optional<WatchedEvent> watched(const EventReference& event, Slot slot, size_t written) {
    const auto bit = cluster::watch(out_.model, slot, event.kind);
    if (!bit) {
      fail(bit.error(), event.object.where);
      return std::nullopt;
    }
    return WatchedEvent{
        .slot = slot, .kind = event.kind, .bit = *bit, .written = static_cast<uint32_t>(written)};
  }

  void watchReplaced() {
    for (const Slot slot : replacedPods(out_.model, out_.goal)) {
      const auto bit = cluster::watch(out_.model, slot, cluster::EventKind::Gone);
      if (bit)
        out_.replaced.push_back({.slot = slot, .kind = cluster::EventKind::Gone, .bit = *bit});
      else
        fail(bit.error(), {});
    }
  }

  void addExpectations() {
    const Expectations& expect = scenario_.expect;
    for (size_t i = 0; i < expect.before.size(); ++i) addChain(expect.before[i], i);
    for (size_t i = 0; i < expect.never.size(); ++i) {
      for (const Slot slot : resolveSome(out_.model, expect.never[i].object, scenario_.file, errors_)) {
        const auto event = watched(expect.never[i], slot, i);
        if (!event) continue;
        out_.neverBits |= uint64_t{1} << event->bit;
        out_.never.push_back(*event);
      }
    }
    for (const ScenarioReference& reference : expect.denied)
      out_.denied.push_back(resolveSome(out_.model, reference, scenario_.file, errors_));
    for (const ScenarioReference& reference : expect.stuck)
      out_.stuck.push_back(resolveSome(out_.model, reference, scenario_.file, errors_));
    for (const ScenarioReference& reference : expect.exists)
      out_.exists.push_back(resolveSome(out_.model, reference, scenario_.file, errors_));
    out_.mustExist = !out_.exists.empty() && expect.ends != Ending::Stuck;
  }

  void addChain(const std::vector<EventReference>& chain, size_t written) {
    std::optional<WatchedEvent> previous;
    for (const EventReference& event : chain) {
      const auto slot = resolveOne(out_.model, event.object, scenario_.file, errors_);
      const auto next = slot ? watched(event, *slot, written) : std::nullopt;
      if (previous && next) out_.before.push_back({*previous, *next});
      previous = next;
    }
  }

  void warnOfNoGoal() {
    const bool deletes = std::ranges::any_of(scenario_.steps, [](const ScenarioStep& step) {
      return step.kind == ScenarioStep::Kind::Delete && !step.dryRun;
    });
    if (deletes && out_.goal.empty() && out_.exists.empty())
      out_.warnings.push_back(
          {"all that is deleted is applied again, so that nothing is to end; "
           "spec.expect.exists says what is to be there then",
           scenario_.file,
           {}});
  }

  const Scenario& scenario_;
  Compiled out_;
  kube::Errors errors_;
  uint32_t last_ = cluster::kNone;  // the model's last step so far
  WatchedEvent sendAfter_;          // of the step under way
};

}  // namespace

tl::expected<Compiled, kube::Errors> compile(const Scenario& scenario) { return Compiler(scenario).run(); }

}  // namespace lastout::replay
