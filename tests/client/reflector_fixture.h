// ReflectorTest: a Reflector, a clock that the test moves, and what was told since the test last asked.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "client/reflector.h"

namespace lastout::testing {

// Its uid is "uid-" and its name, unless another one is given.
client::StreamedObject objectAt(const std::string& name, const std::string& version,
                                const std::string& uid = "");

class ReflectorTest : public ::testing::Test {
 public:
  std::vector<std::string> told();  // "a at 5", "uid-a removed"

  // What comes next, after the backoff, must be a list, or a watch from the version that is returned.
  client::ListPage nextIsList();
  std::string nextIsWatch();

  void list(const std::vector<client::StreamedObject>& objects, const std::string& version);
  void answer(const std::vector<client::StreamedObject>& objects, const std::string& version,
              const std::string& continueToken);
  bool event(client::EventType type, client::StreamedObject about);
  bool bookmark(const std::string& version);
  bool error(int code, const std::string& reason);
  void fail(int code);
  void pass(std::chrono::milliseconds time) { now += time; }
  client::SyncStatus::State state() const { return reflector.knowledge().state; }

  // Lists `a` at 5 and `b` at 7, and watches from 10.
  void follow();

 private:
  client::Next passBackoff();
  std::vector<std::string> told_;

 public:
  client::TimePoint now = client::TimePoint(std::chrono::hours(1));
  client::Reflector reflector;

  ReflectorTest();
};

}  // namespace lastout::testing
