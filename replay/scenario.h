// Scenario: one scenario file, read and checked: a cluster, what clients ask of it, and what is expected to
// come of it. docs/scenarios.md describes the file field by field.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cluster/build.h"
#include "cluster/model.h"
#include "cluster/policies.h"
#include "criticalservice/critical_service.h"
#include "criticalservice/finalizer_removers.h"
#include "kube/kubernetes_version.h"
#include "kube/object.h"
#include "kube/parse.h"
#include "kube/reference.h"
#include "replay/input_file.h"

namespace lastout::replay {

// One or, with globs, several objects, as written.
struct ScenarioReference {
  kube::ObjectPattern pattern;
  std::string text;
  kube::Position where;  // in Scenario::file
};

// "<reference> requested|denied|accepted|gone|created|changed".
struct EventReference {
  ScenarioReference object;
  cluster::EventKind kind = cluster::EventKind::Gone;
  std::string text;  // the whole of it
};

// Objects that a controller needs, or waits for, before it removes its finalizer from an object.
struct ControllerNeed {
  ScenarioReference of;                  // what is meant; of a type alone, any object of it
  bool inSameNamespace = false;          // only in the namespace of the object (of a Namespace: in itself)
  std::optional<kube::FieldPath> named;  // only those whose name this field of the object has
};

// Somebody's finalizer controller.
struct ScenarioController {
  std::string name;
  std::optional<ScenarioReference> runsIn;  // a workload; absent: it always works
  std::string finalizer;
  kube::GroupResource from;
  kube::NamespaceScope scope = {};       // the objects of that type that it looks after
  std::vector<ControllerNeed> needs;     // of each, one object at least has to be there
  std::vector<ControllerNeed> waitsFor;  // of these, no object may be there any more
  // The field of an object that names the ServiceAccount of its namespace by which the controller acts on it.
  // Absent: not written; without keys: none.
  std::optional<kube::FieldPath> actsAs;
  std::chrono::milliseconds takes{1000};
  bool isCandidate = false;  // its evidence may be true of several, of which nothing tells which it is
  std::vector<kube::ObjectKey> setOn;  // of a candidate: objects on which it set the finalizer, as they say
  std::string evidence;  // why it is taken to be there; empty: somebody wrote it down. Of one without runsIn:
                         // findOutsideRemovers() found it
  kube::Position where;
};

// What clients ask for; the objects of one delete are asked for at once, in no particular order.
struct ScenarioStep {
  enum class Kind : uint8_t { Delete, Apply, Patch, Scale };
  Kind kind = Kind::Delete;
  // Delete: any number, globs too. Patch, Scale: one. Apply: those to put back.
  std::vector<ScenarioReference> objects;
  std::vector<kube::Object> manifests;                               // Apply: those written in the step
  cluster::Precondition precondition = cluster::Precondition::None;  // Delete
  std::optional<cluster::PropagationPolicy> policy;  // Delete; absent: not written, the type's default counts
  bool retry = true;                                 // Delete: a denied client asks again
  bool dryRun = false;                               // Delete
  bool serverSide = false;                           // Apply
  std::optional<std::vector<std::string>> finalizers;     // Patch: all that it shall have
  std::optional<kube::Labels> labels;                     // Patch: all that it shall have
  kube::Value merge;                                      // Patch: a JSON merge patch; null: none
  std::optional<criticalservice::DeletionIntent> intent;  // Patch, of a CriticalService
  uint32_t replicas = 0;                                  // Scale
  std::chrono::milliseconds at{0};  // not before this time since the beginning, nor before the step above it
  std::optional<EventReference> after;  // not before this has happened
  std::string as = "admin";             // user
  kube::Position where;
};

enum class Ending : uint8_t { Empty, Stuck };

struct Expectations {
  std::optional<Ending> ends;
  std::vector<ScenarioReference> stuck;  // of each, something is still there at the end
  // Each a chain: none happens unless the one before it has happened.
  std::vector<std::vector<EventReference>> before;
  std::vector<ScenarioReference> denied;  // of each, something was denied at least once
  std::vector<EventReference> never;
  std::vector<ScenarioReference> exists;  // of each, something is there at the end, and not being deleted
  std::optional<std::chrono::milliseconds> within;  // the goal is reached by then, in written order
};

// A moment that the output names, as the document numbers its steps.
struct Milestone {
  std::string title;
  EventReference event;
};

struct Scenario {
  std::string file;
  std::vector<std::string> moreFiles;  // that spec.files names, as they were read
  std::string name;                    // metadata.name, or the file's name without its ending
  std::string description;
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;
  bool guard = true;                  // lastout is there
  bool runsDeferredDeletions = true;  // and deletes later what it denied to controllers
  std::string lastoutNamespace;       // empty: not in the cluster
  cluster::ExternalOutcome externalStep = cluster::ExternalOutcome::Done;
  std::vector<kube::Object> objects;           // present at start; those that works apply are among them
  std::vector<cluster::WorkSpec> works;        // present at start, and applied
  std::vector<kube::Object> later;             // what steps may create
  std::vector<cluster::GivenPolicy> policies;  // of the objects, of those to come, and of profiles
  std::vector<ScenarioController> controllers;
  std::vector<criticalservice::UnremovedFinalizer> unremoved;  // of manifests whose scenario nobody wrote
  bool isOfDeletions = false;                                  // of scenarioOfDeletions()
  std::vector<ScenarioStep> steps;
  std::vector<Milestone> story;
  Expectations expect;
  kube::ResourceMap types;
};

// Reads one file and those that it names. Reports everything that is wrong, each with file:line:column.
tl::expected<Scenario, kube::Errors> load(const std::string& path, const kube::ParseLimits& limits = {});
// The same of a text; `file` is what messages call it, and `files` are looked for beside it.
tl::expected<Scenario, kube::Errors> parse(std::string_view text, const std::string& file,
                                           const kube::ParseLimits& limits = {});
// As load, of a file that may be no scenario: nothing, when it is sound and has no document of that kind.
tl::expected<std::optional<Scenario>, kube::Errors> loadIfScenario(const std::string& path,
                                                                   const kube::ParseLimits& limits = {});
// Manifests as a scenario: clients delete what the references name, in any order, and each finalizer is
// removed by those that a criticalservice::RemoverFinder finds. Fails on a file that holds a Scenario, and as
// load() does.
tl::expected<Scenario, kube::Errors> scenarioOfDeletions(const std::vector<InputFile>& files,
                                                         const std::vector<std::string>& references,
                                                         const kube::ParseLimits& limits = {});

}  // namespace lastout::replay
