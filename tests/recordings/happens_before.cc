#include "tests/recordings/happens_before.h"

#include <algorithm>

#include "kube/fields.h"
#include "kube/parse.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::testing {

namespace {

constexpr const char* kFile = "tests/recordings/happens-before.yaml";

HappensBefore::Side readSide(const std::string& text, const kube::ResourceMap& types) {
  const size_t space = text.rfind(' ');
  if (space == std::string::npos) stop(std::string(kFile) + ": \"" + text + "\" says nothing");
  auto pattern = kube::parsePattern(std::string_view(text).substr(0, space), types);
  if (!pattern) stop(std::string(kFile) + ": " + kube::toString(pattern.error()));
  const std::string event = text.substr(space + 1);
  if (event != "accepted" && event != "gone") stop(std::string(kFile) + ": what is \"" + text + "\"?");
  return {.text = text,
          .pattern = std::move(*pattern),
          .kind = event == "gone" ? cluster::EventKind::Gone : cluster::EventKind::Accepted};
}

}  // namespace

std::vector<HappensBefore> pairsOf(const RecordedStory& story) {
  const auto text = kube::readFile(kFile);
  if (!text) stop(kube::toString(text.error()));
  const auto documents = kube::parseYaml(*text, kFile);
  if (!documents) stop(kube::toString(documents.error()));
  std::vector<HappensBefore> pairs;
  kube::Errors errors;
  for (const kube::Value& item : *documents->at(0).asList()) {
    kube::Fields fields(item, kFile, "", errors);
    HappensBefore pair;
    pair.stories = fields.strings("in");
    const std::string first = fields.requiredString("first");
    const std::string then = fields.requiredString("then");
    fields.requiredString("because");
    fields.finish();
    if (!errors.empty()) stop(lines(errors));
    if (!pair.stories.empty() && std::ranges::count(pair.stories, story.name) == 0) continue;
    pair.first = readSide(first, story.types);
    pair.then = readSide(then, story.types);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::string contradictions(const std::vector<HappensBefore>& pairs, const std::vector<Happened>& events) {
  std::string text;
  for (const HappensBefore& pair : pairs) {
    const auto isFirst = [&](const Happened& event) { return pair.first.matches(event); };
    const auto isThen = [&](const Happened& event) { return pair.then.matches(event); };
    const auto then = std::find_if(events.begin(), events.end(), isThen);
    if (then == events.end()) continue;
    if (std::none_of(events.begin(), then, isFirst))
      text += pair.then.text + ", but not yet " + pair.first.text + "\n";
    else if (pair.first.kind == cluster::EventKind::Gone && std::any_of(then, events.end(), isFirst))
      text += pair.then.text + ", and then " + pair.first.text + " once more\n";
  }
  return text;
}

}  // namespace lastout::testing
