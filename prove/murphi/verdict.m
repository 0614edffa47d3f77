-- Who answers, and lastout's verdict on a DELETE (docs/verdicts.md).

-- --- reading

-- Nothing keeps a terminating object; the node has to report a Pod stopped, too.
function may_vanish(s: slot_t): boolean;
begin
  for f: finalizer_t do
    if object[s].finalizers[f] then return false; end;
  end;
  return kind(s) != Pod | object[s].value = STOPPED;
end;

function means_owner(s: slot_t; i: link_t): boolean;
begin
  return object[s].owners[i] = Current | object[s].owners[i] = Unblocked;
end;

function owns(owner: slot_t; s: slot_t; i: link_t): boolean;
begin
  return owner != nobody & owner_of(s, i) = owner & means_owner(s, i);
end;

-- A webhook, a conversion or an APIService whose backend does not answer.
function fails(c: call_t): boolean;
begin
  if !present(named_by(c)) then return false; end;
  return !answers(c);
end;

function call_fails(s: slot_t; o: operation_t): boolean;
begin
  for c: call_t do
    if intercepts(c, s, o) & fails(c) then return true; end;
  end;
  return false;
end;

-- The clean-up of the CRD has to convert it, and nobody does.
function conversion_fails(s: slot_t): boolean;
begin
  if crd_of(s) = nobody then return false; end;
  for c: call_t do
    if named_by(c) = crd_of(s) & converts(c, s) & fails(c) then return true; end;
  end;
  return false;
end;

function namespace_call_fails(): boolean;
begin
  for c: call_t do
    if keeps_namespaces(c) & fails(c) then return true; end;
  end;
  return false;
end;

-- --- lastout's verdict

-- Deleted in the foreground, with nothing else to wait for than what it owns.
function awaits_owned(s: slot_t): boolean;
begin
  if !terminating(s) then return false; end;
  for f: finalizer_t do
    if object[s].finalizers[f] != (f = f_foreground) then return false; end;
  end;
  return true;
end;

-- The CriticalService is there, and its intent lets it guard the object so.
function guards(g: guard_t): boolean;
begin
  if !present(service_slot(guard_service(g))) then return false; end;
  switch guarded_as(g)
    case GuardsItself, GuardsCrdOfServices: return object[service_slot(guard_service(g))].value = ORDERED;
    case GuardsHome: return true;
    else return object[service_slot(guard_service(g))].value != ORPHAN_RESOURCES;
  end;
end;

function blocks(g: guard_t; held: boolean): boolean;
begin
  if !guards(g) then return false; end;
  switch guarded_as(g)
    case GuardsItself, GuardsCrdOfServices: return present(provider_of(guard_service(g)));
    case GuardsProvider: return !held & !criteria_met(guard_service(g));
    case GuardsAncestor: return present(provider_of(guard_service(g))) & !criteria_met(guard_service(g));
    case GuardsNeeded:
      if !present(provider_of(guard_service(g))) then return false; end;
      return !awaits_owned(provider_of(guard_service(g))) | !criteria_met(guard_service(g));
    else return true;
  end;
end;

function guarded(s: slot_t): boolean;
begin
  if !GUARDED then return false; end;
  for g: guard_t do
    if guarded_slot(g) = s & guards(g) then return true; end;
  end;
  return false;
end;

-- Every CriticalService that guards the provider says Hold.
function is_to_be_held(s: slot_t): boolean;
var any: boolean;
begin
  any := false;
  for g: guard_t do
    if guarded_slot(g) = s & guarded_as(g) = GuardsProvider & guards(g) then
      if !says_hold(guard_service(g)) then return false; end;
      any := true;
    end;
  end;
  return any;
end;

-- The verdict; held: lastout's finalizer keeps the provider, and nothing asks for the end of its Pods.
function denies(s: slot_t; held: boolean): boolean;
begin
  if !GUARDED then return false; end;
  for g: guard_t do
    if guarded_slot(g) = s & blocks(g, held & is_to_be_held(s)) then return true; end;
  end;
  return false;
end;

function keeps_running(s: slot_t; asked: policy_t): boolean;
begin
  if !object[s].finalizers[held_finalizer(s)] | held_finalizer(s) = f_none then return false; end;
  return !(asked = Foreground | (asked = Unsaid & object[s].finalizers[f_foreground]));
end;

-- The DELETE would be refused now.
function is_refused(s: slot_t; asked: policy_t): boolean;
begin
  return call_fails(s, OnDelete) | denies(s, keeps_running(s, asked));
end;

function criteria_are_met(s: slot_t): boolean;
begin
  for g: guard_t do
    if guarded_slot(g) = s & blocks(g, false) then return false; end;
  end;
  return true;
end;

-- Which CriticalService records the deferred deletion of which object: none that of what must outlive them all.
function records(g: guard_t): boolean;
begin
  switch guarded_as(g)
    case GuardsHome, GuardsCrdOfServices: return false;
    else return true;
  end;
end;

function is_recorded(s: slot_t; by_controller: boolean): boolean;
begin
  for g: guard_t do
    if guarded_slot(g) = s & records(g) & present(service_slot(guard_service(g))) & defers(guard_service(g), by_controller) then
      return true;
    end;
  end;
  return false;
end;

function is_recorded_by(s: slot_t; service: slot_t): boolean;
begin
  for g: guard_t do
    if guarded_slot(g) = s & records(g) & service_slot(guard_service(g)) = service then return true; end;
  end;
  return false;
end;
