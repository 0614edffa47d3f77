#include "admission/json_text.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

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

// What nlohmann/json reads in it is what was written, however little room was made at first.
TEST(JsonWriter, WritesWhatAReaderReads) {
  const std::string every = [] {
    std::string bytes;
    for (char byte = 1; byte < 0x7F; ++byte) bytes += byte;
    return bytes + "\xC3\xA9 \xF0\x9F\x9A\xAA";
  }();
  for (const size_t room : {0, 1, 7, 64, 4'096}) {
    JsonWriter json(room);
    json.raw("{");
    json.key("every");
    json.text(every);
    json.member("none", "");
    json.member("long", std::string(1'000, '"'));
    json.key("least");
    json.number(INT64_MIN);
    json.key("flag");
    json.flag(false);
    json.key("nothing");
    json.text({});
    json.raw(std::string_view("}"));
    const auto read = nlohmann::json::parse(json.take());
    const nlohmann::json expected = {{"every", every},
                                     {"long", std::string(1'000, '"')},
                                     {"least", INT64_MIN},
                                     {"flag", false},
                                     {"nothing", ""}};
    EXPECT_EQ(read, expected) << room;
  }
}

TEST(JsonWriter, BeginsAgainOnceItWasTaken) {
  JsonWriter json(8);
  json.text("first");
  EXPECT_EQ(json.take(), "\"first\"");
  json.text("and the second");
  EXPECT_EQ(json.take(), "\"and the second\"");
}

TEST(JsonWriter, ReplacesWhatIsNotUtf8) {
  JsonWriter json(8);
  json.text(
      "a\xFF"
      "b\xC3");
  EXPECT_EQ(json.take(),
            "\"a\xEF\xBF\xBD"
            "b\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace lastout::admission
