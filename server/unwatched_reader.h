// UnwatchedReader: reads objects of types that no watch follows, for those who ask about one object, and says
// what it could not read.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "client/api_server.h"
#include "client/metadata_stream.h"
#include "kube/object.h"
#include "kube/resource_map.h"
#include "server/runtime/object_client.h"

namespace lastout::server {

inline constexpr size_t kMostUnwatched = 500;  // objects in one answer

// For one thread at a time.
class UnwatchedReader {
 public:
  explicit UnwatchedReader(client::ApiServer& server) : client_(server, std::nullopt, kMostPageBytes) {}

  struct Listed {
    std::vector<kube::Object> objects;
    bool isComplete = true;  // false: there are others, or they could not be read
  };
  // Lists at most kMostUnwatched objects of the type in a namespace (empty: in all of them), with these
  // labels (a selector; empty: with any). A type that is not served has none. Asks the same question once:
  // the answer stays as long as the reader.
  const Listed& list(const kube::ResourceType& type, const std::string& space, client::Content content,
                     const std::string& selector = {});

  const ObjectClient& client() const { return client_; }
  // Notes why objects of the type could not be read, or not all of them.
  void note(const kube::GroupResource& type, std::string why);
  // Returns the noted types, and why the first of them could not be read: "secrets, nodes (403 Forbidden)";
  // empty: none was noted.
  std::string unread() const;

 private:
  Listed read(const kube::ResourceType& type, const std::string& space, client::Content content,
              const std::string& selector);

  const ObjectClient client_;
  std::map<std::tuple<kube::GroupResource, std::string, client::Content, std::string>, Listed> listed_;
  std::set<kube::GroupResource> unread_;
  std::string types_;  // these, in the order in which they were noted
  std::string why_;    // of the first of them
};

}  // namespace lastout::server
