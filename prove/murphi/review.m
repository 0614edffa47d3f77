-- Storage, and one DELETE (docs/semantics.md, "Admission is three moments").

-- --- storage

-- The request is in flight, or its client insists on the object that it saw.
function notices(t: step_t): boolean;
begin
  return step[t].flight.phase != NoFlight | (insistence(t) != OnNothing & step[t].sent & !step[t].done);
end;

-- Requests for an object that has changed conflict in storage, and are reviewed again.
procedure touch(s: slot_t);
begin
  object[s].collector.touched := object[s].collector.phase != NoFlight;
  object[s].lifecycle.touched := object[s].lifecycle.phase != NoFlight;
  object[s].lastout.touched := object[s].lastout.phase != NoFlight;
  for t: step_t do
    if step_object(t) = s & notices(t) then step[t].flight.touched := true; end;
  end;
end;

-- A CriticalService that is gone defers nothing any more.
procedure forget_deferred(service: slot_t);
begin
  for s: slot_t do
    if object[s].deferred & s != service & is_recorded_by(s, service) & !is_recorded(s, !object[s].by_person) then
      object[s].deferred := false;
      object[s].deferred_policy := Background;
      object[s].by_person := false;
    end;
  end;
end;

procedure erase(s: slot_t);
begin
  clear object[s];
  forget_deferred(s);
  happened(Gone, s);
end;

-- After a change of the object.
procedure changed(s: slot_t);
begin
  if terminating(s) & may_vanish(s) then
    erase(s);
  else
    touch(s);
    happened(Changed, s);
  end;
end;

procedure take_off(s: slot_t; f: finalizer_t);
begin
  object[s].finalizers[f] := false;
  changed(s);
end;

-- A new object takes the name: what meant the old one means nothing any more.
procedure create(s: slot_t);
begin
  for d: slot_t do
    for i: link_t do
      if owner_of(d, i) = s & means_owner(d, i) then object[d].owners[i] := Dangling; end;
    end;
  end;
  for t: step_t do
    if step_object(t) = s & notices(t) then step[t].flight.stale := true; end;
  end;
  clear object[s];
  object[s].presence := Live;
  object[s].value := value_at_creation(s);
  for f: finalizer_t do
    object[s].finalizers[f] := created_with(s, f);
  end;
  for i: link_t do
    if created_owned(s, i) then
      if present(owner_of(s, i)) then
        object[s].owners[i] := Current;
      else
        object[s].owners[i] := Dangling;
      end;
    end;
  end;
  happened(Created, s);
end;

function policy_in_force(s: slot_t; asked: policy_t): policy_t;
begin
  if asked != Unsaid | object[s].finalizers[f_foreground] | object[s].finalizers[f_orphan] then return asked; end;
  if orphans_by_default(s) then return Orphan; end;
  return Unsaid;
end;

procedure commit_delete(s: slot_t; asked: policy_t);
var policy: policy_t;
    differs: boolean;
begin
  policy := policy_in_force(s, asked);
  differs := live(s) | object[s].deferred;
  if policy != Unsaid then
    differs := differs | object[s].finalizers[f_foreground] != (policy = Foreground);
    differs := differs | object[s].finalizers[f_orphan] != (policy = Orphan);
    object[s].finalizers[f_foreground] := policy = Foreground;
    object[s].finalizers[f_orphan] := policy = Orphan;
  end;
  if kind(s) = Crd & live(s) then object[s].finalizers[cleanup_of(s)] := true; end;
  object[s].presence := Terminating;
  object[s].deferred := false;
  object[s].deferred_policy := Background;
  object[s].by_person := false;
  happened(Accepted, s);
  if may_vanish(s) then
    erase(s);
  elsif differs then
    touch(s);
    happened(Changed, s);
  end;
end;

-- --- one DELETE: sent, confirmed, committed

procedure defer(a: actor_t; s: slot_t; asked: policy_t; insists: insistence_t);
begin
  if !CARRIES_OUT | a = Lastout then return; end;
  if a = Client & insists = OnVersion then return; end;
  if !live(s) | !is_recorded(s, a != Client) then return; end;
  if object[s].deferred & object[s].by_person & a != Client then return; end;
  object[s].deferred := true;
  object[s].by_person := a = Client;
  object[s].deferred_policy := Background;
  if asked != Unsaid then object[s].deferred_policy := asked; end;
end;

procedure deny(a: actor_t; s: slot_t; asked: policy_t; insists: insistence_t; var f: flight_t; var answer: answer_t);
begin
  clear f;
  happened(Refused, s);
  defer(a, s, asked, insists);
  answer := IsDenied;
end;

-- Somebody else's webhook does not answer, or the API server itself refuses.
procedure fail(s: slot_t; var f: flight_t; var answer: answer_t);
begin
  clear f;
  happened(Refused, s);
  answer := IsDenied;
end;

function conflicts(insists: insistence_t; stale: boolean; touched: boolean): boolean;
begin
  return (insists != OnNothing & stale) | (insists = OnVersion & touched);
end;

procedure send_delete(a: actor_t; s: slot_t; asked: policy_t; insists: insistence_t; var f: flight_t; var answer: answer_t);
begin
  happened(Requested, s);
  answer := IsDone;
  if !present(s) then
    answer := IsNotFound;
  elsif conflicts(insists, f.stale, f.touched) then
    answer := IsConflict;
  elsif kind(s) = Namespace & terminating(s) then
    answer := IsDone;
  elsif is_immortal(s) | call_fails(s, OnDelete) then
    fail(s, f, answer);
  elsif denies(s, keeps_running(s, asked)) then
    deny(a, s, asked, insists, f, answer);
  elsif guarded(s) then
    clear f;
    f.phase := Decided;
    answer := IsUnderWay;
  else
    commit_delete(s, asked);
  end;
end;

procedure confirm_delete(a: actor_t; s: slot_t; asked: policy_t; insists: insistence_t; var f: flight_t; var answer: answer_t);
begin
  answer := IsUnderWay;
  if present(s) & denies(s, keeps_running(s, asked)) then
    deny(a, s, asked, insists, f, answer);
  else
    f.phase := Confirmed;
    f.criteria_were_met := criteria_are_met(s);
  end;
end;

procedure commit_reviewed(a: actor_t; s: slot_t; asked: policy_t; insists: insistence_t; var f: flight_t; var answer: answer_t);
var stale, touched, criteria_were_met: boolean;
begin
  stale := f.stale;
  touched := f.touched;
  criteria_were_met := f.criteria_were_met;
  clear f;
  answer := IsDone;
  if !present(s) then
    answer := IsNotFound;
  elsif conflicts(insists, stale, touched) then
    answer := IsConflict;
  elsif touched | stale then
    if call_fails(s, OnDelete) then
      fail(s, f, answer);
    elsif denies(s, keeps_running(s, asked)) then
      deny(a, s, asked, insists, f, answer);
    else
      f.phase := Decided;
      answer := IsUnderWay;
    end;
  else
    if !criteria_were_met & !keeps_running(s, policy_in_force(s, asked)) then
      error "a deletion was committed although its criteria did not hold";
    end;
    commit_delete(s, asked);
  end;
end;

-- The same for a controller, which keeps its DELETE with the object, and no answer.

procedure controller_sends(a: actor_t; s: slot_t; asked: policy_t; insists: insistence_t; var kept: flight_t);
var f: flight_t;
    answer: answer_t;
begin
  clear f;
  send_delete(a, s, asked, insists, f, answer);
  if answer = IsUnderWay then kept := f; end;
end;

procedure controller_confirms(a: actor_t; s: slot_t; asked: policy_t; insists: insistence_t; var kept: flight_t);
var f: flight_t;
    answer: answer_t;
begin
  f := kept;
  clear kept;
  confirm_delete(a, s, asked, insists, f, answer);
  if answer = IsUnderWay then kept := f; end;
end;

procedure controller_commits(a: actor_t; s: slot_t; asked: policy_t; insists: insistence_t; var kept: flight_t);
var f: flight_t;
    answer: answer_t;
begin
  f := kept;
  clear kept;
  commit_reviewed(a, s, asked, insists, f, answer);
  if answer = IsUnderWay then kept := f; end;
end;
