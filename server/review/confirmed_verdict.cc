#include "server/review/confirmed_verdict.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>
#include <vector>

namespace lastout::server {
namespace {

constexpr int kMostRounds = 8;  // of confirming reads, for what they find and what changes meanwhile

// What has been read for one verdict.
struct ReadSoFar {
  std::set<graph::Condition> confirmed;
  std::vector<admission::ObservedObject> seen;
};

// nullopt: a read found a holder, or all of them found none; else why one of them failed.
std::optional<std::string> readMore(ConfirmingReads& reads, const ConfirmingReads::Asked& asked,
                                    TimePoint deadline, ReadSoFar& read) {
  auto holders = reads.holdersOf(asked, deadline);
  bool foundHolder = false;
  std::optional<std::string> failure;
  for (size_t i = 0; i < holders.size(); ++i) {
    if (!holders[i]) {
      failure = holders[i].error().message;
      continue;
    }
    read.confirmed.insert(asked.conditions()[i]);
    if (!*holders[i]) continue;
    foundHolder = true;
    read.seen.push_back(std::move(**holders[i]));
  }
  return foundHolder ? std::nullopt : failure;
}

}  // namespace

// Until all that the verdict rests on was read since it was asked for: the verdict is made again with what
// was found.
ConfirmedVerdict confirmedVerdict(LiveView& view, ConfirmingReads& reads, const kube::ObjectKey& object,
                                  admission::DeletionEffect deletionEffect, TimePoint deadline,
                                  std::optional<ConfirmingReads::Asked> asked) {
  ReadSoFar read;
  // A failure counts only if the verdict still rests on what failed, which is then asked for again.
  if (asked) readMore(reads, *asked, deadline, read);
  for (int round = 0; round < kMostRounds; ++round) {
    admission::PreliminaryVerdict judged =
        view.judge(object, std::chrono::steady_clock::now(), read.seen, deletionEffect);
    if (!judged.verdict.allowed || !judged.verdict.guarded) return {std::move(judged), std::nullopt};
    std::erase_if(judged.toConfirm,
                  [&](const graph::Condition& condition) { return read.confirmed.contains(condition); });
    if (judged.toConfirm.empty()) return {std::move(judged), std::nullopt};
    const auto more = reads.ask(std::move(judged.toConfirm));
    if (auto failure = readMore(reads, more, deadline, read)) return {{}, std::move(failure)};
  }
  return {{}, "what it depends on keeps changing"};
}

tl::expected<bool, std::string> isConfirmedToGo(LiveView& view, ConfirmingReads& reads,
                                                CurrentServices& services, const kube::ObjectKey& object,
                                                TimePoint deadline) {
  const auto current = services.read(deadline);
  if (!current) return tl::unexpected("who guards it cannot be read: " + current.error().message);
  if (!view.untoldGuard(object, **current).empty()) return false;
  const ConfirmedVerdict verdict =
      confirmedVerdict(view, reads, object, admission::DeletionEffect::Ending, deadline);
  if (verdict.unconfirmed)
    return tl::unexpected("that it may go could not be confirmed: " + *verdict.unconfirmed);
  return verdict.judged.verdict.allowed;
}

}  // namespace lastout::server
