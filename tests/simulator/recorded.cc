#include "tests/simulator/recorded.h"

#include <fstream>
#include <utility>

namespace lastout::simulator {
namespace {

const std::string kFolder = "tests/recordings/kubernetes-1.26/";

Json readRecording(const std::string& path) {
  std::ifstream file(kFolder + path);
  return Json::parse(file);
}

}  // namespace

Json recordedExchange(const std::string& name) { return readRecording("rest/" + name + ".json"); }
Json recordedRequest(const std::string& name) { return recordedExchange(name)["request"]["body"]; }
Json recordedAnswer(const std::string& name) { return unmanaged(recordedExchange(name)["response"]["body"]); }

Json answerOf136(const std::string& name) {
  std::ifstream file("tests/recordings/kubernetes-1.36/rest/" + name + ".json");
  return unmanaged(Json::parse(file)["response"]["body"]);
}

Json recordedReview(const std::string& name) {
  Json request = readRecording("admission/" + name + ".json")["body"]["request"];
  for (const char* key : {"object", "oldObject"}) {
    if (request[key].is_object()) request[key] = unmanaged(request[key]);
  }
  return request;
}

Json storyObject(const std::string& name, size_t line) {
  std::ifstream file(kFolder + "story-" + name + ".jsonl");
  std::string text;
  for (size_t i = 0; i < line; ++i) std::getline(file, text);
  return unmanaged(Json::parse(text)["object"]);
}

Json unmanaged(Json object) {
  if (object.contains("metadata")) object["metadata"].erase("managedFields");
  return object;
}

Json anonymous(Json object) {
  object = unmanaged(std::move(object));
  for (const char* key : {"uid", "resourceVersion", "creationTimestamp"}) object["metadata"].erase(key);
  return object;
}

}  // namespace lastout::simulator
