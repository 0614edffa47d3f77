#include "server/controllers/status_writer.h"

#include <algorithm>
#include <utility>

#include "client/value_picker.h"
#include "client/writes.h"
#include "criticalservice/critical_service.h"
#include "kube/status_reason.h"
#include "kube/value.h"
#include "server/runtime/pausing_api_server.h"

namespace lastout::server {
namespace {

using kube::Json;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kUnreadablePause{10'000};  // before a provider is read again that could not be
constexpr milliseconds kWatchPause{5'000};        // for the watch to tell of a write, or of who was faster
constexpr milliseconds kRefusedPause{30'000};     // before what was refused is written again
constexpr milliseconds kPassPause{200};           // between two looks, whatever changes
constexpr milliseconds kFullPause{5'000};         // and no longer, although the view did not

Json statusIn(const kube::Value& object) {
  const kube::Value* status = object.find("status");
  return status == nullptr ? Json() : Json(kube::toJson(*status));
}

// Nobody is answered better now, or at all. All else is about one object: another webhook may deny its writes
// (403), or break over them (500).
bool isAboutAll(int code) {
  return code == 0 || code == 401 || code == kube::kTooManyRequests || (code >= 502 && code <= 504);
}

}  // namespace

StatusWriter::StatusWriter(const std::shared_ptr<client::Access>& access, const LiveView& view,
                           StatusWriterOptions options)
    : view_(view),
      options_(std::move(options)),
      server_(newControllerServer(*access)),
      backoff_(options_.backoff, options_.random()),
      problems_(options_.log, "status of CriticalServices: cannot be written: ",
                "status of CriticalServices: written again"),
      loop_([this] { pass(); }, kPassPause) {}

// Of what the view does not tell, time and the webhook configuration, nobody needs to know at once.
void StatusWriter::pass() {
  if (steady_clock::now() < notBefore_) return;
  if (!options_.mayWrite()) {
    records_.clear();  // another writes meanwhile
    providers_.clear();
    seenRevision_ = 0;
    return;
  }
  if (!view_.isReady()) return;
  uint64_t revision = 0;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    revision = view.graph().revision();
  });
  const TimePoint now = steady_clock::now();
  if (revision == seenRevision_ && now < seenAt_ + kFullPause) return;
  isLeft_ = false;
  if (!lookAtAll()) return;
  seenRevision_ = isLeft_ ? 0 : revision;
  seenAt_ = now;
  problems_.note("");
  backoff_.reset();
}

// One look at each CriticalService; the view's lock is held for one of them at a time. False: nothing can be
// read or written now.
bool StatusWriter::lookAtAll() {
  const std::vector<Name> all = names();
  std::set<std::string> kept;
  std::set<kube::ObjectKey> read;
  for (const Name& name : all) {
    kept.insert(name.name);
    read.insert(name.provider);
  }
  std::erase_if(records_, [&](const auto& record) { return !kept.contains(record.first); });
  std::erase_if(providers_, [&](const auto& provider) { return !read.contains(provider.first); });
  return std::ranges::all_of(all, [this](const Name& name) {
    return !loop_.isStopping() && options_.mayWrite() && readProvider(name) && settle(name.name);
  });
}

std::vector<StatusWriter::Name> StatusWriter::names() const {
  std::vector<Name> names;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap&) {
    for (const auto& [name, object] : view.toldServices()) {
      Name one{name, {}, {}, {}};
      if (const criticalservice::CriticalService* service = view.service(name)) {
        one.provider = service->provider;
        if (const auto provider = view.graph().find(service->provider)) {
          one.providerUid = view.graph().uid(*provider);
          one.providerVersion = view.graph().resourceVersion(*provider);
        }
      }
      names.push_back(std::move(one));
    }
  });
  return names;
}

// Providers that are there are read whole once for each of their versions. False: nothing can be read now.
bool StatusWriter::readProvider(const Name& name) {
  if (name.providerUid.empty()) return true;
  const TimePoint now = steady_clock::now();
  ReadProvider& provider = providers_[name.provider];
  const bool isOther = provider.uid != name.providerUid;
  if (!isOther && (provider.resourceVersion == name.providerVersion || now < provider.notBefore)) return true;
  const auto unreadable = [&](const std::string& why) {
    provider = {name.providerUid,
                "",
                {std::nullopt, criticalservice::kUnreadable, "it cannot be read: " + why, true},
                now + kUnreadablePause};
    return true;
  };
  const auto type = view_.find(name.provider.type);
  if (!type) return unreadable("the API server does not serve " + toString(name.provider.type));
  client::ApiRequest request;
  request.target = client::objectPath(*type, name.provider.namespaceName, name.provider.name);
  const auto whole = ObjectClient(*server_, options_.patience).ask(request);
  if (!whole && (whole.error().code == 0 || whole.error().code == kube::kTooManyRequests)) {
    troubled(whole.error());
    return false;
  }
  if (!whole) return unreadable(whole.error().why);
  const auto object = client::pickValue(whole->body, client::Pick::All, {});
  if (!object) return unreadable(object.error().message);
  provider = {
      name.providerUid, name.providerVersion, criticalservice::readinessOf(name.provider.type, *object), {}};
  return true;
}

// Writes what is to be written of one. False: nothing can be written now.
bool StatusWriter::settle(const std::string& name) {
  const auto due = this->due(name);
  if (!due) {
    isLeft_ = true;
    return true;
  }
  auto patch = statusPatch(due->standing, due->wanted);
  if (!patch) return true;
  if (!isDue(records_[name], *due, steady_clock::now())) {
    isLeft_ = true;
    return true;
  }
  return write(name, *due, std::move(*patch));
}

std::optional<StatusWriter::Due> StatusWriter::due(const std::string& name) {
  std::optional<Due> result;
  view_.inspect([&](const admission::ClusterView& view, const kube::ResourceMap& types) {
    const auto told = view.toldServices().find(name);
    if (told == view.toldServices().end()) return;
    const kube::Object& object = told->second;
    const auto now = options_.clock();
    Due due{object.meta.resourceVersion, statusIn(object.content), {}, false, object.meta.uid};
    const criticalservice::CriticalService* service = view.service(name);
    if (service == nullptr || service->meta.resourceVersion != object.meta.resourceVersion) {
      const auto parsed = criticalservice::parse(object, types);
      if (parsed) return;  // what it says can be understood by now, and will be
      due.wanted = statusOfNotUnderstood(object.meta.generation, parsed.error().front().message, due.standing,
                                         now, service != nullptr);
    } else {
      StatusFacts facts{{}, options_.enforcement(*service, view), options_.holdProblem(*service), now};
      if (const auto read = providers_.find(service->provider); read != providers_.end())
        facts.readiness = read->second.readiness;
      // It came since the providers were read.
      if (view.graph().find(service->provider) && facts.readiness.reason.empty()) return;
      due.awaitsLists = awaitsLists(view, *service);
      due.wanted = statusOf(view, *service, due.standing, facts);
    }
    result = std::move(due);
  });
  return result;
}

bool StatusWriter::isDue(Record& record, const Due& due, TimePoint now) const {
  if (due.resourceVersion == record.doneWith && now < record.doneUntil) return false;
  if (due.wanted == record.inVain && now < record.inVainUntil) return false;
  if (due.awaitsLists && !record.awaitsLists) record.awaitsListsSince = now;
  record.awaitsLists = due.awaitsLists;
  if (due.awaitsLists && now < record.awaitsListsSince + options_.listPause) return false;
  return isPressing(due.standing, due.wanted) || now >= record.writtenAt + options_.detailPause;
}

// Writes over the version that was seen. If the object has changed since, the watch will show it, and the
// patch is computed again.
bool StatusWriter::write(const std::string& name, const Due& due, Json patch) {
  const auto type = view_.find(criticalservice::criticalServiceType());
  if (!type || !options_.mayWrite()) return false;
  const auto written = ObjectClient(*server_, options_.patience)
                           .ask(client::mergePatch(client::objectPath(*type, "", name) + "/status",
                                                   {{"metadata", {{"resourceVersion", due.resourceVersion}}},
                                                    {"status", std::move(patch)}}));
  if (written || !isAboutAll(written.error().code)) return took(name, due, written);
  troubled(written.error());
  return false;
}

// An answer about this one alone.
bool StatusWriter::took(const std::string& name, const Due& due,
                        const RequestResult<client::WholeAnswer>& written) {
  const TimePoint now = steady_clock::now();
  Record& record = records_[name];
  std::string problem;
  record.doneWith = due.resourceVersion;
  record.doneUntil = now + kWatchPause;
  if (written) {
    record.writtenAt = now;
    const auto object = client::pickValue(written->body, client::Pick::All, {});
    if (object && statusIn(*object) == due.standing) {
      record.doneWith.clear();
      record.inVain = due.wanted;
      record.inVainUntil = now + kRefusedPause;
    } else if (options_.written) {
      options_.written(name, due.uid, due.standing, due.wanted);
    }
  } else if (written.error().code != 404 && !isConflict(written.error())) {
    record.doneUntil = now + kRefusedPause;
    problem = written.error().why;
  }
  if (!problem.empty()) options_.failed();
  if (!record.problems) {
    const std::string status = "status of " + criticalservice::nameInWords(name);
    record.problems.emplace(options_.log, status + ": cannot be written: ", status + ": written again");
  }
  record.problems->note(problem);
  return true;
}

// Nothing is asked for a while.
void StatusWriter::troubled(const NotDone& failure) {
  if (loop_.isStopping()) return;  // what was cut off is no problem
  options_.failed();
  notBefore_ =
      steady_clock::now() +
      std::max<milliseconds>(backoff_.next(), client::retryPauseOf({failure.code, failure.retryAfter}));
  problems_.note(failure.why);
}

}  // namespace lastout::server
