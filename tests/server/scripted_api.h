// ScriptedApi: an API server of a test's own: it has the objects that it is given, does what is written to
// them, notes it, and refuses what it is told to.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "client/api_server.h"

namespace lastout::testing {

class ScriptedApi : public client::ApiServer {
 public:
  using Json = nlohmann::json;

  // The object is there from now on, as it stands; its path is the API server's.
  void put(const std::string& path, const Json& object);
  void erase(const std::string& path) { objects_.erase(path); }
  const Json* find(const std::string& path) const;
  // The next request of the method whose path ends like this is refused with that status; an empty message is
  // one of the script's.
  void refuse(const std::string& method, const std::string& ending, int status, std::string message = {});

  // What was written since the last call: "PATCH /apis/…/status", and the body in the line below, without
  // the metadata that says which version of an object is meant.
  std::string takeWrites();
  // The objects that were written or that are gone, since the last call; null: it is gone.
  std::map<std::string, Json> takeChanged();

  kube::Result<client::ApiAnswer> exchange(const client::ApiRequest& request, const Take& take) override;
  void stop() override {}

 private:
  struct Refusal {
    std::string method;
    std::string ending;
    int status = 0;
    std::string message;
  };
  struct Said {
    int status = 200;
    Json body;
  };

  Said answer(const client::ApiRequest& request);
  Said list(const std::string& collection) const;
  Said patch(const std::string& path, const Json& change);
  Said remove(const std::string& path, const Json& options);
  void note(const client::ApiRequest& request, const std::string& path);
  void changed(const std::string& path);
  static Said failure(int status, const std::string& message);

  std::map<std::string, Json> objects_;  // by path
  std::map<std::string, Json> changed_;
  std::vector<Refusal> refusals_;
  std::string writes_;
  int version_ = 100;
};

}  // namespace lastout::testing
