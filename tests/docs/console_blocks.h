// Console blocks: the commands that the documentation shows, with the output it promises.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace lastout::docs {

// One "$ command" of a ```console block, and the lines after it.
struct Shown {
  std::string command;
  std::vector<std::string> output;
  size_t line = 0;   // of the command, from 1
  size_t block = 0;  // which block of the file, from 0
};

std::vector<std::string> splitLines(std::string_view text);

std::vector<Shown> shownIn(std::string_view markdown);

// Whether a command is run by the tests: those of the program, what ends it or asks for its exit
// code, and kubectl's.
bool isRun(std::string_view command);

// Lines in code blocks of other kinds that begin like a command of the program, or of kubectl, helm or
// docker: nobody runs them.
std::vector<std::string> commandsElsewhere(std::string_view markdown);

// The files and folders of this repository that the text links to, without their #anchors.
std::vector<std::string> linksIn(std::string_view markdown);

// Files of this repository that the text names in backticks, as in `kube/yaml.cc`; patterns are left out.
std::vector<std::string> pathsIn(std::string_view markdown);

// Whether `actual` is what `shown` promises. A line "…" stands for any number of lines, also none. Durations
// of this machine's clock ("in 0.31 s") and ages at the end of a line ("5s") count as equal, as do the words
// of different releases of kubectl.
bool matches(const std::vector<std::string>& shown, const std::vector<std::string>& actual);

// The markdown with the output of every command that is run replaced by what `run` gives, except where it
// matches.
template <class Run>
std::string updated(std::string_view markdown, Run run);

}  // namespace lastout::docs

#include "tests/docs/console_blocks_impl.h"
