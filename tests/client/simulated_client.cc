#include "tests/client/simulated_client.h"

#include <algorithm>
#include <iterator>

namespace lastout::testing {
namespace {

using client::EventType;
using std::chrono::milliseconds;
using std::chrono::seconds;

client::ReflectorOptions options(Faults faults) {
  client::ReflectorOptions result;
  result.page = 3;
  if (faults == Faults::Mild) result.outage = std::chrono::hours(24);  // there are none
  return result;
}

client::WatchEvent eventOf(const SimulatedWrite& write) {
  client::WatchEvent event;
  event.type = write.type;
  event.object = streamed(write.name, write.object);
  return event;
}

}  // namespace

SimulatedClient::SimulatedClient(uint64_t seed, Faults faults)
    : dice_(seed),
      faults_(faults),
      api_(dice_),
      check_(api_, faults == Faults::Mild),
      reflector_(
          options(faults), [this] { return dice_.below(1000) / 1000.0; }, check_.handlers()),
      now_(std::chrono::hours(1)) {}

std::string SimulatedClient::run() {
  const std::string trouble = turmoil();
  return trouble.empty() ? calm() : trouble;
}

std::string SimulatedClient::turmoil() {
  for (uint32_t steps = 50 + dice_.below(300); steps > 0; --steps) {
    world();
    step();
    if (const std::string what = wrong(); !what.empty()) return what;
  }
  return "";
}

// However it stands: soon all is as it should be, without many requests.
std::string SimulatedClient::calm() {
  constexpr uint32_t kRequests = 12;
  calm_ = true;
  now_ = std::max(now_, downUntil_);
  const uint32_t before = requests_;
  const client::TimePoint began = now_;
  for (uint32_t steps = 0; steps < 500; ++steps) {
    step();
    if (const std::string what = wrong(); !what.empty()) return what;
  }
  if (!isUpToDate()) return "it never follows again";
  if (reflector_.knowledge().state != client::SyncStatus::State::Synced || !reflector_.knowledge().listed)
    return "it follows, and says that it does not: " + reflector_.knowledge().why;
  if (requests_ - before > kRequests) return "it made " + std::to_string(requests_ - before) + " requests";
  // A backoff, a silence until it counts as a stall, a backoff.
  if (now_ - began > seconds(500)) return "it took too long";
  return "";
}

std::string SimulatedClient::wrong() const {
  if (!check_.complaint().empty()) return check_.complaint();
  if (reflector_.count() != check_.objects().size()) return "it counts other objects than it told";
  const bool synced = reflector_.knowledge().state == client::SyncStatus::State::Synced;
  if (synced != (session_ == Session::Watch) && session_ != Session::Silent)
    return "it is wrong about whether a watch follows";
  if (isUpToDate() && check_.objects() != api_.objects()) return "the objects differ from the server's";
  return "";
}

void SimulatedClient::world() {
  now_ += milliseconds(dice_.below(400));
  if (dice_.oneIn(4)) api_.write();
  if (dice_.oneIn(25)) api_.trim();
  if (wild(120)) comeBack();
}

void SimulatedClient::comeBack() {
  // A silent connection shows nothing of this.
  if (session_ != Session::None && session_ != Session::Silent) fail(0);
  switch (dice_.below(4)) {
    case 0:
      // Nobody can see a backup that is there at once; restoring etcd takes longer than that.
      downUntil_ = std::max(downUntil_, now_ + seconds(11 + dice_.below(40)));
      return api_.comeBack(NewHistory::Restored);
    case 1:
      return api_.comeBack(NewHistory::Bumped);
    case 2:
      return api_.comeBack(dice_.oneIn(2) ? NewHistory::Empty : NewHistory::Another);
    default:
      downUntil_ = std::max(downUntil_, now_ + seconds(dice_.below(40)));  // and back as it was
  }
}

// Between two requests of what looks like one.
void SimulatedClient::becomeAnother() {
  if (wild(40)) api_.comeBack(NewHistory::Another);
}

void SimulatedClient::step() {
  switch (session_) {
    case Session::None:
      return begin();
    case Session::List:
      return listStep();
    case Session::Watch:
      return position_ > api_.version() ? watchTheFuture() : watchStep();
    case Session::Silent:
      if (!calm_ && !dice_.oneIn(4)) return;
      now_ = std::max(now_, reflector_.stallsAt());
      fail(0);
  }
}

void SimulatedClient::begin() {
  const client::Next next = reflector_.next(now_);
  if (const auto* wait = std::get_if<client::WaitUntil>(&next)) {
    if (calm_ || dice_.oneIn(2)) now_ = wait->when;
    return;
  }
  ++requests_;
  if (now_ < downUntil_) return fail(dice_.oneIn(3) ? 503 : 0);
  if (chance(8)) return refuse();
  if (wild(20)) {
    session_ = Session::Silent;
    return;
  }
  if (const auto* page = std::get_if<client::ListPage>(&next)) list(*page);
  if (const auto* from = std::get_if<client::WatchFrom>(&next)) watch(*from);
}

void SimulatedClient::refuse() {
  const int code = dice_.pick<int>({0, 0, 401, 403, 404, 410, 429, 500, 503, 504});
  if (code == 429 && faults_ == Faults::Wild)
    return reflector_.failed({code, "TooManyRequests", "", seconds(dice_.below(20))}, now_);
  fail(code);
}

// A continue token is "<epoch>:<version>:<index of the first item>".
void SimulatedClient::list(const client::ListPage& page) {
  if (page.continueToken.empty() && !reflector_.answeredBy(api_.cluster(), now_)) return;
  becomeAnother();
  uint64_t version = api_.version();
  size_t from = 0;
  if (!page.continueToken.empty()) {
    const size_t second = page.continueToken.find(':');
    const size_t third = page.continueToken.find(':', second + 1);
    version = std::stoull(page.continueToken.substr(second + 1));
    from = std::stoull(page.continueToken.substr(third + 1));
    // A cluster may take the token of another one for its own.
    const bool isForeign = std::stoull(page.continueToken) != api_.epoch();
    if (isForeign && (version > api_.version() || dice_.oneIn(2))) return fail(dice_.oneIn(2) ? 410 : 400);
    if (version < api_.knownSince() || chance(10)) return fail(410);
  } else if (page.resourceVersion == "0") {
    const uint64_t behind = api_.version() - api_.knownSince();
    version -= dice_.oneIn(2) ? dice_.below(static_cast<uint32_t>(behind) + 1) : 0;
  }
  const SimulatedObjects& objects = api_.objectsAt(version);
  const bool inOne = page.limit == 0 || (page.resourceVersion == "0" && dice_.oneIn(2));  // rest/040
  const size_t to = inOne ? objects.size() : std::min(from + page.limit, objects.size());
  items_.clear();
  size_t index = 0;
  for (const auto& [name, object] : objects) {
    if (index >= from && index < to) items_.push_back(streamed(name, object));
    ++index;
  }
  std::reverse(items_.begin(), items_.end());
  pageVersion_ = std::to_string(version);
  pageToken_ = to == objects.size()
                   ? ""
                   : std::to_string(api_.epoch()) + ":" + pageVersion_ + ":" + std::to_string(to);
  session_ = Session::List;
}

void SimulatedClient::listStep() {
  if (chance(15)) return fail(0);
  if (wild(60)) return fail(200);
  if (items_.empty()) {
    session_ = Session::None;
    return reflector_.endOfPage(pageVersion_, pageToken_, now_);
  }
  if (!reflector_.item(items_.back(), now_)) session_ = Session::None;
  if (!chance(15)) items_.pop_back();  // or it is told twice
}

void SimulatedClient::watch(const client::WatchFrom& from) {
  position_ = std::stoull(from.resourceVersion);
  told_.clear();
  if (position_ > api_.version() && dice_.oneIn(2)) return fail(504);
  if (position_ < api_.knownSince() && dice_.oneIn(2)) return fail(410);
  becomeAnother();
  if (!reflector_.answeredBy(api_.cluster(), now_)) return;
  session_ = Session::Watch;
  reflector_.watchBegan(now_);
}

// From a version that another history had: some servers say so, others are silent until they are there.
void SimulatedClient::watchTheFuture() {
  switch (dice_.below(4)) {
    case 0:
      return error(504);
    case 1:
      return bookmark(api_.version());
    case 2:
      session_ = Session::Silent;
      return;
    default:
      now_ += seconds(1);
  }
}

void SimulatedClient::watchStep() {
  if (position_ < api_.knownSince()) return error(410);
  if (watchFault()) return;
  const SimulatedWrite* write = api_.after(position_);
  if (write != nullptr) {
    deliver(*write);
    if (session_ == Session::Watch) position_ = write->object.version;
  } else if (calm_ || dice_.oneIn(3)) {
    bookmark(api_.version());
    if (session_ == Session::Watch) position_ = api_.version();
  }
}

bool SimulatedClient::watchFault() {
  if (chance(25)) {
    fail(0);
  } else if (chance(25)) {
    reflector_.ended(now_);
    session_ = Session::None;
  } else if (chance(40)) {
    error(dice_.oneIn(2) ? 500 : 410);
  } else if (wild(40)) {
    session_ = Session::Silent;
  } else if (wild(40)) {
    fail(200);
  } else if (wild(10) && !told_.empty()) {
    deliver(dice_.pick(told_));
  } else if (chance(10) && !told_.empty()) {
    deliver(SimulatedWrite(told_.back()));
  } else if (wild(10)) {
    swapTwo();
  } else {
    return false;
  }
  return true;
}

// Two events in the wrong order. Nothing is cut between them: nobody could know of the second.
void SimulatedClient::swapTwo() {
  const SimulatedWrite* first = api_.after(position_);
  const SimulatedWrite* second = first == nullptr ? nullptr : api_.after(first->object.version);
  if (second == nullptr) return;
  deliver(*second);
  if (session_ == Session::Watch) deliver(*first);
  if (session_ == Session::Watch) position_ = second->object.version;
}

void SimulatedClient::deliver(const SimulatedWrite& write) {
  if (!reflector_.event(eventOf(write), now_)) session_ = Session::None;
  told_.push_back(write);
}

void SimulatedClient::bookmark(uint64_t version) {
  client::WatchEvent event;
  event.type = EventType::Bookmark;
  event.object.meta.resourceVersion = std::to_string(version);
  if (!reflector_.event(event, now_)) session_ = Session::None;
}

void SimulatedClient::error(int code) {
  client::WatchEvent event;
  event.status = {code, "", "an event", {}};
  reflector_.event(event, now_);
  session_ = Session::None;
}

void SimulatedClient::fail(int code) {
  reflector_.failed({code, "", "it failed", {}}, now_);
  session_ = Session::None;
}

}  // namespace lastout::testing
