-- What the tables of a model ask about its objects.

function present(s: slot_t): boolean;
begin
  return object[s].presence != Absent;
end;

function live(s: slot_t): boolean;
begin
  return object[s].presence = Live;
end;

function terminating(s: slot_t): boolean;
begin
  return object[s].presence = Terminating;
end;

function ready(pod: slot_t): boolean;
begin
  return live(pod) & object[pod].value = READY;
end;
