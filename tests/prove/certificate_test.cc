// A certificate holds as it was made, and no longer once anything in it is changed.
#include "prove/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kube/parse.h"
#include "prove/prove.h"
#include "tests/replay/play.h"

namespace lastout::prove {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::unique_ptr<const replay::Ready> shippedScenario(const std::string& name) {
  const std::string path = "scenarios/" + name + ".yaml";
  return replay::ready(*kube::readFile(path), path);
}

Certificate certified(const replay::Ready& ready, bool orders = true) {
  const Proof proof = proveScenario(ready.compiled, {.bounds = {}, .orders = orders, .certifies = true});
  EXPECT_TRUE(proof.certificate);
  return proof.certificate.value_or(Certificate{});
}

class CertificateTest : public ::testing::Test {
 protected:
  const std::unique_ptr<const replay::Ready> ready_ = shippedScenario("crd-of-provider");
  Certificate certificate_ = certified(*ready_);

  std::string problem() const { return problemOf(certificate_, ready_->compiled, true).value_or("none"); }
  // The state in which the goal holds, and nothing follows.
  size_t last() const {
    return static_cast<size_t>(std::ranges::find(certificate_.ranks, 0U) - certificate_.ranks.begin());
  }
  void drop(size_t number) {
    const auto begin = certificate_.states.begin() + static_cast<std::ptrdiff_t>(number * certificate_.words);
    certificate_.states.erase(begin, begin + certificate_.words);
    certificate_.ranks.erase(certificate_.ranks.begin() + static_cast<std::ptrdiff_t>(number));
  }
};

TEST_F(CertificateTest, HoldsAsItWasMade) {
  EXPECT_EQ(problem(), "none");
  EXPECT_EQ(certificate_.ranks.size(), proveScenario(ready_->compiled).states);
}

TEST_F(CertificateTest, IsReadAsItWasWritten) {
  const auto read = parseCertificate(toText(certificate_), "proof.txt");
  ASSERT_TRUE(read) << toString(read.error());
  EXPECT_EQ(read->words, certificate_.words);
  EXPECT_EQ(read->states, certificate_.states);
  EXPECT_EQ(read->ranks, certificate_.ranks);
}

TEST_F(CertificateTest, WithoutAStateThatFollowsItDoesNot) {
  drop(last());
  EXPECT_THAT(problem(), HasSubstr("a state that follows it is missing"));
}

TEST_F(CertificateTest, WithoutTheFirstStateItDoesNot) {
  drop(0);
  EXPECT_EQ(problem(), "the state in which the scenario begins is missing");
}

TEST_F(CertificateTest, NoRankCountsThatDoesNotFall) {
  for (uint32_t& rank : certificate_.ranks) rank = std::max(rank, 1U);
  EXPECT_THAT(problem(), HasSubstr("no state that follows it has a lower rank"));
}

TEST_F(CertificateTest, TheGoalHoldsWhereTheRankIsZero) {
  certificate_.ranks[0] = 0;
  EXPECT_EQ(problem(), "the state in line 2: its rank is 0, and the goal does not hold in it");
}

TEST_F(CertificateTest, ItIsOfOneScenario) {
  const auto other = shippedScenario("foreground-delete");
  EXPECT_THAT(problemOf(certificate_, other->compiled, true).value_or("none"),
              ::testing::AnyOf(HasSubstr("it is of another scenario"), HasSubstr("begins is missing")));
}

// What was never reached is never looked into, whatever it is.
TEST_F(CertificateTest, AStateThatCannotBeIsPassedOver) {
  certificate_.states.insert(certificate_.states.end(), certificate_.words, ~uint64_t{0});
  certificate_.ranks.push_back(1);
  EXPECT_EQ(problem(), "none");
}

TEST(Certificates, NothingThatMustNotHappenFollows) {
  const auto ready = replay::ready(replay::scenario(std::string(replay::kController) + R"(
  guard: false
  steps:
    - delete: widgets/one
  expect:
    never: [widgets/one gone])",
                                                    replay::kUnguarded));
  const Certificate certificate = certified(*ready, false);
  EXPECT_EQ(problemOf(certificate, ready->compiled, false), std::nullopt);
  EXPECT_THAT(problemOf(certificate, ready->compiled, true).value_or("none"),
              HasSubstr("something that must not happen follows it"));
}

TEST(Certificates, OnlyWhatIsProvenHasOne) {
  const auto ready = shippedScenario("own-namespace");
  EXPECT_FALSE(
      proveScenario(ready->compiled, {.bounds = {}, .orders = false, .certifies = true}).certificate);
}

TEST(Certificates, WhatIsNoneIsToldWhereItIsNot) {
  const auto refusal = [](const std::string& text) {
    const auto read = parseCertificate(text, "proof.txt");
    return read ? std::string("read") : toString(read.error());
  };
  EXPECT_EQ(refusal(""), "proof.txt:1:1: this is no certificate: it begins otherwise");
  EXPECT_THAT(refusal("lastout-certificate 1\n"), StartsWith("proof.txt:1:1: how many states"));
  EXPECT_THAT(refusal("lastout-certificate 1 1 0\n0\n"), StartsWith("proof.txt:1:1: how many states"));
  EXPECT_THAT(refusal("lastout-certificate 1 99999999999 1\n"), StartsWith("proof.txt:1:1: how many states"));
  EXPECT_THAT(refusal("lastout-certificate 1 1000000 4\n0 0\n"), HasSubstr("ends too early"));
  EXPECT_THAT(refusal("lastout-certificate 1 1 1\n0 x\n"),
              StartsWith("proof.txt:2:1: a state is a rank and 1 words"));
  EXPECT_THAT(refusal("lastout-certificate 1 1 1\n0 10000000000000000\n"),
              StartsWith("proof.txt:2:1: a state"));
  EXPECT_THAT(refusal("lastout-certificate 1 1 1\n0 f\nmore"), HasSubstr("goes on after its last state"));
  EXPECT_EQ(refusal("lastout-certificate 1 1 1\n0 f\n"), "read");
}

}  // namespace
}  // namespace lastout::prove
