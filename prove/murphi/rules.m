-- Everything that may happen, each with its condition.

-- --- what may happen

ruleset t: step_t do
  rule "a client asks" !step[t].done & step[t].flight.phase = NoFlight & may_be_sent(t) ==>
  begin
    send_step(t);
  end;

  rule "the read before a client's DELETE" step[t].flight.phase = Decided ==>
  var f: flight_t; answer: answer_t;
  begin
    f := step[t].flight;
    confirm_delete(Client, step_object(t), step_policy(t), insistence(t), f, answer);
    finish_step(t, f, answer);
  end;

  rule "a client's DELETE is committed" step[t].flight.phase = Confirmed ==>
  var f: flight_t; answer: answer_t;
  begin
    f := step[t].flight;
    commit_reviewed(Client, step_object(t), step_policy(t), insistence(t), f, answer);
    finish_step(t, f, answer);
  end;
end;

ruleset s: slot_t do
  rule "the garbage collector deletes" live(s) & object[s].collector.phase = NoFlight & !has_solid_owner(s) & has_other_owner(s) & !has_to_unblock(s) ==>
  begin
    controller_sends(Collector, s, collector_policy(s), OnUid, object[s].collector);
  end;

  rule "the read before the garbage collector's DELETE" object[s].collector.phase = Decided ==>
  begin
    controller_confirms(Collector, s, collector_policy(s), OnUid, object[s].collector);
  end;

  rule "the garbage collector's DELETE is committed" object[s].collector.phase = Confirmed ==>
  begin
    controller_commits(Collector, s, collector_policy(s), OnUid, object[s].collector);
  end;

  rule "the garbage collector unblocks owners"
    live(s) & !has_solid_owner(s) & has_to_unblock(s) & !call_fails(s, OnRelease) ==>
  begin
    unblock_owners(s);
  end;

  rule "the garbage collector drops references" live(s) & has_solid_owner(s) & has_other_owner(s) & !call_fails(s, OnRelease) ==>
  begin
    release_dependents(s);
  end;

  rule "the garbage collector orphans dependents"
    terminating(s) & object[s].finalizers[f_orphan] & !call_fails(s, OnRelease) & !keeps_a_dependent(s) ==>
  begin
    release_dependents(s);
  end;

  rule "the garbage collector ends a foreground deletion"
    terminating(s) & !object[s].finalizers[f_orphan] & object[s].finalizers[f_foreground] & !has_dependents(s, true) &
    !call_fails(s, OnRelease) ==>
  begin
    release_dependents(s);
  end;

  rule "the namespace controller deletes"
    live(s) & ends_content(namespace_of(s)) & object[s].lifecycle.phase = NoFlight & (kind(s) = Pod | !awaits_pods(namespace_of(s))) ==>
  begin
    controller_sends(Lifecycle, s, Background, OnNothing, object[s].lifecycle);
  end;

  rule "the read before the namespace controller's DELETE" object[s].lifecycle.phase = Decided ==>
  begin
    controller_confirms(Lifecycle, s, Background, OnNothing, object[s].lifecycle);
  end;

  rule "the namespace controller's DELETE is committed" object[s].lifecycle.phase = Confirmed ==>
  begin
    controller_commits(Lifecycle, s, Background, OnNothing, object[s].lifecycle);
  end;

  rule "a namespace is empty"
    kind(s) = Namespace & !call_fails(s, OnContent) & ends_content(s) & !call_fails(s, OnCleanup) & is_empty(s) & !namespace_call_fails() ==>
  begin
    take_off(s, cleanup_of(s));
  end;

  rule "a CRD's instances are deleted" kind(s) = Crd & ends_content(s) & has_instances_to_delete(s) ==>
  begin
    delete_instances(s);
  end;

  rule "a CRD has no instances" !call_fails(s, OnCleanup) & kind(s) = Crd & ends_content(s) & is_empty(s) ==>
  begin
    take_off(s, cleanup_of(s));
  end;

  rule "storage is used no more"
    (kind(s) = PersistentVolumeClaim | kind(s) = PersistentVolume) & ends_content(s) & !is_used(s) & !call_fails(s, OnCleanup) ==>
  begin
    take_off(s, cleanup_of(s));
  end;

  rule "a workload's controller acts" live(s) & is_workload(s) & next_child(s) != NO_CHILD ==>
  begin
    sync_child(s, child_of(s, next_child(s)), child_task(s, next_child(s)));
  end;

  rule "a Pod becomes ready" kind(s) = Pod & live(s) & object[s].value = 0 & may_start(s) & !call_fails(s, OnStart) ==>
  begin
    object[s].value := READY;
    changed(s);
  end;

  rule "a Pod has stopped" kind(s) = Pod & terminating(s) & object[s].value != STOPPED & !call_fails(s, OnStop) ==>
  begin
    object[s].value := STOPPED;
    changed(s);
  end;

  rule "lastout runs a deferred deletion" CARRIES_OUT & object[s].lastout.phase = NoFlight & carries_out(s) ==>
  begin
    controller_sends(Lastout, s, object[s].deferred_policy, OnVersion, object[s].lastout);
  end;

  rule "the read before lastout's DELETE" object[s].lastout.phase = Decided & !(terminating(s) & held_finalizer(s) != f_none) ==>
  begin
    controller_confirms(Lastout, s, lastout_policy(s), OnVersion, object[s].lastout);
  end;

  rule "lastout's DELETE is committed" object[s].lastout.phase = Confirmed & !(terminating(s) & held_finalizer(s) != f_none) ==>
  begin
    controller_commits(Lastout, s, lastout_policy(s), OnVersion, object[s].lastout);
  end;

  rule "lastout holds a provider" present(s) & !call_fails(s, OnUpdate) & holding_begins(s) ==>
  begin
    object[s].finalizers[held_finalizer(s)] := true;
    changed(s);
  end;

  rule "lastout holds a provider no more" present(s) & !call_fails(s, OnUpdate) & holding_ends(s) ==>
  begin
    take_off(s, held_finalizer(s));
  end;

  rule "lastout is about to let a provider go"
    present(s) & !call_fails(s, OnUpdate) & may_be_let_go(s) & object[s].lastout.phase = NoFlight ==>
  begin
    object[s].lastout.phase := Decided;
  end;

  rule "the read before lastout lets a provider go" object[s].lastout.phase = Decided & terminating(s) & held_finalizer(s) != f_none ==>
  begin
    confirm_letting_go(s);
  end;

  rule "lastout lets a provider go" object[s].lastout.phase = Confirmed & terminating(s) & held_finalizer(s) != f_none ==>
  begin
    let_go(s);
  end;
end;

ruleset c: controller_t; s: slot_t do
  rule "a finalizer is taken off"
    terminating(s) & acts_on(c, s) & object[s].finalizers[finalizer_of(c)] & works(c) & may_remove(c, s) &
    !call_fails(s, removal_request(c, s)) & !(live(reported_to(c, s)) & call_fails(reported_to(c, s), OnCleanup)) ==>
  begin
    take_off(s, finalizer_of(c));
  end;
end;
