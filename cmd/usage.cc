#include "cmd/usage.h"

#include <charconv>
#include <string_view>
#include <vector>

#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/reference.h"

namespace lastout::cmd {
namespace {

// The subcommand that was named, or one of its own; the program itself where none was.
const CLI::App& chosen(const CLI::App& app) {
  const std::vector<CLI::App*> subcommands = app.get_subcommands();
  return subcommands.empty() ? app : chosen(*subcommands.front());
}

// As it was named: "lastout policy show".
std::string nameOf(const CLI::App& app) {
  const std::vector<CLI::App*> subcommands = app.get_subcommands();
  return app.get_name() + (subcommands.empty() ? "" : " " + nameOf(*subcommands.front()));
}

std::vector<std::string> commandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* subcommand : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(subcommand->get_name());
  }
  return names;
}

std::vector<std::string> longOptions(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string didYouMean(std::string_view word, const std::vector<std::string>& names) {
  const std::string_view near = kube::nearest(word, {names.begin(), names.end()});
  return near.empty() ? "" : "; did you mean " + std::string(near) + "?";
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string firstUnexpected(const CLI::App& app, const CLI::App& command) {
  std::vector<std::string> words = command.remaining();
  if (words.empty()) words = app.remaining(true);
  return words.empty() ? "" : words.front();
}

std::string whatIsWrong(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& command = chosen(app);
  const std::string word = firstUnexpected(app, command);
  if (word.empty()) {
    if (const std::vector<std::string> names = commandNames(command); !names.empty())
      return "a command is missing: " + listed(names);
    return error.what();
  }
  if (word.front() == '-') {
    const std::string name = word.substr(0, word.find('='));
    return "unknown option " + name + (name.starts_with("--") ? didYouMean(name, longOptions(command)) : "");
  }
  if (const std::vector<std::string> names = commandNames(command); !names.empty()) {
    const std::string near = didYouMean(word, names);
    return "unknown command \"" + word + "\"" + (near.empty() ? "; there are " + listed(names) : near);
  }
  return "unexpected argument \"" + word + "\"";
}

}  // namespace

std::string usageMessage(const CLI::App& app, const CLI::ParseError& error) {
  const std::string name = nameOf(app);
  return name + ": " + whatIsWrong(app, error) + "\nTry: " + name + " --help\n";
}

std::string wholeNumber(const std::string& text) {
  uint64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool sound = failed == std::errc() && end == text.data() + text.size();
  return sound ? "" : "\"" + text + "\" is no whole number from 0 to 18446744073709551615";
}

void addOutput(CLI::App& command, std::string& output) {
  command.add_option("-o,--output", output, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
}

std::function<std::string(const std::string&)> eitherOf(const std::string& first, const std::string& second) {
  return [first, second](const std::string& text) {
    if (text == first || text == second) return std::string();
    return kube::inQuotes(text) + " is neither " + first + " nor " + second;
  };
}

kube::Result<std::chrono::milliseconds> durationOf(const char* option, const std::string& text) {
  auto duration = kube::parseDuration(text);
  if (!duration) duration.error().message = std::string(option) + ": " + duration.error().message;
  return duration;
}

}  // namespace lastout::cmd
