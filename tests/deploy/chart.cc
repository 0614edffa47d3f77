#include "tests/deploy/chart.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

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

// As Helm has it.
bool isTrue(const Json& value) {
  if (value.is_array()) return !value.empty();
  return value.is_string() ? !value.get<std::string>().empty() : value == true;
}

// The text with each match in turn replaced by what `made` makes of it.
template <typename Made>
std::string replaced(const std::string& text, const std::regex& pattern, const Made& made) {
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match) {
    result.append(rest, (*match)[0].first);
    rest = (*match)[0].second;
    result += made(*match);
  }
  return result.append(rest, text.cend());
}

// What {{ range .Values.name }} makes: its lines for each item.
std::string withRanges(const std::string& text, const Json& values) {
  static const std::regex kRange(R"re(\{\{ range \.Values\.([A-Za-z]+) \}\}\n([\s\S]*?)\{\{ end \}\}\n)re");
  static const std::regex kItem(R"re(\{\{ \. \}\})re");
  return replaced(text, kRange, [&](const std::smatch& range) {
    const Json* items = valueAt("." + range[1].str(), values);
    std::string lines;
    if (items == nullptr) return lines;
    for (const std::string item : *items)
      lines += replaced(range[2].str(), kItem, [&](const std::smatch&) { return item; });
    return lines;
  });
}

// The text without what `{{ if .Values.name }}` leaves out, up to `{{ else }}` or behind it, until the next
// `{{ end }}`. Blocks are not nested.
std::string withoutBlocks(const std::string& text, const Json& values) {
  constexpr std::string_view kElse = "{{ else }}\n";
  static const std::regex kBlock(R"re(\{\{ if \.Values\.([A-Za-z]+) \}\}\n([\s\S]*?)\{\{ end \}\}\n)re");
  return replaced(text, kBlock, [&](const std::smatch& block) {
    const Json* value = valueAt("." + block[1].str(), values);
    const std::string inside = block[2];
    const size_t other = inside.find(kElse);
    if (value != nullptr && isTrue(*value)) return inside.substr(0, other);
    return other == std::string::npos ? std::string() : inside.substr(other + kElse.size());
  });
}

// A text in quotes, as templates have it.
std::string unquoted(const std::string& quoted) {
  const Json text = Json::parse(quoted, nullptr, false);
  EXPECT_TRUE(text.is_string()) << quoted;
  return text.is_string() ? text.get<std::string>() : std::string();
}

// The named template "objects": a file as it stands or, where a value says so, with something in it replaced.
std::string objectsIn(const std::string& folder, const std::string& path, const Json& values) {
  static const std::regex kObjects(
      R"re(\{\{- if \$root\.Values(\.[A-Za-z]+) -\}\}\n\{\{- \$text = \$text \| replace ("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*") -\}\})re");
  const std::string definition = textOf(folder + "/templates/_objects.tpl");
  std::smatch found;
  std::string text = textOf(folder + "/" + path);
  if (!std::regex_search(definition, found, kObjects)) {
    ADD_FAILURE() << "this needs Helm itself:\n" << definition;
    return text;
  }
  const Json* value = valueAt(found[1].str(), values);
  if (value == nullptr || !isTrue(*value)) return text;
  const std::string from = unquoted(found[2].str());
  const std::string to = unquoted(found[3].str());
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

std::string withFiles(const std::string& folder, const std::string& text, const Json& values) {
  static const std::regex kFile(R"re(\{\{ include "objects" \(list \. "([^"]+)"\) \}\}\n)re");
  return replaced(text, kFile,
                  [&](const std::smatch& file) { return objectsIn(folder, file[1].str(), values); });
}

std::string renderedText(const std::string& text, const Json& values) {
  static const std::regex kAction(R"(\{\{ \.Values((?:\.[A-Za-z]+)+) \}\})");
  std::string result = replaced(text, kAction, [&](const std::smatch& action) {
    const Json* value = valueAt(action[1].str(), values);
    if (value == nullptr) return std::string();
    return value->is_string() ? value->get<std::string>() : value->dump();
  });
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
    if (entry.path().extension() == ".tpl") continue;
    const std::string text =
        withFiles(folder, withoutBlocks(withRanges(textOf(entry.path().string()), values), values), values);
    for (Json& document : documentsIn(renderedText(text, values))) documents.push_back(std::move(document));
  }
  return documents;
}

}  // namespace lastout::deploy
