-- What clients ask for, and what the controllers do (docs/semantics.md, "The rules").

-- --- clients

procedure refuse(s: slot_t);
begin
  happened(Refused, s);
end;

procedure finish_step(t: step_t; var f: flight_t; answer: answer_t);
var again, touched, stale: boolean;
begin
  if answer = IsConflict then refuse(step_object(t)); end;
  again := answer = IsDenied & retries(t);
  touched := step[t].flight.touched;
  stale := step[t].flight.stale;
  step[t].sent := true;
  step[t].done := answer != IsUnderWay & !again;
  step[t].flight := f;
  if again & insistence(t) != OnNothing then
    step[t].flight.touched := touched;
    step[t].flight.stale := stale;
  end;
  if step[t].done then clear step[t].flight; end;
end;

-- A create is refused: of what is there, in a container that is not there or terminates. Server-side apply goes
-- on under a CRD that terminates, until its instances are cleaned up.
function refuses_creation(s: slot_t; server_side: boolean): boolean;
begin
  if present(s) then return true; end;
  if namespace_of(s) != nobody & !live(namespace_of(s)) then return true; end;
  if crd_of(s) != nobody then
    if !present(crd_of(s)) then return true; end;
    if terminating(crd_of(s)) then
      return !server_side | !object[crd_of(s)].finalizers[cleanup_of(crd_of(s))];
    end;
  end;
  return false;
end;

function adds_finalizer(t: step_t): boolean;
begin
  for f: finalizer_t do
    if sets_finalizer(t, f) & !object[step_object(t)].finalizers[f] then return true; end;
  end;
  return false;
end;

procedure write_step(t: step_t);
begin
  if !present(step_object(t)) | call_fails(step_object(t), OnUpdate) then
    refuse(step_object(t));
  elsif verb(t) = SetFinalizers then
    if terminating(step_object(t)) & adds_finalizer(t) then
      refuse(step_object(t));
    else
      for f: finalizer_t do
        if (f != held_finalizer(step_object(t)) | f = f_none)
            & !(kind(step_object(t)) = Namespace & f = cleanup_of(step_object(t))) then
          object[step_object(t)].finalizers[f] := sets_finalizer(t, f);
        end;
      end;
      changed(step_object(t));
    end;
  else
    object[step_object(t)].value := step_value(t);
    changed(step_object(t));
  end;
end;

procedure try_delete(t: step_t);
begin
  if !present(step_object(t)) then
    return;
  elsif is_immortal(step_object(t)) | call_fails(step_object(t), OnDelete) then
    refuse(step_object(t));
  elsif denies(step_object(t), keeps_running(step_object(t), step_policy(t))) then
    refuse(step_object(t));
  end;
end;

procedure send_step(t: step_t);
var f: flight_t;
    answer: answer_t;
begin
  if verb(t) = Delete then
    f := step[t].flight;
    send_delete(Client, step_object(t), step_policy(t), insistence(t), f, answer);
    finish_step(t, f, answer);
  else
    switch verb(t)
      case Create:
        if refuses_creation(step_object(t), is_server_side(t)) | call_fails(step_object(t), OnCreate) then
          refuse(step_object(t));
        else
          create(step_object(t));
        end;
      case DryRun: try_delete(t);
      else write_step(t);
    end;
    step[t].sent := true;
    step[t].done := true;
    clear step[t].flight;
  end;
end;

-- --- the garbage collector

function link_is_loose(s: slot_t; i: link_t): boolean;
begin
  return object[s].owners[i] = Dangling | !present(owner_of(s, i));
end;

function link_waits(s: slot_t; i: link_t): boolean;
begin
  return !link_is_loose(s, i) & terminating(owner_of(s, i)) & object[owner_of(s, i)].finalizers[f_foreground];
end;

function has_solid_owner(s: slot_t): boolean;
begin
  for i: link_t do
    if object[s].owners[i] != NoOwner & !link_is_loose(s, i) & !link_waits(s, i) then return true; end;
  end;
  return false;
end;

function has_other_owner(s: slot_t): boolean;
begin
  for i: link_t do
    if object[s].owners[i] != NoOwner & (link_is_loose(s, i) | link_waits(s, i)) then return true; end;
  end;
  return false;
end;

function is_awaited(s: slot_t): boolean;
begin
  for i: link_t do
    if object[s].owners[i] != NoOwner & link_waits(s, i) then return true; end;
  end;
  return false;
end;

function has_dependents(s: slot_t; blocking: boolean): boolean;
begin
  for d: slot_t do
    for i: link_t do
      if present(d) & owns(s, d, i) & (!blocking | (blocks_owner(d, i) & object[d].owners[i] = Current)) then return true; end;
    end;
  end;
  return false;
end;

-- A dependent waits for its own dependents, of which this object may be one.
function has_waiting_dependent(s: slot_t): boolean;
begin
  for d: slot_t do
    for i: link_t do
      if terminating(d) & owns(s, d, i) & object[d].finalizers[f_foreground] then return true; end;
    end;
  end;
  return false;
end;

function blocks_an_owner(s: slot_t): boolean;
begin
  for i: link_t do
    if object[s].owners[i] = Current & blocks_owner(s, i) then return true; end;
  end;
  return false;
end;

function has_to_unblock(s: slot_t): boolean;
begin
  return is_awaited(s) & has_waiting_dependent(s) & blocks_an_owner(s);
end;

procedure unblock_owners(s: slot_t);
begin
  for i: link_t do
    if object[s].owners[i] = Current then object[s].owners[i] := Unblocked; end;
  end;
  changed(s);
end;

function collector_policy(s: slot_t): policy_t;
begin
  if is_awaited(s) & has_dependents(s, false) then return Foreground; end;
  if object[s].finalizers[f_orphan] then return Orphan; end;
  if object[s].finalizers[f_foreground] then return Foreground; end;
  return Background;
end;

-- What orphans its dependents writes each of them first.
function keeps_a_dependent(s: slot_t): boolean;
begin
  for d: slot_t do
    for i: link_t do
      if present(d) & owns(s, d, i) & call_fails(d, OnRelease) then return true; end;
    end;
  end;
  return false;
end;

procedure release_dependents(s: slot_t);
begin
  if live(s) then
    for i: link_t do
      if object[s].owners[i] != NoOwner & (link_is_loose(s, i) | link_waits(s, i)) then
        object[s].owners[i] := NoOwner;
      end;
    end;
    changed(s);
  elsif object[s].finalizers[f_orphan] then
    for d: slot_t do
      for i: link_t do
        if present(d) & owns(s, d, i) then
          object[d].owners[i] := NoOwner;
          if object[d].deferred & !object[d].by_person then
            object[d].deferred := false;
            object[d].deferred_policy := Background;
          end;
          changed(d);
        end;
      end;
    end;
    take_off(s, f_orphan);
  else
    take_off(s, f_foreground);
  end;
end;

-- --- workloads

-- Which of the child's owner references is the workload's.
function link_to(workload: slot_t; child: slot_t): link_t;
begin
  for i: link_t do
    if owner_of(child, i) = workload then return i; end;
  end;
  return 0;
end;

function is_wanted(w: slot_t; i: child_t): boolean;
begin
  if kind(w) = Deployment then return i = 0; end;
  return i < object[w].value;
end;

function child_task(w: slot_t; i: child_t): task_t;
begin
  if child_of(w, i) = nobody then return NoTask; end;
  if !present(child_of(w, i)) then
    if is_wanted(w, i) & claims_stay(child_of(w, i)) & !refuses_creation(child_of(w, i), false) & !call_fails(child_of(w, i), OnCreate) then
      return CreateChild;
    end;
    return NoTask;
  end;
  if !live(child_of(w, i)) then return NoTask; end;
  switch object[child_of(w, i)].owners[link_to(w, child_of(w, i))]
    case NoOwner:
      if kind(w) = CronJob | call_fails(child_of(w, i), OnUpdate) then return NoTask; end;
      return AdoptChild;
    case Dangling: return NoTask;
    else
      if !is_wanted(w, i) then
        if kind(w) = Deployment | kind(w) = CronJob then return NoTask; end;
        if is_refused(child_of(w, i), Background) then return AskForChild; end;
        return DeleteChild;
      end;
      if kind(w) = Deployment & object[child_of(w, i)].value != object[w].value & !call_fails(child_of(w, i), OnUpdate) then
        return ScaleChild;
      end;
      return NoTask;
  end;
end;

-- The first child to do something about; what is refused comes last.
function next_child(w: slot_t): child_t;
begin
  for i: child_t do
    if child_task(w, i) != NoTask & child_task(w, i) != AskForChild then return i; end;
  end;
  for i: child_t do
    if child_task(w, i) = AskForChild then return i; end;
  end;
  return NO_CHILD;
end;

procedure sync_child(w: slot_t; c: slot_t; what: task_t);
var f: flight_t;
    answer: answer_t;
begin
  switch what
    case CreateChild:
      create(c);
      if kind(w) = Deployment then object[c].value := object[w].value; end;
    case AdoptChild:
      object[c].owners[link_to(w, c)] := Current;
      changed(c);
    case ScaleChild:
      object[c].value := object[w].value;
      changed(c);
    case DeleteChild, AskForChild:
      clear f;
      send_delete(Workloads, c, Background, OnNothing, f, answer);
      if answer = IsUnderWay then commit_delete(c, Background); end;
  end;
end;

-- --- what ends with its container

function is_empty(container: slot_t): boolean;
begin
  for s: slot_t do
    if present(s) & (namespace_of(s) = container | crd_of(s) = container) then return false; end;
  end;
  return true;
end;

function has_instances_to_delete(crd: slot_t): boolean;
begin
  for s: slot_t do
    if crd_of(s) = crd & live(s) & !conversion_fails(s) then return true; end;
  end;
  return false;
end;

procedure delete_instances(crd: slot_t);
begin
  for s: slot_t do
    if crd_of(s) = crd & live(s) & !conversion_fails(s) then commit_delete(s, Background); end;
  end;
end;

function ends_content(container: slot_t): boolean;
begin
  return terminating(container) & cleanup_of(container) != f_none & object[container].finalizers[cleanup_of(container)];
end;

-- One refusal ends the deletion of all Pods. A Pod that its node is still to stop is not asked for again.
function ends_deletion_of_pods(s: slot_t): boolean;
begin
  if terminating(s) & object[s].value != STOPPED then return false; end;
  return is_refused(s, Background);
end;

-- The namespace controller deletes nothing but Pods yet; where it fails to delete them, it goes on.
function awaits_pods(namespace: slot_t): boolean;
var any: boolean;
begin
  if !PODS_FIRST then return false; end;
  any := false;
  for s: slot_t do
    if kind(s) = Pod & namespace_of(s) = namespace & present(s) then
      if ends_deletion_of_pods(s) then return false; end;
      any := true;
    end;
  end;
  return any;
end;

function is_used(storage: slot_t): boolean;
begin
  for i: child_t do
    if present(child_of(storage, i)) then return true; end;
  end;
  return false;
end;

function is_workload(s: slot_t): boolean;
begin
  switch kind(s)
    case Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob: return true;
    else return false;
  end;
end;
