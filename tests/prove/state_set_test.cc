// The set of states: what it keeps, how much memory it takes, and its hash.
#include "prove/state_set.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace lastout::prove {
namespace {

// A hash is only a hint: states that share one are still told apart.
TEST(StateSet, ComparesStatesInFull) {
  StateSet set(2);
  for (uint64_t i = 0; i < 500; i++) {
    const uint64_t state[2] = {i, i * i};
    EXPECT_TRUE(set.insert(state, 42, 1000).fresh);
  }
  for (uint64_t i = 0; i < 500; i++) {
    const uint64_t state[2] = {i, i * i};
    const StateSet::Inserted again = set.insert(state, 42, 1000);
    EXPECT_FALSE(again.fresh);
    EXPECT_EQ(again.id, i);
  }
}

TEST(StateSet, KeepsNoMoreThanThereIsRoomFor) {
  StateSet set(1);
  const uint64_t one = 1;
  const uint64_t two = 2;
  EXPECT_TRUE(set.insert(&one, hashWords(&one, 1), 1).fresh);
  EXPECT_EQ(set.insert(&two, hashWords(&two, 1), 1).id, StateSet::kNoState);
  EXPECT_EQ(set.insert(&one, hashWords(&one, 1), 1).id, 0u);
  EXPECT_EQ(set.size(), 1u);
}

TEST(StateSet, TellsWhatItWillNeed) {
  StateSet set(17);
  uint64_t state[17] = {};
  for (uint64_t i = 0; i < 100'000; i++) {
    state[i % 17]++;
    const uint64_t foreseen = set.bytesFor(set.size() + 1);
    set.insert(state, hashWords(state, 17), 1'000'000);
    ASSERT_LE(set.bytesFor(set.size()), foreseen);
    ASSERT_GE(foreseen, set.size() * 17 * sizeof(uint64_t));
  }
  EXPECT_EQ(set.size(), 100'000u);
}

TEST(HashWords, OneBitAnywhereChangesTheUpperHalf) {
  std::vector<uint64_t> words(25);
  std::vector<uint32_t> seen;
  for (uint32_t bit = 0; bit < 25 * 64; bit++) {
    words[bit / 64] ^= uint64_t{1} << bit % 64;
    seen.push_back(static_cast<uint32_t>(hashWords(words.data(), 25) >> 32));
    words[bit / 64] ^= uint64_t{1} << bit % 64;
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
}

}  // namespace
}  // namespace lastout::prove
