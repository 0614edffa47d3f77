// How often is asked for types that are not served although their CRDs are there.
#include "server/watch/unlisted_types.h"

#include <gtest/gtest.h>

namespace lastout::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

const kube::GroupResource kOne{"one.example.com", "ones"};
const kube::GroupResource kOther{"two.example.com", "twos"};

class AwaitedTypesTest : public ::testing::Test {
 public:
  // How often is asked within an hour, by who looks each second.
  int asked(const std::vector<kube::GroupResource>& types) {
    int count = 0;
    for (int i = 0; i < 3'600; ++i) {
      now += seconds(1);
      if (awaited.isDue(types, now)) ++count;
    }
    return count;
  }

  client::TimePoint now{seconds(1'000)};
  UnlistedTypes awaited{client::Backoff({milliseconds(200), seconds(30)}, [] { return 0.5; })};
};

TEST_F(AwaitedTypesTest, TheSameAreAskedForLessAndLessOften) {
  EXPECT_EQ(asked({}), 0);
  EXPECT_TRUE(awaited.isDue({kOne}, now));
  EXPECT_FALSE(awaited.isDue({kOne}, now));
  EXPECT_LE(asked({kOne}), 3'600 / 15 + 8);
}

TEST_F(AwaitedTypesTest, OthersAndAChangedCrdAreAskedForAtOnce) {
  asked({kOne});
  EXPECT_TRUE(awaited.isDue({kOne, kOther}, now));
  EXPECT_FALSE(awaited.isDue({kOne, kOther}, now));
  awaited.reset();
  EXPECT_TRUE(awaited.isDue({kOne, kOther}, now));
}

}  // namespace
}  // namespace lastout::server
