// What the shipped program is built with, as readelf and objdump see it.
#include <gmock/gmock.h>

#include <string>

#include "tests/support/program.h"

namespace lastout::deploy {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

class Hardening : public ::testing::Test {
 protected:
  void SetUp() override {
#ifndef LASTOUT_HARDENED
    GTEST_SKIP() << "only the preset release is hardened";
#endif
  }
};

// What a line of shell prints about the program, whose path it finds in $program.
std::string about(const std::string& line) {
  const testing::Ran ran = testing::shell("program=$(command -v lastout); " + line);
  EXPECT_EQ(ran.exitCode, 0) << line << "\n" << ran.out;
  return ran.out;
}

bool isX86() { return about("uname -m") == "x86_64\n"; }

TEST_F(Hardening, IsLoadedAnywhere) {
  EXPECT_THAT(about("readelf -hW $program"), ContainsRegex("Type: +DYN"));
  EXPECT_THAT(about("readelf -dW $program"), ContainsRegex("\\(FLAGS_1\\) .*PIE"));
}

TEST_F(Hardening, WritesNoAddressesOnceItRuns) {
  EXPECT_THAT(about("readelf -lW $program"), ContainsRegex("GNU_RELRO "));
  EXPECT_THAT(about("readelf -dW $program"), ContainsRegex("\\(FLAGS_1\\) .*NOW"));
}

TEST_F(Hardening, RunsNothingOnItsStack) {
  const std::string stack = about("readelf -lW $program | grep GNU_STACK");
  EXPECT_THAT(stack, AllOf(ContainsRegex(" RW "), Not(HasSubstr("RWE"))));
}

TEST_F(Hardening, ChecksItsStackItsBuffersAndTheStandardLibrary) {
  const std::string symbols = about("readelf --dyn-syms -W $program");
  EXPECT_THAT(symbols, HasSubstr(" __stack_chk_fail@"));
  EXPECT_THAT(symbols, ContainsRegex(" __[a-z]+_chk@")) << "FORTIFY_SOURCE";
  EXPECT_THAT(symbols, HasSubstr("__glibcxx_assert_fail"));
}

// A frame of more than a page is touched page by page.
TEST_F(Hardening, TouchesEachPageOfItsStack) {
  if (!isX86()) GTEST_SKIP() << "the instruction is another one";
  EXPECT_THAT(about("objdump -d --no-show-raw-insn $program | grep -m1 'or[a-z]* *\\$0x0,(%rsp)'; true"),
              HasSubstr("(%rsp)"));
}

// The linker says so of the program only when everything that it links does, so also what the C library
// starts a program with (Debian 12's does not). What is built here has its landing pads all the same.
TEST_F(Hardening, HasLandingPads) {
  if (!isX86()) GTEST_SKIP() << "control-flow protection is x86's";
  EXPECT_THAT(about("objdump -d --no-show-raw-insn --disassemble=main $program"),
              ContainsRegex("<main>:\n[^\n]*endbr64"));
  if (about("readelf -nW \"$(cc -print-file-name=Scrt1.o)\"").find("IBT") == std::string::npos) return;
  EXPECT_THAT(about("readelf -nW $program"), AllOf(HasSubstr("IBT"), HasSubstr("SHSTK")));
}

}  // namespace
}  // namespace lastout::deploy
