#include "prove/certificate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <numeric>

#include "prove/reach.h"
#include "prove/scenario_system.h"

namespace lastout::prove {

namespace {

constexpr std::string_view kFirstWords = "lastout-certificate 1";

void appendHex(uint64_t value, std::string& text) {
  std::array<char, 16> digits{};
  const auto [end, error] = std::to_chars(digits.begin(), digits.end(), value, 16);
  text.append(digits.begin(), end);
}

// Reads numbers from a text, line by line.
class CertificateReader {
 public:
  CertificateReader(std::string_view text, const std::string& file) : rest_(text), file_(file) {}

  kube::Result<Certificate> read() {
    if (!rest_.starts_with(kFirstWords)) return fail("this is no certificate: it begins otherwise");
    rest_.remove_prefix(kFirstWords.size());
    const std::optional<uint64_t> states = number(10);
    const std::optional<uint64_t> words = number(10);
    constexpr uint64_t kMostWords = 1 << 16;
    if (!states || !words || *words == 0 || *words > kMostWords || *states > kMostCertifiedStates ||
        !endsLine())
      return fail("how many states there are, and of how many words, is to follow: at most " +
                  std::to_string(kMostCertifiedStates) + " and " + std::to_string(kMostWords));
    // Nothing is reserved for more states than the text can hold: each number takes two characters at least.
    if (*states * (*words + 1) * 2 > rest_.size()) return fail("the certificate ends too early: it was cut");
    Certificate certificate{.words = static_cast<uint32_t>(*words), .states = {}, .ranks = {}};
    certificate.states.reserve(*states * *words);
    certificate.ranks.reserve(*states);
    for (uint64_t i = 0; i < *states; ++i)
      if (!readState(certificate))
        return fail("a state is a rank and " + std::to_string(*words) + " words, in hexadecimal");
    if (!rest_.empty()) return fail("the certificate goes on after its last state");
    return certificate;
  }

 private:
  bool readState(Certificate& certificate) {
    const std::optional<uint64_t> rank = number(16);
    if (!rank || *rank > kMostCertifiedStates) return false;
    certificate.ranks.push_back(static_cast<uint32_t>(*rank));
    for (uint32_t i = 0; i < certificate.words; ++i) {
      const std::optional<uint64_t> word = number(16);
      if (!word) return false;
      certificate.states.push_back(*word);
    }
    return endsLine();
  }

  std::optional<uint64_t> number(int base) {
    if (rest_.starts_with(' ')) rest_.remove_prefix(1);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value, base);
    if (error != std::errc()) return std::nullopt;
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return value;
  }

  bool endsLine() {
    if (!rest_.starts_with('\n')) return false;
    rest_.remove_prefix(1);
    ++line_;
    return true;
  }

  tl::unexpected<kube::Error> fail(std::string message) const {
    return tl::unexpected(kube::Error{std::move(message), file_, {.line = line_, .column = 1}});
  }

  std::string_view rest_;
  const std::string& file_;
  uint32_t line_ = 1;
};

// The states of a certificate, to be looked up.
class RankedStates {
 public:
  explicit RankedStates(const Certificate& certificate)
      : certificate_(certificate), sorted_(certificate.ranks.size()) {
    std::iota(sorted_.begin(), sorted_.end(), 0U);
    std::ranges::sort(sorted_, [this](uint32_t a, uint32_t b) { return isLess(at(a), at(b)); });
  }

  const uint64_t* at(size_t number) const { return certificate_.states.data() + number * certificate_.words; }
  // Returns the number of the state; nullopt: it is not among them.
  std::optional<uint32_t> find(const uint64_t* state) const {
    const auto found = std::ranges::lower_bound(
        sorted_, state, [this](const uint64_t* a, const uint64_t* b) { return isLess(a, b); },
        [this](uint32_t number) { return at(number); });
    if (found == sorted_.end() || isLess(state, at(*found))) return std::nullopt;
    return *found;
  }

 private:
  bool isLess(const uint64_t* a, const uint64_t* b) const {
    return std::lexicographical_compare(a, a + certificate_.words, b, b + certificate_.words);
  }

  const Certificate& certificate_;
  std::vector<uint32_t> sorted_;
};

// Checks one state after the other, as they follow from the first. What the machine has not made itself it
// never looks into: a file may hold anything.
class CertificateCheck {
 public:
  CertificateCheck(const Certificate& certificate, const ScenarioSystem& system)
      : certificate_(certificate),
        system_(system),
        states_(certificate),
        isReached_(certificate.ranks.size()) {}

  std::optional<std::string> problem() {
    if (certificate_.words != system_.words())
      return "its states have " + std::to_string(certificate_.words) + " words, and those of the scenario " +
             std::to_string(system_.words()) + ": it is of another scenario";
    if (!reach(system_.initial().data())) return "the state in which the scenario begins is missing";
    while (!reached_.empty()) {
      const uint32_t number = reached_.back();
      reached_.pop_back();
      // The file's first line says how many states there are.
      if (auto problem = problemAt(number))
        return "the state in line " + std::to_string(number + 2) + ": " + *problem;
    }
    return std::nullopt;
  }

 private:
  // Returns the state's rank; nullopt: it is missing.
  std::optional<uint32_t> reach(const uint64_t* state) {
    const std::optional<uint32_t> number = states_.find(state);
    if (!number) return std::nullopt;
    if (!isReached_[*number]) reached_.push_back(*number);
    isReached_[*number] = true;
    return certificate_.ranks[*number];
  }

  std::optional<std::string> problemAt(uint32_t number) {
    const std::vector<uint64_t> before(states_.at(number), states_.at(number) + certificate_.words);
    const uint32_t rank = certificate_.ranks[number];
    if (rank == 0 && !system_.goal(before.data())) return "its rank is 0, and the goal does not hold in it";
    bool falls = rank == 0;
    std::vector<uint64_t> after = before;
    actions_.clear();
    system_.enabled(after.data(), actions_);
    for (const cluster::Action& action : actions_) {
      after = before;
      if (system_.apply(before.data(), after.data(), action) != 0)
        return "something that must not happen follows it";
      const std::optional<uint32_t> next = reach(after.data());
      if (!next) return "a state that follows it is missing";
      falls = falls || *next < rank;
    }
    if (!falls) return "no state that follows it has a lower rank";
    return std::nullopt;
  }

  const Certificate& certificate_;
  const ScenarioSystem& system_;
  RankedStates states_;
  std::vector<bool> isReached_;
  std::vector<uint32_t> reached_;  // of these, what follows is still to be looked at
  std::vector<cluster::Action> actions_;
};

}  // namespace

Certificate certificateOf(const Exploration& found) {
  Certificate certificate{.words = found.states.words(), .states = {}, .ranks = distancesToGoal(found)};
  certificate.states.reserve(found.states.size() * certificate.words);
  for (uint32_t state = 0; state < found.states.size(); ++state)
    certificate.states.insert(certificate.states.end(), found.states[state],
                              found.states[state] + certificate.words);
  return certificate;
}

std::string toText(const Certificate& certificate) {
  std::string text(kFirstWords);
  text += " " + std::to_string(certificate.ranks.size()) + " " + std::to_string(certificate.words) + "\n";
  for (size_t number = 0; number < certificate.ranks.size(); ++number) {
    appendHex(certificate.ranks[number], text);
    for (uint32_t i = 0; i < certificate.words; ++i) {
      text += ' ';
      appendHex(certificate.states[number * certificate.words + i], text);
    }
    text += '\n';
  }
  return text;
}

kube::Result<Certificate> parseCertificate(std::string_view text, const std::string& file) {
  return CertificateReader(text, file).read();
}

std::optional<std::string> problemOf(const Certificate& certificate, const replay::Compiled& compiled,
                                     bool orders) {
  const cluster::Machine machine(compiled.model);
  const ScenarioSystem system(machine, compiled, orders);
  return CertificateCheck(certificate, system).problem();
}

}  // namespace lastout::prove
