// JsonCursor: one pass over JSON text (RFC 8259) that checks all of it and builds nothing, for texts of which
// most is only stepped over.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace lastout::admission {

class JsonCursor {
 public:
  static constexpr size_t kDeepest = 64;  // nesting of lists and maps

  // `text` must outlive the cursor and what it answers.
  explicit JsonCursor(std::string_view text) : text_(text) {}

  // Steps over the value that stands here, and answers its text. What is no JSON, not UTF-8, or nested deeper
  // than kDeepest makes the cursor fail: then and from then on it answers "".
  std::string_view skip();

  // Steps into the map that stands here and calls member(key), the key without escapes, before the value of
  // each; member has to step over the value, by skip() or eachMember(). Fails when no map stands here.
  template <class Member>
  void eachMember(Member member) {
    if (!enter('{')) return;
    if (leave('}')) return;
    do {
      const std::string key = nextKey();
      if (failed()) return;
      member(std::string_view(key));
    } while (goesOn('}'));
  }

  // The same for the list that stands here; item() has to step over one value.
  template <class Item>
  void eachItem(Item item) {
    if (!enter('[')) return;
    if (leave(']')) return;
    do {
      item();
    } while (goesOn(']'));
  }

  // What the next value is.
  bool atMap() { return comesTo('{'); }
  bool atList() { return comesTo('['); }
  // Where the next value begins, and the text from there to the end of what was stepped over last.
  size_t begin();
  std::string_view since(size_t begin) const { return text_.substr(begin, at_ - begin); }
  // Fails when something other than white space follows.
  void finish();

  bool failed() const { return !problem_.empty(); }
  // What is wrong and where: "lists and maps are nested more than 64 deep (byte 812)"; "": nothing.
  const std::string& problem() const { return problem_; }

 private:
  bool fail(std::string_view what);
  void stepOverBlanks();
  bool comesTo(char character);
  bool isAt(char character) const { return at_ < text_.size() && text_[at_] == character; }
  bool enter(char opening);
  bool leave(char closing);   // steps over `closing` if it is here
  bool goesOn(char closing);  // behind a value: a comma (true), or `closing`
  std::string nextKey();
  bool string();
  bool escape();
  std::optional<uint32_t> fourDigits();
  bool number();
  bool digits();
  bool scalar();
  bool word(std::string_view word);
  bool keyAndColon();
  bool startValue();   // a scalar, or the beginning of a list or map that has members
  bool startMember();  // of the innermost: a key, where it is a map
  bool endsMember();   // true: the innermost has another member

  std::string_view text_;
  size_t at_ = 0;
  size_t depth_ = 0;
  uint64_t maps_ = 0;  // a bit for each level from the innermost on: it is a map
  std::string problem_;
};

}  // namespace lastout::admission
