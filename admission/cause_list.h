// CauseList: collects the causes of an Explanation. Internal to admission/explain.h.
#pragma once

#include <array>
#include <cstring>
#include <memory>
#include <string_view>

#include "admission/explain.h"
#include "admission/text_writer.h"

namespace lastout::admission {

// Stores all texts in one buffer: an explanation is made while a request waits, and twenty strings would cost
// more than writing them.
class CauseList {
 public:
  explicit CauseList(ExplanationReader reader = ExplanationReader::OfLastout) : text_(reader) {}

  // Begins a cause; at most kMostParts of them. The reason's text must outlive the explanation. What the
  // caller writes until startField() or the next start() is the message.
  TextWriter& start(std::string_view reason) {
    parts_[count_++] = {reason, text_.size(), kNoField};
    return text_;
  }
  TextWriter& startField() {
    parts_[count_ - 1].field = text_.size();
    return text_;
  }
  std::string_view message(size_t index) const {
    return text_.view().substr(parts_[index].begin, endOfMessage(index) - parts_[index].begin);
  }

  void moveTo(Explanation& explanation) const {
    const std::shared_ptr<char[]> words = std::make_shared_for_overwrite<char[]>(text_.size());
    std::memcpy(words.get(), text_.view().data(), text_.size());
    const std::string_view all(words.get(), text_.size());
    explanation.words = words;
    explanation.causes.reserve(count_);
    for (size_t i = 0; i < count_; ++i) {
      const size_t field = endOfMessage(i);
      explanation.causes.push_back({parts_[i].reason, all.substr(parts_[i].begin, field - parts_[i].begin),
                                    all.substr(field, end(i) - field)});
    }
  }

 private:
  static constexpr size_t kMostParts =
      2 * kMostCauses + kMostRoots + 1;  // blockers, replaced providers; more
  static constexpr size_t kNoField = std::string_view::npos;
  struct Part {
    std::string_view reason;
    size_t begin;  // of the message in text_
    size_t field;  // of the field, or kNoField
  };

  size_t end(size_t index) const { return index + 1 < count_ ? parts_[index + 1].begin : text_.size(); }
  size_t endOfMessage(size_t index) const {
    return parts_[index].field == kNoField ? end(index) : parts_[index].field;
  }

  TextWriter text_;
  std::array<Part, kMostParts> parts_;  // the first count_ of them
  size_t count_ = 0;
};

}  // namespace lastout::admission
