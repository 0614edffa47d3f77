#include "admission/json_text.h"

#include <gtest/gtest.h>

#include <string>

namespace lastout::admission {
namespace {

// Every byte at every place of a text, behind which others follow that are not plain either.
TEST(PlainLength, EndsAtTheFirstByteThatNeedsALook) {
  for (size_t place = 0; place <= 20; ++place) {
    for (int byte = 0; byte < 256; ++byte) {
      const bool isPlain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
      std::string text(place, 'a');
      text += static_cast<char>(byte);
      EXPECT_EQ(plainLength(text), place + (isPlain ? 1 : 0)) << place << " " << byte;
      text += "!\x01\xff\"";
      EXPECT_EQ(plainLength(text), place + (isPlain ? 2 : 0)) << place << " " << byte;
    }
  }
  EXPECT_EQ(plainLength(""), 0U);
}

}  // namespace
}  // namespace lastout::admission
