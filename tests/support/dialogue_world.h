// DialogueWorld: what the dialogues of all controllers have in common: an API server beside a script
// (scripted_server.h), the Lease, and what was told. Objects are named "Database/shop"; that lies in the
// namespace "default", where its kind has one, "Database/infra/shop" in another.
//
//   apply                  the objects below are created, or merged into those that stand
//   annotate OBJECT KEY=VALUE, label OBJECT KEY=VALUE    by a user, KEY: it is taken away
//   patch OBJECT JSON      a merge patch, of the status, too
//   DELETE OBJECT          by a user
//   refuse METHOD ENDING STATUS [after SECONDS] [MESSAGE]    the next request to a path that ends like that;
//                          after: its Retry-After
//   before METHOD ENDING STEP    the step is made just before the next such request comes to the API server
//   note reads             of a single object, from now on
//   another leads, this leads
//   show OBJECT [POINTER]  the object, or what a JSON pointer finds in it
//   pass                   what was written and told, each in its order
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "kube/resource_map.h"
#include "server/controllers/event_writer.h"
#include "server/runtime/log.h"
#include "tests/support/dialogue.h"
#include "tests/support/scripted_server.h"

namespace lastout::testing {

// The next word of a step, and the rest of it.
std::string wordOf(std::istringstream& step);
std::string restOf(std::istringstream& step);

class DialogueWorld {
 public:
  // Kinds are looked for in the groups in this order.
  DialogueWorld(simulator::Handler cluster, std::vector<std::string> groups);
  virtual ~DialogueWorld() = default;
  DialogueWorld(const DialogueWorld&) = delete;
  DialogueWorld& operator=(const DialogueWorld&) = delete;

  std::string answer(const DialogueStep& step);

 protected:
  using Json = nlohmann::json;
  using Command = std::function<std::string(const DialogueStep&, std::istringstream&)>;

  virtual std::string pass(const DialogueStep& step) = 0;
  virtual void changed() {}  // after each step that may have changed an object

  // A step with that name, which says nothing.
  void add(const char* name, std::function<void(const DialogueStep&, std::istringstream&)> does);
  kube::ResourceType typeOf(const std::string& kind) const;
  kube::ObjectKey keyOf(const std::string& object) const;
  std::string pathOf(const std::string& object) const;
  std::string uidOf(const std::string& object);  // as the API server has it

  // By the admin, past the script. What is refused ends the test program.
  void store(const std::string& text);
  std::optional<Json> read(const std::string& path);  // nullopt: it is not there
  void put(const std::string& path, const Json& object);
  void change(const std::string& path, const Json& patch);
  void erase(const std::string& path);

  // Tells, by any thread.
  void tell(const std::string& line);
  void tellOnce(const std::string& line);  // unless it was told since it was taken last
  std::string told() const;
  server::LogSink log();
  std::function<void(server::Event)> eventTeller();

  kube::ResourceMap types_;
  ScriptedServer server_;
  std::atomic<bool> leads_{true};
  std::map<std::string, Command> commands_;       // more of them are added by who derives
  std::map<std::string, kube::ObjectKey> paths_;  // of what a step has applied

  std::string takeTold();
  // A step has made a conflict, so that one is expected.
  bool expectsConflicts() const { return expectsConflicts_; }

 private:
  void addCommands();
  void changeKey(const char* where, std::istringstream& step);
  void storeOne(const kube::Object& object);
  simulator::ExchangeResponse ask(const std::string& method, const std::string& target, const Json& body);

  const simulator::Handler cluster_;
  const std::vector<std::string> groups_;
  mutable std::mutex mutex_;
  std::string told_;  // guarded by the mutex
  std::atomic<bool> expectsConflicts_{false};
};

}  // namespace lastout::testing
