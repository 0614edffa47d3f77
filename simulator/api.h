// Api: answers the requests of clients: discovery, reads, watches and writes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "simulator/admitter.h"
#include "simulator/answer.h"
#include "simulator/control_plane.h"
#include "simulator/exchange.h"
#include "simulator/openapi.h"
#include "simulator/selection.h"
#include "simulator/user.h"

namespace lastout::simulator {

// Safe for any number of threads.
class Api {
 public:
  // Keeps references to all of them.
  Api(ControlPlane& plane, Admitter& admitter, const Users& users)
      : plane_(plane), admitter_(admitter), users_(users) {}

  ExchangeResponse handle(const ExchangeRequest& request);

 private:
  // One request for a resource, once its path is understood.
  struct Call {
    const ExchangeRequest& http;
    Target target;
    ServedTypePointer type;
    View view;
    std::vector<std::string> warnings = {};
    ApiResult<ListOptions> listOptions = {};  // of a list, a watch and a deletion of a collection
    kube::ObjectKey key() const { return {type->type, target.namespaceName, target.name}; }
  };
  // What a write comes to before it is reviewed, given what is stored under its name; null: nothing is.
  using Prepare = std::function<ApiResult<Mutation>(const RecordRef& before)>;

  ApiResult<ExchangeResponse> handleResource(Call& call);
  // These take the lock.
  TypeRegistry discoveredTypes();
  std::optional<Json> servedResources(std::string_view group, std::string_view version);
  std::optional<ExchangeResponse> discover(const TypeRegistry& types, const ExchangeRequest& request);
  bool isUnanswered(std::string_view path, const std::optional<Target>& target);  // takes the lock
  std::optional<ApiError> denialOfUnserved(const ExchangeRequest& request, const Target& target) const;
  ApiResult<void> authorize(const Call& call, std::string_view verb) const;

  // api_read.cc
  ApiResult<ExchangeResponse> get(Call& call);
  ApiResult<ExchangeResponse> list(Call& call, const ListOptions& options);
  ApiResult<StoragePage> listed(const Call& call, const ListOptions& options, const ListRange& part,
                                uint64_t& version);
  ApiResult<ExchangeResponse> watch(Call& call, const ListOptions& options);

  // api_write.cc
  ApiResult<ExchangeResponse> create(Call& call);
  ApiResult<ExchangeResponse> update(Call& call);
  ApiResult<ExchangeResponse> patch(Call& call);
  ApiResult<Mutation> prepareCreate(Call& call, Json object, const WriteOptions& options) const;
  ApiResult<Mutation> prepareUpdate(Call& call, const RecordRef& before, Json object,
                                    const WriteOptions& options) const;
  ApiResult<Mutation> prepareScale(Call& call, const RecordRef& before, const Json& scale,
                                   const WriteOptions& options) const;
  ApiResult<ExchangeResponse> answerReview(Call& call, Json review);

  // api_delete.cc
  ApiResult<ExchangeResponse> remove(Call& call);
  ApiResult<ExchangeResponse> removeCollection(Call& call);
  ApiResult<Json> removeOne(Call& call, const kube::ObjectKey& key, const DeleteOptions& options,
                            bool nameIsKnown);

  RecordRef stored(const kube::ObjectKey& key);  // takes the lock
  // Prepares and reviews without the lock, and commits when the object is still the one that was reviewed;
  // otherwise all of it again. The stored object, or what it was last.
  ApiResult<Json> perform(Call& call, const kube::ObjectKey& key, const Prepare& prepare);

  ControlPlane& plane_;
  Admitter& admitter_;
  const Users& users_;
  OpenApi openApi_;
};

}  // namespace lastout::simulator
