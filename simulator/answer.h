// Answers: objects, lists and errors as responses, in the form that the client asked for.
#pragma once

#include <string>
#include <vector>

#include "simulator/decode.h"
#include "simulator/exchange.h"
#include "simulator/served_type.h"
#include "simulator/status.h"
#include "simulator/storage.h"
#include "simulator/table.h"

namespace lastout::simulator {

// How a client wants to see objects.
struct View {
  Representation representation;
  IncludeObject include = IncludeObject::Metadata;  // of tables
  int64_t now = 0;  // seconds since the epoch, for ages in tables; watches renew it
  kube::KubernetesVersion kubernetes = kube::kNewestKubernetes;  // whose answers are given
};
// From the header Accept and the parameter includeObject; fails with 406 and 400.
ApiResult<View> viewOf(const ExchangeRequest& request, int64_t now, kube::KubernetesVersion kubernetes);

ExchangeResponse answerWith(int status, const Json& body);
ExchangeResponse answerWith(const ApiError& error);
// One object, in the view; what is no object of a type (a Status) is shown as it is.
ExchangeResponse answerWith(int status, const ServedType& type, const Json& object, const View& view);
// `metadata`: resourceVersion, continue, remainingItemCount.
ExchangeResponse answerWithList(const ServedType& type, const std::vector<RecordRef>& records,
                                const Json& metadata, const View& view);

// One event of a watch as a line. `first` is the watch's first (a table names its columns there).
std::string eventLine(std::string_view kind, const ServedType& type, const StoredRecord& record,
                      const View& view, bool first);
// `endsBeginning`: it says that all has been told that was there when the watch began.
std::string bookmarkLine(const ServedType& type, uint64_t version, const View& view,
                         bool endsBeginning = false);
std::string errorLine(const ApiError& error);

}  // namespace lastout::simulator
