-- What lastout does by itself: deferred deletions and held providers (docs/concepts.md).

function owner_keeps(s: slot_t; i: link_t): boolean;
begin
  if !means_owner(s, i) | !present(owner_of(s, i)) then return false; end;
  return live(owner_of(s, i)) | object[owner_of(s, i)].finalizers[f_orphan];
end;

-- Somebody still wants the deferred deletion.
function still_stands(s: slot_t): boolean;
var any: boolean;
begin
  if terminating(namespace_of(s)) | object[s].by_person then return true; end;
  any := false;
  for i: link_t do
    if object[s].owners[i] != NoOwner then
      if owner_keeps(s, i) then return false; end;
      any := true;
    end;
  end;
  return any;
end;

function is_due(s: slot_t): boolean;
begin
  return object[s].deferred & live(s) & still_stands(s) & !denies(s, false);
end;

function wants(service: slot_t; by_controller: boolean): boolean;
begin
  for v: service_t do
    if service_slot(v) = service & defers(v, by_controller) then return true; end;
  end;
  return false;
end;

function lastout_policy(s: slot_t): policy_t;
begin
  if object[s].deferred then return object[s].deferred_policy; end;
  return Unsaid;
end;

-- A container goes after its content, a CriticalService after what it records.
function carries_out(s: slot_t): boolean;
begin
  if !is_due(s) then return false; end;
  for x: slot_t do
    if x != s & is_due(x) then
      if namespace_of(x) = s | crd_of(x) = s then return false; end;
      if is_recorded_by(x, s) & wants(s, !object[x].by_person) then return false; end;
    end;
  end;
  return true;
end;

function is_held(s: slot_t): boolean;
begin
  return held_finalizer(s) != f_none & object[s].finalizers[held_finalizer(s)];
end;

function holding_begins(s: slot_t): boolean;
begin
  return held_finalizer(s) != f_none & !is_held(s) & live(s) & is_to_be_held(s);
end;

function holding_ends(s: slot_t): boolean;
begin
  if !is_held(s) then return false; end;
  if live(s) then return !is_to_be_held(s); end;
  return object[s].finalizers[f_foreground];
end;

function may_be_let_go(s: slot_t): boolean;
begin
  return is_held(s) & terminating(s) & !object[s].finalizers[f_foreground] & !denies(s, false);
end;

procedure confirm_letting_go(s: slot_t);
begin
  if object[s].lastout.touched | !may_be_let_go(s) then
    clear object[s].lastout;
  else
    object[s].lastout.phase := Confirmed;
    object[s].lastout.criteria_were_met := criteria_are_met(s);
  end;
end;

procedure let_go(s: slot_t);
var touched, criteria_were_met: boolean;
begin
  touched := object[s].lastout.touched;
  criteria_were_met := object[s].lastout.criteria_were_met;
  clear object[s].lastout;
  if !touched & !call_fails(s, OnUpdate) then
    if !criteria_were_met then error "a held provider was let go although its criteria did not hold"; end;
    take_off(s, held_finalizer(s));
  end;
end;
