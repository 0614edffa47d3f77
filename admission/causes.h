// CauseList: the causes of an Explanation while they are gathered. Insides of admission/explain.h.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "admission/explain.h"

namespace lastout::admission {

// All texts stand one after the other in one string: an explanation is made on the way of a request, and
// twenty strings would cost more than their words.
class CauseList {
 public:
  void reserve(size_t causes) {
    constexpr size_t kUsualBytes = 160;
    parts_.reserve(causes);
    text_.reserve(causes * kUsualBytes);
  }
  // The reason's text must outlive the explanation.
  void add(std::string_view reason, std::string_view message, std::string_view field) {
    parts_.push_back({reason, text_.size(), message.size(), field.size()});
    text_.append(message).append(field);
  }
  std::string_view message(size_t index) const {
    return std::string_view(text_).substr(parts_[index].begin, parts_[index].message);
  }

  void moveTo(Explanation& explanation) {
    auto words = std::make_shared<const std::string>(std::move(text_));
    const std::string_view all = *words;
    explanation.causes.reserve(parts_.size());
    for (const Part& part : parts_) {
      explanation.causes.push_back({part.reason, all.substr(part.begin, part.message),
                                    all.substr(part.begin + part.message, part.field)});
    }
    explanation.words = std::move(words);
  }

 private:
  struct Part {
    std::string_view reason;
    size_t begin = 0;    // of the message in text_; the field follows it
    size_t message = 0;  // bytes
    size_t field = 0;    // bytes
  };

  std::string text_;
  std::vector<Part> parts_;
};

}  // namespace lastout::admission
