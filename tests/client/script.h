// Script: the answers of an API server, one after the other, as a test writes them.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/api_server.h"

namespace lastout::testing {

struct ScriptedAnswer {
  enum class Then : uint8_t {
    Ends,    // as it should
    IsCut,   // before its end
    IsOpen,  // until the server is stopped, or goOn()
  };
  int status = 200;
  std::vector<std::string> pieces = {};
  Then then = Then::Ends;
  std::optional<std::chrono::seconds> retryAfter = {};
};

// What test and server share. Safe for any number of threads.
class Script {
 public:
  explicit Script(std::vector<ScriptedAnswer> answers) : answers_(answers.begin(), answers.end()) {}

  // For one Watcher. When there are no answers left, requests stay open.
  std::unique_ptr<client::ApiServer> server();
  // The answer that is open goes on with this piece, and ends if `end`. Waits for such an answer.
  void goOn(const std::string& piece, bool end);
  // Waits for the request of this number, from 0.
  client::ApiRequest request(size_t number);
  // It is another cluster from now on. Who asks which one it is is answered beside the script.
  void become(const std::string& cluster);
  // What is asked about the cluster is answered like this from now on, with an empty body.
  void refuseToSayWhich(int status);

 private:
  class Server;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<ScriptedAnswer> answers_;
  std::vector<client::ApiRequest> requests_;
  std::deque<std::pair<std::string, bool>> more_;
  bool open_ = false;
  bool stopped_ = false;
  std::string cluster_ = "uid-of-one";
  int clusterStatus_ = 200;
};

}  // namespace lastout::testing
