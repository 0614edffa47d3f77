#include "kube/base64.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace lastout::kube {
namespace {

TEST(Base64, IsThatOfTheStandard) {
  // RFC 4648, section 10.
  const std::vector<std::pair<std::string, std::string>> vectors = {{"", ""},
                                                                    {"f", "Zg=="},
                                                                    {"fo", "Zm8="},
                                                                    {"foo", "Zm9v"},
                                                                    {"foob", "Zm9vYg=="},
                                                                    {"fooba", "Zm9vYmE="},
                                                                    {"foobar", "Zm9vYmFy"},
                                                                    {"\xff\xfe", "//4="}};
  for (const auto& [bytes, text] : vectors) {
    EXPECT_EQ(toBase64(bytes), text);
    EXPECT_EQ(fromBase64(text), bytes);
  }
  for (const char* bad : {"Z", "Zg", "Zg=", "Zg===", "Z===", "=", "Zm9v!", "Zg==Zg==", "Zm-v"})
    EXPECT_FALSE(fromBase64(bad)) << bad;
}

}  // namespace
}  // namespace lastout::kube
