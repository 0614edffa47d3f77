#include "tests/docs/console_blocks.h"

#include <regex>

#include "tests/support/kubectl_words.h"

namespace lastout::docs {
namespace {

constexpr std::string_view kPrompt = "$ ";
constexpr std::string_view kElision = "…";

std::string normalized(const std::string& line) {
  static const std::regex kDuration(R"((\bin |transitions, )[0-9][0-9,.]* (ms|s|min)\b)");
  static const std::regex kAge(R"( +([0-9]+[smhd]){1,2}$)");  // as kubectl prints it
  const std::string words = testing::withoutNamespacesOfDeletions(line);
  return std::regex_replace(std::regex_replace(words, kDuration, "$1<time>"), kAge, " <age>");
}

bool isFence(const std::string& line) { return line.starts_with("```"); }

std::string withoutIndent(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

// Whether a line of shell begins with the program, whatever its folder.
bool beginsWithProgram(std::string_view line) {
  const size_t end = line.find(' ');
  const std::string_view word = line.substr(0, end);
  return word == "lastout" || word.ends_with("/lastout");
}

// Or with another program that readers are told to run.
bool isCommand(std::string_view line) {
  return beginsWithProgram(line) || line.starts_with("kubectl ") || line.starts_with("helm ") ||
         line.starts_with("docker ");
}

}  // namespace

std::vector<std::string> splitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text = end == std::string_view::npos ? "" : text.substr(end + 1);
  }
  return lines;
}

std::vector<Shown> shownIn(std::string_view markdown) {
  std::vector<Shown> all;
  const std::vector<std::string> lines = splitLines(markdown);
  bool inFence = false;
  bool inConsole = false;
  size_t blocks = 0;
  bool afterCommand = false;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (isFence(lines[i])) {
      inConsole = !inFence && lines[i] == "```console";
      if (inConsole) ++blocks;
      inFence = !inFence;
      afterCommand = false;
    } else if (inConsole && lines[i].starts_with(kPrompt)) {
      all.push_back({lines[i].substr(kPrompt.size()), {}, i + 1, blocks - 1});
      afterCommand = true;
    } else if (afterCommand) {
      all.back().output.push_back(lines[i]);
    }
  }
  return all;
}

bool isRun(std::string_view command) {
  return beginsWithProgram(command) || command == "echo $?" || command.starts_with("kubectl ") ||
         command.starts_with("export KUBECONFIG=") || command.starts_with("echo '{") ||
         command.starts_with("mkdir ") || command.starts_with("cp ") || command.starts_with("sed 's/") ||
         command == "kill $! && wait" || command == "kill $! && wait $!" ||
         command.starts_with("until kubectl ");
}

std::vector<std::string> commandsElsewhere(std::string_view markdown) {
  std::vector<std::string> found;
  bool inFence = false;
  bool inConsole = false;
  for (const std::string& line : splitLines(markdown)) {
    if (const std::string fence = withoutIndent(line); isFence(fence)) {  // in a list they stand further in
      inConsole = !inFence && fence == line && fence == "```console";
      inFence = !inFence;
      continue;
    }
    const bool isCode = (inFence && !inConsole) || (!inFence && line.starts_with("    "));
    const size_t begin = line.find_first_not_of(" $");
    if (isCode && begin != std::string::npos && isCommand(std::string_view(line).substr(begin))) {
      found.push_back(line);
    }
  }
  return found;
}

std::vector<std::string> linksIn(std::string_view markdown) {
  static const std::regex kLink(R"(\]\(([^)#\s]+)(#[^)]*)?\))");
  std::vector<std::string> links;
  bool inFence = false;
  for (const std::string& line : splitLines(markdown)) {
    if (isFence(line)) inFence = !inFence;
    if (inFence) continue;
    for (std::sregex_iterator match(line.begin(), line.end(), kLink), end; match != end; ++match) {
      const std::string target = (*match)[1];
      if (target.find("://") == std::string::npos) links.push_back(target);
    }
  }
  return links;
}

std::vector<std::string> pathsIn(std::string_view markdown) {
  static const std::regex kPath(
      R"(`((?:[A-Za-z0-9_.-]+/)+[A-Za-z0-9_.-]+\.(?:h|cc|md|yaml|cmake|txt|golden))`)");
  std::vector<std::string> paths;
  const std::string text(markdown);
  for (std::sregex_iterator match(text.begin(), text.end(), kPath), end; match != end; ++match) {
    if (!(*match)[1].str().starts_with("build/")) paths.push_back((*match)[1]);
  }
  return paths;
}

bool matches(const std::vector<std::string>& shown, const std::vector<std::string>& actual) {
  // reached[j]: shown so far can stand for the first j lines of actual.
  std::vector<bool> reached(actual.size() + 1, false);
  reached[0] = true;
  for (const std::string& line : shown) {
    std::vector<bool> next(actual.size() + 1, false);
    const bool elision = line == kElision;
    bool any = false;
    for (size_t j = 0; j <= actual.size(); ++j) {
      any = any || reached[j];
      if (elision) {
        next[j] = any;
      } else if (j > 0 && reached[j - 1]) {
        next[j] = normalized(line) == normalized(actual[j - 1]);
      }
    }
    reached = std::move(next);
  }
  return reached[actual.size()];
}

}  // namespace lastout::docs
