// Writer: lines of text for people, in colour where the style says so. Internal to replay/.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "replay/output.h"

namespace lastout::replay {

class Writer {
 public:
  explicit Writer(const TextStyle& style) : style_(style) {}

  std::string take() { return std::move(out_); }
  void line(std::string_view text = {}) { (out_ += text) += '\n'; }
  std::string red(const std::string& text) const { return paint("31", text); }
  std::string green(const std::string& text) const { return paint("32", text); }
  std::string yellow(const std::string& text) const { return paint("33", text); }
  std::string bold(const std::string& text) const { return paint("1", text); }
  std::string dim(const std::string& text) const { return paint("2", text); }

  void heading(const std::string& text) {
    line();
    line("  " + bold(text));
  }

  // A time, and what happened then.
  void timed(const std::string& time, const std::string& text) {
    constexpr size_t kTimeWidth = 12;
    const std::string padding(time.size() < kTimeWidth ? kTimeWidth - time.size() : 0, ' ');
    line(padding + dim(time) + "  " + text);
  }

  // What a verdict rests on, in one line, however long: it is looked for.
  void assumption(const std::string& text) { line("  " + yellow("assumes:") + " " + text); }

  // Words, wrapped and indented by two.
  void paragraph(std::string_view text) { wrapped("  ", "  ", text); }

  // Words, wrapped; the first line begins with `first`, each further one with `next`.
  void wrapped(const std::string& first, const std::string& next, std::string_view text) {
    const size_t width = std::max<size_t>(style_.width, 40);
    std::string current = first;
    bool empty = true;
    while (!text.empty()) {
      const size_t space = text.find_first_of(" \n");
      const std::string_view word = text.substr(0, space);
      text = space == std::string_view::npos ? std::string_view() : text.substr(space + 1);
      if (word.empty()) continue;
      if (!empty && current.size() + 1 + word.size() > width) {
        line(current);
        current = next;
        empty = true;
      }
      if (!empty) current += ' ';
      current += word;
      empty = false;
    }
    if (!empty) line(current);
  }

 private:
  std::string paint(std::string_view code, const std::string& text) const {
    return style_.color ? "\x1b[" + std::string(code) + "m" + text + "\x1b[0m" : text;
  }

  const TextStyle& style_;
  std::string out_;
};

}  // namespace lastout::replay
