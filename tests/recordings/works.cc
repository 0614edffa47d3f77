#include "tests/recordings/works.h"

#include <fstream>
#include <map>

namespace lastout::testing {

using simulator::Json;

std::vector<Json> worksOf(const StoryName& story) {
  std::ifstream file("tests/recordings/kubernetes-" + std::string(toString(story.kubernetes)) + "/story-" +
                     story.name + ".jsonl");
  std::map<std::string, Json> works;
  for (std::string line; std::getline(file, line);) {
    const Json event = Json::parse(line);
    if (event["kind"] == "marker" && event["note"] == "bulk delete starts") break;
    if (event["kind"] != "watch" || event["resource"] != "manifestworks") continue;
    const std::string name = event["name"];
    works[name] = {{"apiVersion", event["object"]["apiVersion"]},
                   {"kind", "ManifestWork"},
                   {"metadata", {{"name", name}, {"namespace", "cluster1"}}},
                   {"spec", event["object"]["spec"]}};
  }
  return {works["crd"], works["cr"], works["finalizer"]};
}

}  // namespace lastout::testing
