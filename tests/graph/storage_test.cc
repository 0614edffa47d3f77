// What graphs are stored in: strings, indexes, pools and uids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "graph/hash_index.h"
#include "graph/string_arena.h"
#include "graph/uid.h"

namespace lastout::graph::test {
namespace {

TEST(StringArena, KeepsStringsOfAnyLength) {
  StringArena arena;
  std::map<size_t, StringId> ids;
  for (size_t length = 0; length < 700; ++length)
    ids[length] = arena.add(std::string(length, 'a' + length % 26));
  for (const size_t length : {4091, 4092, 4093, 16384, 100'000})
    ids[length] = arena.add(std::string(length, 'a' + length % 26));
  for (const auto& [length, id] : ids) EXPECT_EQ(arena.view(id), std::string(length, 'a' + length % 26));
  EXPECT_EQ(arena.count(), ids.size() - 1);  // the empty string takes no place
}

TEST(StringArena, RandomHistoryAgreesWithAMapAlsoInCopies) {
  std::mt19937 random(1);
  StringArena arena;
  std::map<StringId, std::string> expected;
  std::vector<std::pair<StringArena, std::map<StringId, std::string>>> copies;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 5 < 3 || expected.empty()) {
      const size_t longest = random() % 50 == 0 ? 6000 : 60;
      const std::string text(1 + random() % longest, static_cast<char>('a' + random() % 26));
      EXPECT_TRUE(expected.emplace(arena.add(text), text).second);
    } else {
      const auto victim = std::next(expected.begin(), static_cast<ptrdiff_t>(random() % expected.size()));
      arena.release(victim->first);
      expected.erase(victim);
    }
    if (step % 5000 == 2500) copies.emplace_back(arena, expected);
  }
  copies.emplace_back(arena, expected);
  for (const auto& [copy, strings] : copies) {
    EXPECT_EQ(copy.count(), strings.size());
    for (const auto& [id, text] : strings) EXPECT_EQ(copy.view(id), text);
  }
}

TEST(StringArena, PagesAreUsedAgainForOtherSizes) {
  StringArena arena;
  std::vector<StringId> ids;
  for (size_t length = 1; length <= 4000; length += 40) {
    for (int i = 0; i < 100; ++i) ids.push_back(arena.add(std::string(length, 'x')));
    for (const StringId id : ids) arena.release(id);
    ids.clear();
  }
  EXPECT_EQ(arena.count(), 0u);
  // 100 strings of the longest kind fill 25 pages; one page of each size may be kept.
  EXPECT_LE(arena.pages(), 25u + 56u);
}

TEST(HashIndex, RandomHistoryWithManyCollisionsAgreesWithAMap) {
  std::mt19937 random(2);
  HashIndex index;
  std::map<uint32_t, uint32_t> hashOf;  // by number
  // Few homes, at the end too, so that runs are long and go round.
  const auto someHash = [&] { return (random() % 2 == 0 ? 0xfffffff0u : 0x10000000u) + random() % 20; };
  for (uint32_t step = 0; step < 20000; ++step) {
    if (random() % 100 < 52) {
      hashOf[step] = someHash();
      index.insert(hashOf[step], step);
    } else if (!hashOf.empty()) {
      const auto victim = std::next(hashOf.begin(), static_cast<ptrdiff_t>(random() % hashOf.size()));
      index.erase(victim->second, victim->first);
      hashOf.erase(victim);
    }
    if (step % 500 != 0) continue;
    for (const auto& [number, hash] : hashOf) {
      EXPECT_EQ(index.find(hash, [&, wanted = number](uint32_t found) { return found == wanted; }), number);
    }
    EXPECT_EQ(index.find(0x80000000, [](uint32_t) { return true; }), kNone);
  }
}

TEST(Pool, ReleasedNumbersComeBackLastFirst) {
  Pool<uint64_t> pool;
  for (uint64_t i = 0; i < 5000; ++i) EXPECT_EQ(pool.add(i), i);
  pool.release(17);
  pool.release(4711);
  const Pool<uint64_t> copy = pool;
  EXPECT_EQ(pool.add(1), 4711u);
  EXPECT_EQ(pool.add(2), 17u);
  EXPECT_EQ(pool.add(3), 5000u);
  EXPECT_EQ(pool[4711], 1u);
  EXPECT_EQ(copy.live(), 4998u);
  EXPECT_EQ(copy.slots(), 5000u);
  EXPECT_EQ(copy[4999], 4999u);
}

TEST(Uid, CanonicalUuidsAreSixteenBytesAndEverythingElseIsText) {
  const std::string canonical = "0b7a61a5-6a34-4c0e-9a1f-2f5be9d1d0ff";
  const UidKey uid = parseUid(canonical);
  EXPECT_EQ(uid.kind, UidKind::Uuid);
  EXPECT_EQ(uid.high, 0x0b7a61a56a344c0eu);
  EXPECT_EQ(uid.low, 0x9a1f2f5be9d1d0ffu);
  EXPECT_EQ(formatUuid(uid.high, uid.low), canonical);
  EXPECT_EQ(parseUid("").kind, UidKind::None);
  for (const auto* text : {"x", "0B7A61A5-6A34-4C0E-9A1F-2F5BE9D1D0FF", "0b7a61a5-6a34-4c0e-9a1f-2f5be9d1d0f",
                           "0b7a61a5-6a34-4c0e-9a1f-2f5be9d1d0ff0", "0b7a61a5x6a34-4c0e-9a1f-2f5be9d1d0ff",
                           "0b7a61a5-6a34-4c0e-9a1f-2f5be9d1d0fg", "0b7a61a5-6a34-4c0e-9a1f-2f5be9d1d0f-"}) {
    EXPECT_EQ(parseUid(text).kind, UidKind::Text) << text;
    EXPECT_EQ(parseUid(text).text, text);
  }
}

TEST(Uid, EveryByteThatIsNoDigitIsSeenInEveryPlace) {
  const std::string canonical = "0b7a61a5-6a34-4c0e-9a1f-2f5be9d1d0ff";
  for (size_t place = 0; place < canonical.size(); ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string text = canonical;
      text[place] = static_cast<char>(byte);
      const bool dash = canonical[place] == '-';
      const bool digit = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
      const UidKey uid = parseUid(text);
      ASSERT_EQ(uid.kind == UidKind::Uuid, dash ? byte == '-' : digit) << text;
      if (uid.kind == UidKind::Uuid) {
        EXPECT_EQ(formatUuid(uid.high, uid.low), text);
      }
    }
  }
}

}  // namespace
}  // namespace lastout::graph::test
