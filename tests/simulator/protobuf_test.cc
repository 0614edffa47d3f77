// Bodies that kubectl 1.32 really sent, next to what the same command prints with --dry-run=client -o json
// (for `auth can-i`, which has no such option, to what the API's documentation says that it asks).
#include "simulator/protobuf.h"

#include <gtest/gtest.h>

#include <fstream>

#include "simulator/decode.h"

namespace lastout::simulator {
namespace {

std::string fromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

Json sentByKubectl() {
  std::ifstream file("tests/simulator/kubectl_protobuf.json");
  return Json::parse(file);
}

std::string bodyOf(const std::string& command) {
  for (const Json& sent : sentByKubectl()) {
    if (sent["command"] == command) return fromHex(sent["hex"]);
  }
  ADD_FAILURE() << "no such command: " << command;
  return {};
}

int protobufCode(std::string_view body) {
  const auto object = decodeProtobuf(body);
  return object ? 200 : object.error().code;
}

TEST(DecodeProtobuf, ReadsWhatKubectlSends) {
  for (const Json& sent : sentByKubectl()) {
    const auto object = decodeBody(fromHex(sent["hex"]), "application/vnd.kubernetes.protobuf");
    if (sent["object"].is_null()) continue;  // the next test's
    ASSERT_TRUE(object) << sent["command"] << ": " << object.error().message;
    EXPECT_EQ(*object, sent["object"]) << sent["command"];
  }
}

TEST(DecodeProtobuf, SaysHowToSendWhatItDoesNotKnow) {
  const auto job = decodeProtobuf(bodyOf("kubectl create job once -n shop --image=example.com/web:1"));
  ASSERT_FALSE(job);
  EXPECT_EQ(job.error().code, 415);
  EXPECT_EQ(
      job.error().message,
      "\"Job\" in \"batch/v1\" is not understood as application/vnd.kubernetes.protobuf; send it as JSON or "
      "YAML, as `kubectl create -f` does");
  std::string unknownField = bodyOf("kubectl create serviceaccount robot -n shop");
  const size_t metadata = unknownField.find("\x0a\x19", 20);
  unknownField[metadata] = '\x7a';  // field 15 instead of 1
  EXPECT_EQ(protobufCode(unknownField), 415);
}

TEST(DecodeProtobuf, RefusesWhatIsCutOrChanged) {
  EXPECT_EQ(protobufCode(""), 400);
  EXPECT_EQ(protobufCode("{}"), 400);
  const std::string whole =
      bodyOf("kubectl create deployment web -n shop --image=example.com/web:1 --replicas=3 --port=8080");
  const size_t objectBegins = whole.find("\x12\xc7");
  for (size_t length = 0; length < whole.size(); ++length) {
    const int code = protobufCode(std::string_view(whole).substr(0, length));
    // A message that ends between two fields is whole: after the envelope's type, and after the object.
    EXPECT_TRUE(code == 400 || code == 415 || length == objectBegins || length + 4 >= whole.size())
        << length << ": " << code;
  }
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x7f', '\xff'}) {
      std::string changed = whole;
      changed[at] = byte;
      const int code = protobufCode(changed);
      EXPECT_TRUE(code == 200 || code == 400 || code == 415) << at;
    }
  }
}

TEST(DecodeProtobuf, HasLimits) {
  // A Role whose rule's verbs are more than a million empty texts.
  const auto field = [](char tag, const std::string& bytes) {
    std::string text(1, tag);
    for (size_t rest = bytes.size(); true; rest >>= 7) {
      text.push_back(static_cast<char>((rest & 0x7F) | (rest >= 0x80 ? 0x80 : 0)));
      if (rest < 0x80) break;
    }
    return text + bytes;
  };
  const auto roleWith = [&field](size_t verbs) {
    std::string rule;
    for (size_t i = 0; i < verbs; ++i) rule += field('\x0a', "");
    const std::string type = field('\x0a', "rbac.authorization.k8s.io/v1") + field('\x12', "Role");
    return std::string("k8s\0", 4) + field('\x0a', type) + field('\x12', field('\x12', rule));
  };
  EXPECT_EQ(protobufCode(roleWith(1000)), 200);
  EXPECT_EQ(protobufCode(roleWith(kMostJsonValues)), 400);
}

}  // namespace
}  // namespace lastout::simulator
