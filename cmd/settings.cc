#include "cmd/settings.h"

#include <CLI/Error.hpp>
#include <CLI/Option.hpp>
#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cmd/paths.h"
#include "kube/messages.h"
#include "kube/parse.h"

namespace lastout::cmd {
namespace {

constexpr const char* kConfigOption = "config";
constexpr size_t kLargestConfig = size_t{1} << 20;  // bytes

// What the file says of each option, with the place of it.
struct Setting {
  std::string text;
  kube::Error place;
};
using Settings = std::map<std::string, Setting, std::less<>>;

constexpr std::string_view kPrefix = "LASTOUT_";

std::string variableOf(const std::string& option) {
  std::string name = std::string(kPrefix) + option;
  std::ranges::transform(name, name.begin(),
                         [](unsigned char c) { return c == '-' ? '_' : static_cast<char>(std::toupper(c)); });
  return name;
}

using Options = std::map<std::string, CLI::Option*, std::less<>>;

// The options that a setting may give, by their names.
Options settableOptions(CLI::App& command) {
  Options options;
  for (CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames())
      if (name != kConfigOption && option != command.get_help_ptr()) options.emplace(name, option);
  }
  return options;
}

std::optional<std::string> textOf(const kube::Value& value) {
  if (const std::string* text = value.asString()) return *text;
  if (const bool* yes = value.asBool()) return *yes ? "true" : "false";
  if (const int64_t* number = value.asInteger()) return std::to_string(*number);
  return std::nullopt;
}

kube::Result<Settings> readSettings(const std::string& file, const Options& options) {
  const kube::ParseLimits limits{.bytes = kLargestConfig};
  auto text = readInput(file, limits);
  if (!text) return tl::unexpected(std::move(text.error()));
  auto documents = kube::parseYaml(*text, file, limits);
  if (!documents) return tl::unexpected(std::move(documents.error()));
  const auto problem = [&](std::string message, kube::Position position) {
    return tl::unexpected(kube::Error{std::move(message), file, position});
  };
  Settings settings;
  if (documents->empty()) return settings;
  const kube::Value& document = documents->front();
  if (documents->size() > 1) return problem("one document is expected", documents->at(1).position);
  if (document.asMap() == nullptr)
    return problem("a map of options is expected, such as \"deny-status: 429\"", document.position);
  std::vector<std::string_view> names;
  for (const auto& [name, option] : options) names.push_back(name);
  for (const kube::Member& member : *document.asMap()) {
    if (member.key == kConfigOption)
      return problem("config is for the command line: one file is read", member.keyPosition);
    if (!options.contains(member.key))
      return problem("there is no option " + kube::inQuotes(member.key) + kube::didYouMean(member.key, names),
                     member.keyPosition);
    auto value = textOf(member.value);
    if (!value)
      return problem(member.key + ": a string, number or boolean is expected, not " +
                         std::string(kube::kindName(member.value)),
                     member.value.position);
    settings.emplace(member.key, Setting{std::move(*value), {{}, file, member.value.position}});
  }
  return settings;
}

// Kubernetes makes such variables for a Service whose name begins with lastout: LASTOUT_TLS_PORT_443_TCP.
bool isOfService(std::string_view variable) {
  return variable.ends_with("_PORT") || variable.find("_PORT_") != std::string_view::npos ||
         variable.ends_with("_SERVICE_HOST");
}

kube::Result<void> refuseMisspelt(const client::Environment& environment, const Options& options) {
  std::vector<std::string> known{variableOf(kConfigOption)};
  for (const auto& [name, option] : options) known.push_back(variableOf(name));
  std::vector<std::string_view> words;
  words.reserve(known.size());
  for (const std::string& variable : known)
    words.push_back(std::string_view(variable).substr(kPrefix.size()));
  for (const auto& [variable, value] : environment) {
    if (value.empty() || isOfService(variable) || std::ranges::find(known, variable) != known.end()) continue;
    const std::string_view near = kube::nearest(std::string_view(variable).substr(kPrefix.size()), words);
    if (near.empty()) continue;
    return tl::unexpected(kube::Error{
        variable + " is no option; did you mean " + std::string(kPrefix) + std::string(near) + "?", "", {}});
  }
  return {};
}

kube::Result<void> give(CLI::Option& option, const std::string& text, kube::Error place) {
  try {
    option.add_result(option.get_expected_min() == 0 ? option.get_flag_value(option.get_name(), text) : text);
    option.run_callback();
  } catch (const CLI::ParseError& error) {
    const bool isFlag = option.get_expected_min() == 0;
    place.message += isFlag ? option.get_name() + ": " + kube::inQuotes(text) + " is neither true nor false"
                            : std::string(error.what());
    return tl::unexpected(std::move(place));
  }
  return {};
}

}  // namespace

client::Environment ownVariables(client::Environment variables) {
  std::erase_if(variables, [](const auto& variable) { return !variable.first.starts_with(kPrefix); });
  return variables;
}

kube::Result<void> takeSettings(CLI::App& command, const client::Environment& environment) {
  const Options options = settableOptions(command);
  const auto fromEnvironment = [&](const std::string& name, CLI::Option& option) -> kube::Result<void> {
    const auto variable = environment.find(variableOf(name));
    if (option.count() > 0 || variable == environment.end() || variable->second.empty()) return {};
    return give(option, variable->second, {variable->first + ": ", {}, {}});
  };
  if (auto spelt = refuseMisspelt(environment, options); !spelt) return spelt;
  CLI::Option& config = *command.get_option(std::string("--") + kConfigOption);
  if (auto given = fromEnvironment(kConfigOption, config); !given) return given;
  Settings settings;
  if (config.count() > 0) {
    auto read = readSettings(config.as<std::string>(), options);
    if (!read) return tl::unexpected(std::move(read.error()));
    settings = std::move(*read);
  }
  for (const auto& [name, option] : options) {
    if (auto given = fromEnvironment(name, *option); !given) return given;
    const auto setting = settings.find(name);
    if (option->count() > 0 || setting == settings.end()) continue;
    if (auto given = give(*option, setting->second.text, setting->second.place); !given) return given;
  }
  return {};
}

}  // namespace lastout::cmd
