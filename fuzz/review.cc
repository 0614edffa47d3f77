// Any text as the body of an admission request: JsonCursor takes what nlohmann takes; what is a review says
// what nlohmann reads there; and the answer to it is JSON that repeats its uid.
#include "admission/review.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

#include "admission/json_cursor.h"
#include "fuzz/check.h"

using lastout::fuzz::check;
namespace admission = lastout::admission;
using nlohmann::json;

namespace {

struct Depth {
  size_t now = 0;
  size_t most = 0;
};

// What nlohmann makes of it, and how deep it is; a number that is too large is none for it.
bool isJson(std::string_view text, Depth& depth, bool& hugeNumber) {
  struct Handler : nlohmann::json_sax<json> {
    Handler(Depth& given, bool& huge) : depth(given), hugeNumber(huge) {}
    bool open() {
      depth.most = std::max(depth.most, ++depth.now);
      return true;
    }
    bool close() {
      --depth.now;
      return true;
    }
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(size_t) override { return open(); }
    bool end_object() override { return close(); }
    bool start_array(size_t) override { return open(); }
    bool end_array() override { return close(); }
    bool key(string_t&) override { return true; }
    bool parse_error(size_t, const std::string&, const nlohmann::detail::exception& error) override {
      hugeNumber = error.id == 406;
      return false;
    }
    Depth& depth;
    bool& hugeNumber;
  } handler(depth, hugeNumber);
  return json::sax_parse(text.begin(), text.end(), &handler);
}

void checkCursor(std::string_view text) {
  // nlohmann takes NUL for the end, and passes over a byte order mark.
  if (text.find('\0') != std::string_view::npos || text.starts_with("\xEF\xBB\xBF")) return;
  Depth depth;
  bool hugeNumber = false;
  const bool wanted = isJson(text, depth, hugeNumber);
  admission::JsonCursor cursor(text);
  cursor.skip();
  cursor.finish();
  const bool tooDeep = depth.most > admission::JsonCursor::kDeepest;
  check(hugeNumber || tooDeep || cursor.failed() != wanted, "JsonCursor takes what nlohmann takes",
        cursor.problem());
  check(!tooDeep || cursor.failed(), "nothing is nested too deep");
}

void checkReview(std::string_view body) {
  const auto review = admission::parseReview(body);
  if (!review) {
    check(review.error().status == 400 && review.error().message.size() < 2000,
          "an error is a 400 in a few words");
    check(json(review.error().message).dump().size() > 2, "its words are UTF-8");
    return;
  }
  check(!review->uid.empty(), "a review has a uid");
  check(review->operation == admission::Operation::Create || !review->object.name.empty(),
        "it has an object");
  const json answer = json::parse(admission::answerText(review->uid, {}));
  check(answer["response"]["uid"] == review->uid, "the answer repeats the uid");
  const json read = json::parse(body, nullptr, false);
  if (read.is_discarded()) return;  // a number that is too large, in an object
  const json& request = read["request"];
  check(request["uid"] == review->uid, "uid");
  for (const auto& [key, text] : {std::pair{"object", review->newObject}, {"oldObject", review->oldObject}}) {
    const json wanted = request.value(key, json());
    check(text.empty() ? wanted.is_null() : json::parse(text) == wanted, key);
  }
  if (!request.value("name", json()).is_null() && request["name"] != "")
    check(request["name"] == review->object.name, "name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  checkCursor(text);
  checkReview(text);
  return 0;
}
