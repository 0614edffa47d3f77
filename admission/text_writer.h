// TextWriter: writes the phrases of explanations. Internal to admission/explain.h.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "admission/explain.h"
#include "admission/guard_index.h"
#include "criticalservice/critical_service.h"
#include "graph/graph.h"

namespace lastout::admission {

// A few of the objects that hold a condition.
struct Holders {
  static constexpr size_t kShown = 3;
  uint32_t count = 0;  // all of them
  uint32_t shown = 0;
  std::array<graph::ObjectId, kShown> examples{};  // by name when they are all
  bool live = false;                               // one of those shown is not being deleted
  bool mayDiffer = false;                          // they may be of several types
};
void findHolders(const graph::Graph& graph, graph::ConditionId condition, Holders& holders);  // was empty

// A text of at most kMostBytes: drops the rest. Shortens names of more than `longestName` bytes in the
// middle. Allocates nothing before take(), because explanations are made while a request waits.
class TextWriter {
 public:
  static constexpr size_t kMostBytes = 32768;

  explicit TextWriter(size_t longestName = kMostBytes,
                      ExplanationReader reader = ExplanationReader::OfLastout)
      : longestName_(longestName), reader_(reader) {}
  explicit TextWriter(ExplanationReader reader) : TextWriter(kMostBytes, reader) {}

  TextWriter& operator<<(std::string_view words) {
    if (words.size() > kMostBytes - size_) words = words.substr(0, kMostBytes - size_);
    std::memcpy(text_ + size_, words.data(), words.size());
    size_ += words.size();
    return *this;
  }
  // A literal, whose length the compiler knows: a copy without a call.
  template <size_t kSize>
  TextWriter& operator<<(const char (&words)[kSize]) {
    if (kSize > kMostBytes - size_) return *this << std::string_view(words, kSize - 1);
    std::memcpy(text_ + size_, words, kSize);
    size_ += kSize - 1;
    return *this;
  }
  template <size_t kFirst, size_t kSecond>
  TextWriter& either(bool isFirst, const char (&first)[kFirst], const char (&second)[kSecond]) {
    return isFirst ? *this << first : *this << second;
  }
  TextWriter& letter(char letter) {
    if (size_ < kMostBytes) text_[size_++] = letter;
    return *this;
  }
  TextWriter& number(uint64_t number);

  TextWriter& name(std::string_view name);
  TextWriter& key(const KeyView& key);  // "deployments.apps/finalizer-namespace/finalizer-deployment"
  TextWriter& type(const kube::GroupResource& type);  // "deployments.apps"
  TextWriter& service(std::string_view name);         // "criticalservices.lastout.dev/<name>"
  TextWriter& separator(size_t index, size_t total);  // ", " or " and " before thing `index` of `total`
  TextWriter& names(const graph::Graph& graph, const Holders& holders);  // "a, ns/b and ns/c"
  // Writes why too little is known about a type: "coolresources.my.crd.group have not been listed yet".
  TextWriter& unknownBecause(const graph::Graph& graph, const kube::GroupResource& named,
                             graph::Knowledge knowledge);
  // Writes how to make a type readable: "grant lastout get, list and watch on deployments.apps".
  TextWriter& grant(const kube::GroupResource& type);

  std::string_view view() const { return {text_, size_}; }
  size_t size() const { return size_; }
  size_t longestName() const { return longest_; }  // of those written since it was forgotten, in bytes
  void forgetLongestName() { longest_ = 0; }
  std::string take() const { return std::string(view()); }

 private:
  TextWriter& typeName(std::string_view group, std::string_view resource);
  // Shortens the text from `start` on, a name, to longestName_ bytes: keeps its beginning and its end. A Role
  // may be called so that the terminal of whoever reads a denial would obey it: only printable ASCII stays.
  void shorten(size_t start) {
    std::replace_if(
        text_ + start, text_ + size_, [](char c) { return c < ' ' || c > '~'; }, '?');
    longest_ = std::max(longest_, size_ - start);
    if (size_ - start > longestName_) cutMiddle(start);
  }
  void cutMiddle(size_t start);

  char text_[kMostBytes];  // the first size_ bytes
  size_t size_ = 0;
  size_t longestName_;
  size_t longest_ = 0;
  ExplanationReader reader_;
};

// "coolresources.my.crd.group/some-instance has finalizer my.crd.group/super-important"; fills `holders`,
// which was empty. Something holds the condition, which is the criterion's.
void writeUnmetCriterion(TextWriter& text, const graph::Graph& graph,
                         const criticalservice::Criterion& criterion, graph::ConditionId condition,
                         Holders& holders);
// "it is not known whether any coolresources.my.crd.group has finalizer ... (...)": nothing is seen to hold
// it.
void writeNotKnown(TextWriter& text, const graph::Graph& graph, const criticalservice::Criterion& criterion,
                   graph::Knowledge knowledge);

inline constexpr std::string_view kNoDeletion = "; no deletion resolves this: ";

// An object that keeps a criterion of its own service from ever being met by deletions: its DELETE waits for
// the provider, and the provider for it.
struct OwnHolder {
  kube::ObjectKey object;
  std::string_view relation;  // to the provider: "the namespace of its own provider"
};
// Returns the service's provider, its namespace or its CRD, or one of the dependencies, where that holds the
// criterion and is not being deleted already; nullopt: none of them.
std::optional<OwnHolder> ownHolder(const graph::Graph& graph, const criticalservice::CriticalService& service,
                                   const criticalservice::Criterion& criterion,
                                   const Dependencies& dependencies);
// Writes what whyUnresolvable() returns; false: there is nothing to write.
bool writeUnresolvable(TextWriter& text, const graph::Graph& graph,
                       const criticalservice::CriticalService& service, size_t criterion,
                       const Dependencies& dependencies);

}  // namespace lastout::admission
