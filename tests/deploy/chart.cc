#include "tests/deploy/chart.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string_view>

#include "kube/parse.h"

namespace lastout::deploy {
namespace {

// The value at a path of `.Values`, as in ".image.tag"; nullptr and a failed test: there is none.
const Json* valueAt(std::string path, const Json& values) {
  std::replace(path.begin(), path.end(), '.', '/');
  const Json::json_pointer pointer(path);
  if (values.contains(pointer)) return &values[pointer];
  ADD_FAILURE() << "values.yaml has no " << path;
  return nullptr;
}

// What stands between comments with {{ if }} and {{ end }} stays or goes; these comments themselves go.
std::string withoutConditions(std::string text, const Json& values) {
  static const std::regex kIf(R"(# \{\{ if \.Values((?:\.[A-Za-z]+)+) \}\})");
  constexpr std::string_view kEnd = "# {{ end }}";
  std::smatch found;
  while (std::regex_search(text, found, kIf)) {
    const auto begin = static_cast<size_t>(found.position());
    const size_t inside = begin + static_cast<size_t>(found.length());
    const size_t end = text.find(kEnd, inside);
    if (end == std::string::npos) {
      ADD_FAILURE() << "no end of " << found.str();
      return text;
    }
    const Json* value = valueAt(found[1].str(), values);
    const bool stays = value != nullptr && *value == true;
    text = text.substr(0, begin) + "#" + (stays ? text.substr(inside, end - inside) : "") +
           text.substr(end + kEnd.size());
  }
  return text;
}

// As Helm has it.
bool isTrue(const Json& value) {
  return value.is_string() ? !value.get<std::string>().empty() : value == true;
}

// The text without what `{{ if .Values.path }}` leaves out, up to `{{ else }}` or behind it, until the next
// `{{ end }}`, and with the files of the chart that are asked for. Blocks are not nested.
std::string withoutBlocks(const std::string& folder, const std::string& text, const Json& values) {
  static const std::regex kBlock(R"re(\{\{ if \.Values\.([A-Za-z]+) \}\}\n([\s\S]*?)\{\{ end \}\}\n)re");
  constexpr std::string_view kElse = "{{ else }}\n";
  static const std::regex kFile(R"re(\{\{ \.Files\.Get "([^"]+)" \}\}\n)re");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator block(text.begin(), text.end(), kBlock), end; block != end; ++block) {
    result.append(rest, (*block)[0].first);
    rest = (*block)[0].second;
    const std::string name = (*block)[1];
    EXPECT_TRUE(values.contains(name)) << "values.yaml has no " << name;
    std::string inside = (*block)[2];
    const size_t other = inside.find(kElse);
    if (isTrue(values.value(name, Json())))
      inside = inside.substr(0, other);
    else
      inside = other == std::string::npos ? "" : inside.substr(other + kElse.size());
    for (std::smatch file; std::regex_search(inside, file, kFile);)
      inside = file.prefix().str() + textOf(folder + "/" + file[1].str()) + file.suffix().str();
    result += inside;
  }
  return result.append(rest, text.cend());
}

std::string renderedText(const std::string& text, const Json& values) {
  static const std::regex kAction(R"(\{\{ \.Values((?:\.[A-Za-z]+)+) \}\})");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator action(text.begin(), text.end(), kAction), end; action != end; ++action) {
    result.append(rest, (*action)[0].first);
    rest = (*action)[0].second;
    const Json* value = valueAt((*action)[1].str(), values);
    if (value != nullptr) result += value->is_string() ? value->get<std::string>() : value->dump();
  }
  result.append(rest, text.cend());
  EXPECT_EQ(result.find("{{"), std::string::npos) << "this needs Helm itself:\n" << result;
  return result;
}

}  // namespace

std::string textOf(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<Json> documentsIn(const std::string& text) {
  std::vector<Json> documents;
  const auto parsed = kube::parseYaml(text, "manifests");
  if (!parsed) {
    ADD_FAILURE() << parsed.error().message << "\n" << text;
    return documents;
  }
  for (const kube::Value& document : *parsed) documents.push_back(Json::parse(kube::toJson(document).dump()));
  return documents;
}

std::vector<Json> rendered(const std::string& folder, const Json& values) {
  std::vector<Json> documents;
  for (const auto& entry : std::filesystem::directory_iterator(folder + "/templates")) {
    const std::string text =
        withoutBlocks(folder, withoutConditions(textOf(entry.path().string()), values), values);
    for (Json& document : documentsIn(renderedText(text, values))) documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace lastout::deploy
