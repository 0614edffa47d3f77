#include "server/controllers/lease_holder.h"

#include <utility>

#include "kube/messages.h"
#include "server/runtime/object_client.h"

namespace lastout::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kFarewell{2'000};  // for an answer to what gives it back

// Returns the Lease that the request is answered with.
RequestResult<Lease> askForLease(client::ApiServer& server, const client::ApiRequest& request,
                                 milliseconds longest) {
  const auto object = ObjectClient(server, longest, kMostOwnObjectBytes).askForObject(request);
  if (!object) return tl::unexpected(object.error());
  auto lease = readLease(*object);
  if (!lease) return tl::unexpected(NotDone{0, lease.error().message});
  return std::move(*lease);
}

std::string calledAs(const LeaseHolderOptions& options) {
  return "lease " + options.namespaceName + "/" + options.name;
}

}  // namespace

LeaseHolder::LeaseHolder(std::shared_ptr<client::Access> access, LeaseHolderOptions options)
    : access_(std::move(access)),
      options_(std::move(options)),
      server_(access_->newServer()),
      problems_(options_.log, calledAs(options_) + ": ", calledAs(options_) + " can be had again"),
      election_(options_.identity, options_.times, options_.random()),
      loop_([this] { step(); }, milliseconds(0)) {}

LeaseHolder::~LeaseHolder() { stop(); }

void LeaseHolder::start() {
  loop_.wake();
  loop_.start();
}

void LeaseHolder::stop() {
  if (loop_.stop([this] { server_->stop(); })) give();
}

bool LeaseHolder::holds() const {
  const kube::MutexLock lock(mutex_);
  return !loop_.isStopping() && election_.holds(steady_clock::now());
}

void LeaseHolder::step() {
  LeaseElection::NextAction step;
  {
    const kube::MutexLock lock(mutex_);
    step = election_.next(steady_clock::now(), options_.clock());
  }
  if (step.action == LeaseElection::Action::Wait) return loop_.wakeAt(step.until);
  if (options_.mayHold && !options_.mayHold())
    return loop_.wakeAt(steady_clock::now() + options_.times.retry);
  if (options_.probes) step.lease.probes = options_.probes();
  const auto problem = step.action == LeaseElection::Action::Read ? read() : write(step.lease);
  if (loop_.isStopping()) return;  // what was cut off is no problem
  report(problem);
  if (std::exchange(isTaken_, false) && options_.taken) options_.taken();
  loop_.wake();
}

std::optional<std::string> LeaseHolder::read() {
  auto lease = askForLease(*server_, requestToRead(options_.namespaceName, options_.name),
                           options_.times.renewWithin / 2);
  const kube::MutexLock lock(mutex_);
  const TimePoint now = steady_clock::now();
  if (lease) {
    election_.saw(std::move(*lease), now);
    return std::nullopt;
  }
  if (lease.error().code == 404) {
    election_.saw(std::nullopt, now);
    // Whether it can be made, the write will tell: its namespace may be missing.
    return problems_.last().empty() ? std::nullopt : std::optional(problems_.last());
  }
  election_.failed(now);
  return lease.error().why;
}

std::optional<std::string> LeaseHolder::write(const Lease& lease) {
  const TimePoint asked = steady_clock::now();
  auto stands = askForLease(*server_, requestToWrite(lease, options_.namespaceName, options_.name),
                            options_.times.renewWithin / 2);
  const kube::MutexLock lock(mutex_);
  const TimePoint now = steady_clock::now();
  if (stands) {
    const bool held = election_.holds(now);  // it may have lapsed since the last look
    election_.wrote(std::move(*stands), asked);
    isTaken_ = !held && election_.holds(now);
    return std::nullopt;
  }
  // Another was faster, or somebody deleted it. A 404 to what creates it says that its namespace is not
  // there.
  const bool creates = lease.resourceVersion.empty();
  if (isConflict(stands.error()) || (stands.error().code == 404 && !creates)) {
    election_.refused(now);
    return std::nullopt;
  }
  election_.failed(now);
  return stands.error().why;
}

// Each holder once.
void LeaseHolder::report(const std::optional<std::string>& problem) {
  problems_.note(problem.value_or(""));
  std::string holder;
  {
    const kube::MutexLock lock(mutex_);
    holder = election_.holder();
  }
  if (problem || holder.empty() || holder == holder_) return;
  holder_ = std::move(holder);
  options_.log(Level::Info, calledAs(options_) + ": held by " +
                                (holder_ == options_.identity ? "this lastout" : kube::inQuotes(holder_)) +
                                ", which keeps the webhook configuration and the status of CriticalServices");
}

// What gives the Lease back that stands there; nullopt: it is not ours.
std::optional<Lease> LeaseHolder::released(Lease lease) {
  const kube::MutexLock lock(mutex_);
  election_.saw(std::move(lease), steady_clock::now());
  return election_.release(options_.clock());
}

// It is read first: what was under way may have been written all the same.
void LeaseHolder::give() {
  const auto server = access_->newServer();
  for (int attempt = 0; attempt < 2; ++attempt) {
    auto lease = askForLease(*server, requestToRead(options_.namespaceName, options_.name), kFarewell);
    if (!lease) return;
    const auto free = released(std::move(*lease));
    if (!free) return;
    const auto given =
        askForLease(*server, requestToWrite(*free, options_.namespaceName, options_.name), kFarewell);
    if (given || !isConflict(given.error())) return;
  }
}

}  // namespace lastout::server
