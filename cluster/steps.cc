// Clients: what people and their tools ask for.
#include "cluster/transition.h"
#include "kube/well_known.h"

namespace lastout::cluster {

namespace {

void finish(Transition& transition, uint32_t step) {
  transition.state().setStep(step, {.sent = true, .done = true, .flight = {}});
}

// A request that the API refused for good; the client does not try again.
void refuse(Transition& transition, uint32_t step, const char* reason) {
  const Slot slot = transition.model().steps[step].object;
  transition.emit(
      {.kind = EventKind::Denied, .actor = Actor::Client, .slot = slot, .by = step, .refused = reason});
}

void create(Transition& transition, uint32_t step) {
  const ClientStep& spec = transition.model().steps[step];
  if (const auto refusal = transition.refusesCreation(spec.object, spec.serverSide))
    refuse(transition, step, reasonOf(*refusal, transition.model().kubernetes));
  else if (transition.webhookFails(spec.object, &Interception::onCreate))
    refuse(transition, step, "InternalError");
  else
    transition.create(spec.object, Actor::Client, step);
}

void change(Transition& transition, uint32_t step) {
  const ClientStep& spec = transition.model().steps[step];
  if (!transition.isPresent(spec.object)) {
    refuse(transition, step, "NotFound");
    return;
  }
  if (transition.webhookFails(spec.object, &Interception::onUpdate)) {
    refuse(transition, step, "InternalError");
    return;
  }
  if (transition.isUpdateProtected(step)) {
    transition.emit({.kind = EventKind::Denied,
                     .actor = Actor::Client,
                     .slot = spec.object,
                     .by = step,
                     .verdict = {.allowed = false, .reason = admission::Reason::Protected}});
    return;
  }
  ObjectState object = transition.state().object(spec.object);
  switch (spec.verb) {
    case ClientStep::Verb::SetFinalizers: {
      const SlotInfo& info = transition.info(spec.object);
      const auto wanted = static_cast<uint16_t>(spec.value & ~specFinalizers(info));
      // docs/semantics.md, "The rules", finalizers: none can be added to a terminating object.
      if (object.terminating() && (wanted & ~object.finalizers) != 0) {
        refuse(transition, step, "Invalid");
        return;
      }
      // What lastout holds, a client leaves: by hand it would let the provider go, whatever its criteria say.
      // What a policy holds gets its finalizer back while it may have a new one.
      object.finalizers = wanted | (object.finalizers & (specFinalizers(info) | info.heldBit));
      if (object.live()) object.finalizers |= info.policyBits;
      break;
    }
    case ClientStep::Verb::SetForm:
      object.form = spec.forms[object.form];
      break;
    default:
      object.value = static_cast<uint8_t>(spec.value);
      break;
  }
  transition.update(spec.object, object, Actor::Client, step);
}

// A dry run is decided like any other DELETE and leaves no trace but the answer.
void dryRun(Transition& transition, uint32_t step) {
  const ClientStep& spec = transition.model().steps[step];
  if (!transition.isPresent(spec.object)) {
    refuse(transition, step, "NotFound");
  } else if (kube::isImmortal(transition.info(spec.object).key)) {
    refuse(transition, step, "Forbidden");
  } else if (transition.webhookFails(spec.object, &Interception::onDelete)) {
    refuse(transition, step, "InternalError");
  } else {
    const DeleteRequest request = stepRequest(transition.model(), step);
    admission::Verdict verdict = transition.decide(request);
    if (verdict.allowed && transition.isProtected(request))
      verdict = {.allowed = false, .reason = admission::Reason::Protected};
    if (verdict.allowed) return;
    transition.emit({.kind = EventKind::Denied,
                     .actor = Actor::Client,
                     .slot = spec.object,
                     .by = step,
                     .verdict = verdict});
  }
}

}  // namespace

DeleteRequest stepRequest(const Model& model, uint32_t step) {
  const ClientStep& spec = model.steps[step];
  DeleteRequest request{.actor = Actor::Client,
                        .by = step,
                        .slot = spec.object,
                        .policy = {},
                        .precondition = spec.precondition};
  if (spec.hasPolicy) request.policy = spec.policy;
  return request;
}

void sendStep(Transition& transition, uint32_t step) {
  const ClientStep& spec = transition.model().steps[step];
  if (spec.verb == ClientStep::Verb::Delete && !spec.dryRun) {
    StepState state = transition.state().step(step);
    state.sent = true;
    const DeleteResult answer = transition.send(stepRequest(transition.model(), step), state.flight);
    finishStep(transition, step, state, answer);
    return;
  }
  if (spec.verb == ClientStep::Verb::Create)
    create(transition, step);
  else if (spec.verb == ClientStep::Verb::Delete)
    dryRun(transition, step);
  else
    change(transition, step);
  finish(transition, step);
}

void finishStep(Transition& transition, uint32_t step, StepState state, DeleteResult answer) {
  if (answer == DeleteResult::NotFound) refuse(transition, step, "NotFound");
  if (answer == DeleteResult::Conflict) refuse(transition, step, "Conflict");
  const ClientStep& spec = transition.model().steps[step];
  const bool asksAgain = answer == DeleteResult::Denied && spec.retry;
  state.done = answer != DeleteResult::InFlight && !asksAgain;
  // What happened to the object since the first request counts only for a client that insists on it.
  if (asksAgain && spec.precondition != Precondition::None) {
    const Flight before = transition.state().step(step).flight;
    state.flight.touched = before.touched;
    state.flight.stale = before.stale;
  }
  if (state.done) state.flight = {};
  transition.state().setStep(step, state);
}

}  // namespace lastout::cluster
