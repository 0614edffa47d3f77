// Reading: get, list in pages, and watch.
#include <algorithm>
#include <utility>

#include "simulator/api.h"
#include "simulator/scale.h"
#include "simulator/selection.h"
#include "simulator/watch.h"

namespace lastout::simulator {
namespace {

constexpr std::chrono::milliseconds kWaitForVersion{3000};  // for a version that is not there yet
constexpr std::chrono::minutes kLongestWatch{60};

// A page of a list at a version that is given is of exactly that one, as it was before there was a
// resourceVersionMatch.
bool isExact(const ListOptions& options) {
  return options.match == VersionMatch::Exact ||
         (options.match == VersionMatch::Unset && options.limit != 0 && options.continueToken.empty());
}

// Since 1.32 a client says whether its watch begins with what is there, and is told by a bookmark where that
// ends (rest/080 of 1.36).
void beginAsAsked(const ListOptions& options, WatchOptions& watch) {
  if (options.initialEvents == true) watch.notOlderThan = std::exchange(watch.from, std::nullopt);
  watch.isSilentAtFirst = options.initialEvents == false && !watch.from;
  watch.marksBeginning = options.bookmarks && !watch.from && !watch.isSilentAtFirst;
}

}  // namespace

ApiResult<ExchangeResponse> Api::get(Call& call) {
  RecordRef record;
  {
    const kube::MutexLock lock(plane_.mutex);
    record = plane_.storage.find(call.key());
  }
  if (record == nullptr) return tl::unexpected(notFound(call.type->type, call.target.name));
  if (call.target.subresource == "scale") return answerWith(200, scaleOf(record->object()));
  return answerWith(200, *call.type, record->object(), call.view);
}

// A part of a list: as it is, or as it was at a version. `version` becomes the one that it is of.
ApiResult<StoragePage> Api::listed(const Call& call, const ListOptions& options, const ListRange& part,
                                   uint64_t& version) {
  kube::MutexLock lock(plane_.mutex);
  const uint64_t wanted = options.resourceVersion.value_or(0);
  const bool exact = wanted != 0 && isExact(options);
  auto patience =
      std::min<std::chrono::milliseconds>(kWaitForVersion, options.timeout.value_or(std::chrono::hours(1)));
  if (exact) patience = {};  // only what is newer is waited for
  if (!plane_.changed.waitFor(lock, patience, [&]() LASTOUT_REQUIRES(plane_.mutex) {
        return plane_.storage.version() >= std::max(wanted, version);
      }))
    return tl::unexpected(futureVersion(std::max(wanted, version), plane_.storage.version()));
  if (exact) version = wanted;
  if (version == 0) version = plane_.storage.version();
  auto page = plane_.storage.listAt(call.type->type, version, part);
  if (page) return std::move(*page);
  return tl::unexpected(expired(options.continueToken.empty()
                                    ? "The resourceVersion for the provided list is too old."
                                    : "The provided continue parameter is too old to display a consistent "
                                      "list result. You must start a "
                                      "new list without the continue parameter."));
}

ApiResult<ExchangeResponse> Api::list(Call& call, const ListOptions& options) {
  auto selection = selectionOf(call.type->type, call.target, options);
  if (!selection) return tl::unexpected(std::move(selection.error()));
  ContinueToken token;
  if (!options.continueToken.empty()) {
    auto parsed = parseContinueToken(options.continueToken);
    if (!parsed) return tl::unexpected(std::move(parsed.error()));
    token = std::move(*parsed);
  }
  ListRange part{selection->namespaceName, token.lastName};
  // Version 0 is answered from the API server's cache, which knows no pages (rest/040).
  const bool paged =
      options.limit != 0 && (options.resourceVersion != uint64_t{0} || !token.lastName.empty());
  const bool selects = !selection->labels.requirements.empty() || !selection->fields.requirements.empty();
  if (paged && !selects) part.most = options.limit;
  uint64_t version = token.resourceVersion;
  auto page = listed(call, options, part, version);
  if (!page) return tl::unexpected(std::move(page.error()));
  std::vector<RecordRef>& records = page->records;
  if (selects) {
    std::erase_if(records, [&](const RecordRef& record) { return !selection->contains(*record); });
    if (paged && records.size() > options.limit) {
      page->left = records.size() - options.limit;
      records.resize(options.limit);
    }
  }
  Json metadata = {{"resourceVersion", std::to_string(version)}};
  if (page->left != 0) {
    metadata["continue"] = toString(ContinueToken{version, pathName(records.back()->key())});
    if (!selects) metadata["remainingItemCount"] = page->left;
  }
  return answerWithList(*call.type, records, metadata, call.view);
}

ApiResult<ExchangeResponse> Api::watch(Call& call, const ListOptions& options) {
  auto selection = selectionOf(call.type->type, call.target, options);
  if (!selection) return tl::unexpected(std::move(selection.error()));
  WatchOptions watch;
  watch.type = call.type;
  watch.selection = std::move(*selection);
  watch.view = call.view;
  if (options.resourceVersion.value_or(0) != 0) watch.from = options.resourceVersion;
  watch.bookmarks = options.bookmarks;
  if (kube::readsSendInitialEvents(plane_.kubernetes())) beginAsAsked(options, watch);
  watch.timeout = std::min<std::chrono::milliseconds>(
      kLongestWatch, options.timeout.value_or(std::chrono::seconds(kLongestWatch)));
  ExchangeResponse response;
  response.stream = openWatch(plane_, std::move(watch));
  return response;
}

}  // namespace lastout::simulator
