-- What a state consists of. A scenario declares the types that it counts: its objects, their finalizers, its steps.

type
  kind_t: enum { Plain, Namespace, Crd, Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, Pod,
                 PersistentVolumeClaim, PersistentVolume, CriticalService };
  presence_t: enum { Absent, Live, Terminating };
  owner_t: enum { NoOwner, Current, Unblocked, Dangling };  -- Unblocked: as Current, and blocks nothing
  phase_t: enum { NoFlight, Decided, Confirmed };
  policy_t: enum { Background, Foreground, Orphan, Unsaid };
  insistence_t: enum { OnNothing, OnUid, OnVersion };
  actor_t: enum { Client, Collector, Lifecycle, Workloads, Lastout };
  answer_t: enum { IsDone, IsUnderWay, IsDenied, IsNotFound, IsConflict };
  operation_t: enum { OnCreate, OnUpdate, OnDelete, OnCleanup, OnStart, OnStop, OnContent, OnRelease };
  event_t: enum { Requested, Refused, Accepted, Gone, Created, Changed };
  verb_t: enum { Delete, DryRun, Create, SetFinalizers, SetValue };
  task_t: enum { NoTask, CreateChild, AdoptChild, DeleteChild, AskForChild, ScaleChild };
  guarded_as_t: enum { GuardsItself, GuardsCrdOfServices, GuardsProvider, GuardsAncestor, GuardsNeeded, GuardsHome };
  flight_t: record
    phase: phase_t;
    touched: boolean;
    stale: boolean;
    criteria_were_met: boolean;
  end;
  object_t: record
    presence: presence_t;
    finalizers: array [finalizer_t] of boolean;
    owners: array [link_t] of owner_t;
    value: value_t;
    collector: flight_t;
    lifecycle: flight_t;
    lastout: flight_t;
    deferred: boolean;
    deferred_policy: policy_t;
    by_person: boolean;
  end;
  request_t: record
    sent: boolean;
    done: boolean;
    flight: flight_t;
  end;

var
  object: array [slot_t] of object_t;
  step: array [step_t] of request_t;
