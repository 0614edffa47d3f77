#include "tls/openssl.h"

#include <gmock/gmock.h>
#include <openssl/err.h>
#include <openssl/pem.h>

namespace lastout::tls {
namespace {

TEST(TakeError, TellsTheFirstAndEmptiesTheQueue) {
  ERR_clear_error();
  ERR_raise(ERR_LIB_PEM, PEM_R_NO_START_LINE);
  ERR_raise(ERR_LIB_PEM, PEM_R_BAD_PASSWORD_READ);
  EXPECT_EQ(takeError(), "no start line");
  EXPECT_EQ(ERR_peek_error(), 0);
  EXPECT_EQ(takeError(), "") << "there is none any more";
}

TEST(TakeError, TellsTheNumbersOfOneWithoutText) {
  ERR_clear_error();
  constexpr int kOfNobody = 321;
  ERR_raise(ERR_LIB_USER, kOfNobody);
  EXPECT_THAT(takeError(), ::testing::HasSubstr("reason(321)"));
}

}  // namespace
}  // namespace lastout::tls
