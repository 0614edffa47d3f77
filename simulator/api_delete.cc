// Deleting: one object, or a collection.
#include <utility>

#include "kube/well_known.h"
#include "simulator/api.h"
#include "simulator/contents.h"
#include "simulator/decode.h"
#include "simulator/selection.h"

namespace lastout::simulator {
namespace {

ApiResult<DeleteOptions> deleteOptionsOf(const ExchangeRequest& request) {
  Json body;
  if (!request.body.empty()) {
    auto decoded = decodeBody(request.body, request.contentType, "DeleteOptions");
    if (!decoded) return tl::unexpected(std::move(decoded.error()));
    body = std::move(*decoded);
  }
  return parseDeleteOptions(request.query, body);
}

// Recorded in rest/061.
ApiResult<void> checkPreconditions(const ServedType& type, const StoredRecord& record,
                                   const DeleteOptions& options) {
  const auto failed = [&](const std::string& what, const std::string& wanted, std::string_view actual) {
    return tl::unexpected(conflict({type.type.group, type.kind}, record.key().name,
                                   "the " + what + " in the precondition (" + wanted +
                                       ") does not match the " + what + " in record (" + std::string(actual) +
                                       "). The object might have been " +
                                       (what == "UID" ? "deleted and then recreated" : "modified")));
  };
  const std::string_view uid = stringAt(record.object(), {"metadata", "uid"});
  if (options.uid && *options.uid != uid) return failed("UID", *options.uid, uid);
  const std::string version = std::to_string(record.version());
  if (options.resourceVersion && *options.resourceVersion != version)
    return failed("ResourceVersion", *options.resourceVersion, version);
  return {};
}

}  // namespace

// The object as it now is, or the Status that says that it is gone.
ApiResult<Json> Api::removeOne(Call& call, const kube::ObjectKey& key, const DeleteOptions& options,
                               bool nameIsKnown) {
  // Whether or not it is there. A DELETE of a collection names no object, and Namespaces have none.
  if (nameIsKnown && kube::isImmortal(key))
    return tl::unexpected(forbidden(key.type, key.name,
                                    key.type == kube::kNamespaces
                                        ? "this namespace may not be deleted"
                                        : "this is a system priority class and cannot be deleted"));
  // A Namespace that already terminates is answered without any review.
  if (key.type == kube::kNamespaces) {
    const RecordRef space = stored(key);
    if (space != nullptr && isTerminating(space->object())) {
      if (auto fits = checkPreconditions(*call.type, *space, options); !fits)
        return tl::unexpected(std::move(fits.error()));
      return space->object();
    }
  }
  RecordRef before;
  const Prepare prepare = [&](const RecordRef& now) -> ApiResult<Mutation> {
    before = now;
    if (before == nullptr) return tl::unexpected(notFound(key.type, key.name));
    if (auto fits = checkPreconditions(*call.type, *before, options); !fits)
      return tl::unexpected(std::move(fits.error()));
    Mutation mutation;
    mutation.operation = Mutation::Operation::Delete;
    mutation.type = call.type;
    mutation.key = key;
    mutation.before = before;
    mutation.policy = options.policy;
    DeleteOptions shown = options;
    shown.gracePeriodSeconds =
        reviewedGracePeriod(rulesOf(*call.type), before->object(), options.gracePeriodSeconds, nameIsKnown);
    mutation.options = shown.asGiven();
    mutation.nameIsKnown = nameIsKnown;
    mutation.dryRun = options.dryRun;
    mutation.user = call.http.user;
    return mutation;
  };
  auto left = perform(call, key, prepare);
  if (!left) return left;
  const bool isGone = options.dryRun ? wouldVanish(*call.type, *before, options.policy) : [&] {
    const RecordRef now = stored(key);
    return now == nullptr ||
           stringAt(now->object(), {"metadata", "uid"}) != stringAt(before->object(), {"metadata", "uid"});
  }();
  if (!isGone) return left;
  return statusOfDeleted(key.type, key.name, stringAt(before->object(), {"metadata", "uid"}));
}

ApiResult<ExchangeResponse> Api::remove(Call& call) {
  const auto options = deleteOptionsOf(call.http);
  if (!options) return tl::unexpected(options.error());
  auto left = removeOne(call, call.key(), *options, true);
  if (!left) return tl::unexpected(std::move(left.error()));
  if (stringAt(*left, {"kind"}) == "Status" && call.type->kind != "Status") return answerWith(200, *left);
  return answerWith(200, *call.type, *left, call.view);
}

// Each object is reviewed and deleted by itself; the first that may not be ends it. Answers with the objects
// as they were (rest/069).
ApiResult<ExchangeResponse> Api::removeCollection(Call& call) {
  const auto options = deleteOptionsOf(call.http);
  if (!options) return tl::unexpected(options.error());
  if (!call.listOptions) return tl::unexpected(call.listOptions.error());
  auto selection = selectionOf(call.type->type, call.target, *call.listOptions);
  if (!selection) return tl::unexpected(std::move(selection.error()));
  std::vector<RecordRef> records;
  uint64_t version = 0;
  {
    const kube::MutexLock lock(plane_.mutex);
    version = plane_.storage.version();
    for (RecordRef& record : plane_.storage.list(call.type->type, selection->namespaceName)) {
      if (selection->contains(*record)) records.push_back(std::move(record));
    }
  }
  for (const RecordRef& record : records) {
    const auto left = removeOne(call, record->key(), *options, false);
    if (!left && left.error().code != 404) return tl::unexpected(left.error());
  }
  return answerWithList(*call.type, records, {{"resourceVersion", std::to_string(version)}}, call.view);
}

}  // namespace lastout::simulator
