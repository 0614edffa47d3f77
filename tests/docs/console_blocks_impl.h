#pragma once

namespace lastout::docs {

template <class Run>
std::string updated(std::string_view markdown, Run run) {
  const std::vector<std::string> lines = splitLines(markdown);
  std::string text;
  size_t next = 0;  // the first line that was not copied yet
  const auto copyTo = [&](size_t end) {
    for (; next < end; ++next) text += lines[next] + "\n";
  };
  const std::vector<Shown> all = shownIn(markdown);
  for (const Shown& shown : all) {
    copyTo(shown.line);  // the command's own line, too
    if (!isRun(shown.command)) continue;
    const std::vector<std::string> actual = run(shown);
    if (matches(shown.output, actual)) continue;
    for (const std::string& line : actual) text += line + "\n";
    next += shown.output.size();
  }
  copyTo(lines.size());
  return text;
}

}  // namespace lastout::docs
