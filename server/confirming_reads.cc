#include "server/confirming_reads.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "client/fetch.h"
#include "client/metadata_stream.h"
#include "client/status.h"

namespace lastout::server {
namespace {

using graph::Condition;
using Holder = ConfirmingReads::Holder;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr size_t kPage = 500;

kube::Error unread(std::string why) { return {std::move(why), {}, {}}; }

milliseconds timeUntil(TimePoint deadline) {
  return std::chrono::duration_cast<milliseconds>(deadline - steady_clock::now());
}

std::string tookTooLong(const kube::GroupResource& type) {
  return "reading " + toString(type) + " took too long";
}

client::ApiRequest metadataRequest(std::string target, std::string_view accept, TimePoint deadline) {
  client::ApiRequest request;
  request.target = std::move(target);
  request.accept = accept;
  request.patience = std::max(timeUntil(deadline), milliseconds(1));
  return request;
}

bool holds(const Condition& condition, const kube::ObjectMeta& meta) {
  if (condition.kind == Condition::Kind::Finalizer)
    return std::ranges::find(meta.finalizers, condition.finalizer) != meta.finalizers.end();
  return condition.uid.empty() || condition.uid == meta.uid;
}

// Whether a 404 is about this one object, and not about its type.
bool isAboutObject(const client::ServerStatus& status, std::string_view name) {
  return status.reason == "NotFound" && status.message.ends_with("\"" + std::string(name) + "\" not found");
}

}  // namespace

ConfirmingReads::ConfirmingReads(const std::shared_ptr<client::Access>& access, const LiveView& view)
    : server_(access->newServer()), view_(view) {}

// The first who waits for the next read begins it when the one before has ended.
kube::Result<Holder> ConfirmingReads::holderOf(const Condition& condition, TimePoint deadline) {
  std::unique_lock lock(mutex_);
  Reads& reads = reads_[condition];
  const bool isMine = !reads.running || !reads.next;
  std::shared_ptr<Read>& place = reads.running ? reads.next : reads.running;
  if (isMine) place = std::make_shared<Read>();
  const std::shared_ptr<Read> read = place;
  if (!isMine) {
    if (!changed_.wait_until(lock, deadline, [&] { return read->done; }))
      return tl::unexpected(unread(tookTooLong(condition.type)));
    return read->result;
  }
  // Whoever came later than this one, and waits with it, fails with it, if it comes to that.
  if (!changed_.wait_until(lock, deadline, [&] { return reads_.at(condition).running == read; })) {
    finish(condition, read, tl::unexpected(unread(tookTooLong(condition.type))));
    return read->result;
  }
  lock.unlock();
  auto result = this->read(condition, deadline);
  lock.lock();
  finish(condition, read, std::move(result));
  return read->result;
}

void ConfirmingReads::finish(const Condition& condition, const std::shared_ptr<Read>& read,
                             kube::Result<Holder> result) {
  read->result = std::move(result);
  read->done = true;
  const auto reads = reads_.find(condition);
  if (reads->second.running == read) reads->second.running = std::exchange(reads->second.next, nullptr);
  if (reads->second.next == read) reads->second.next = nullptr;
  if (reads->second.running == nullptr) reads_.erase(reads);
  changed_.notify_all();
}

kube::Result<Holder> ConfirmingReads::read(const Condition& condition, TimePoint deadline) const {
  if (condition.kind == Condition::Kind::NamespaceContent)
    return tl::unexpected(unread("the content of a namespace cannot be read at one moment"));
  const auto type = view_.find(condition.type);
  if (!type) return readUnserved(condition.type, deadline);
  if (condition.kind == Condition::Kind::Object) return readObject(*type, condition, deadline);
  return readAll(*type, condition, deadline);
}

// Nothing of a type is there when its CRD is not.
kube::Result<Holder> ConfirmingReads::readUnserved(const kube::GroupResource& type,
                                                   TimePoint deadline) const {
  const auto definitions = view_.find(kube::crdType());
  if (!definitions || view_.knowledge(type) != graph::Knowledge::Absent)
    return tl::unexpected(unread("the API server does not serve " + toString(type)));
  Condition definition;
  definition.type = kube::crdType();
  definition.name = kube::crdKey(type).name;
  auto found = readObject(*definitions, definition, deadline);
  if (found && *found)
    return tl::unexpected(unread("the API server does not serve " + toString(type) + ", whose CRD is there"));
  return found;
}

kube::Result<Holder> ConfirmingReads::readObject(const kube::ResourceType& type, const Condition& condition,
                                                 TimePoint deadline) const {
  const auto request = metadataRequest(client::objectPath(type, condition.namespaceName, condition.name),
                                       client::kAcceptMetadata, deadline);
  const auto whole = client::fetch(*server_, request);
  if (!whole) return tl::unexpected(whole.error());
  if (steady_clock::now() > deadline) return tl::unexpected(unread(tookTooLong(type.type)));
  if (whole->answer.status == 200) {
    auto object = client::decodeObject(whole->body, client::Content::Metadata);
    if (!object) return tl::unexpected(std::move(object.error()));
    if (!holds(condition, object->meta)) return Holder();
    return Holder({type.type, std::move(object->meta)});
  }
  const auto status = client::statusOfAnswer(whole->answer.status, whole->body);
  if (status.code == 404 && isAboutObject(status, condition.name)) return Holder();
  return tl::unexpected(unread("reading " + toString(type.type) + ": " + toString(status)));
}

// Page by page, until the first that holds the condition; all pages are of one moment.
kube::Result<Holder> ConfirmingReads::readAll(const kube::ResourceType& type, const Condition& condition,
                                              TimePoint deadline) const {
  const std::string path = client::collectionPath(type) + "?limit=" + std::to_string(kPage);
  Holder found;
  std::string token;
  do {
    client::ListStream list(client::Content::Metadata, [&](client::StreamedObject object) {
      if (!found && holds(condition, object.meta)) found = {type.type, std::move(object.meta)};
    });
    kube::Result<void> pushed;
    std::string refusal;
    const auto request =
        metadataRequest(token.empty() ? path : path + "&continue=" + client::percentEncoded(token),
                        client::kAcceptMetadataList, deadline);
    const auto answer = server_->exchange(request, [&](int status, std::string_view piece) {
      if (status == 200) pushed = list.push(piece);
      if (status != 200 && refusal.size() < 4'096) refusal.append(piece);
      return pushed && !found && steady_clock::now() <= deadline;
    });
    if (found) return found;
    if (!pushed) return tl::unexpected(std::move(pushed.error()));
    if (!answer) return tl::unexpected(answer.error());
    if (steady_clock::now() > deadline) return tl::unexpected(unread(tookTooLong(type.type)));
    if (answer->status != 200)
      return tl::unexpected(unread("reading " + toString(type.type) + ": " +
                                   toString(client::statusOfAnswer(answer->status, refusal))));
    auto end = list.finish();
    if (!end) return tl::unexpected(std::move(end.error()));
    token = std::move(end->continueToken);
  } while (!token.empty());
  return found;
}

}  // namespace lastout::server
