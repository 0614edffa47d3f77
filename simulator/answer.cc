#include "simulator/answer.h"

#include <string>
#include <utility>

#include "kube/well_known.h"

namespace lastout::simulator {
namespace {

using Form = Representation::Form;

std::string metaApiVersion(const View& view) {
  return std::string(kube::kMetaGroup) + "/" + view.representation.version;
}

TableOptions tableOptions(const View& view, bool withColumns) {
  return {view.now, view.include, withColumns, view.kubernetes};
}

Json tableOf(const ServedType& type, const Json& object, const View& view, bool withColumns) {
  Json table = toTable(type, object, tableOptions(view, withColumns));
  table["apiVersion"] = metaApiVersion(view);
  return table;
}

std::string line(std::string_view kind, std::string_view object) {
  std::string text;
  text.reserve(object.size() + 40);
  text.append(R"({"type":")").append(kind).append(R"(","object":)").append(object).append("}\n");
  return text;
}

// `head` is a JSON object's text; the items' texts become its last member.
std::string withItems(std::string head, const std::vector<RecordRef>& records,
                      const std::string& (StoredRecord::*text)() const) {
  size_t bytes = head.size() + 16;
  for (const RecordRef& record : records) bytes += ((*record).*text)().size() + 1;
  head.pop_back();
  head.reserve(bytes);
  head += R"(,"items":[)";
  bool first = true;
  for (const RecordRef& record : records) {
    if (!first) head += ',';
    first = false;
    head += ((*record).*text)();
  }
  head += "]}";
  return head;
}

// In lists of built-in types the list alone says what its items are.
std::string builtInList(Json list, const std::vector<RecordRef>& records) {
  Json& items = list["items"] = Json::array();
  for (const RecordRef& record : records) {
    Json item = record->object();
    item.erase("kind");
    item.erase("apiVersion");
    items.push_back(std::move(item));
  }
  return toText(list);
}

std::string tableList(const ServedType& type, const std::vector<RecordRef>& records, const Json& metadata,
                      const View& view) {
  std::vector<const Json*> objects;
  objects.reserve(records.size());
  for (const RecordRef& record : records) objects.push_back(&record->object());
  Json table = toTable(type, objects, metadata, tableOptions(view, true));
  table["apiVersion"] = metaApiVersion(view);
  return toText(table);
}

std::string contentTypeOf(const View& view) {
  return view.representation.yaml ? "application/yaml" : "application/json";
}

}  // namespace

ApiResult<View> viewOf(const ExchangeRequest& request, int64_t now, kube::KubernetesVersion kubernetes) {
  auto representation = parseAccept(request.accept);
  if (!representation) return tl::unexpected(std::move(representation.error()));
  View view{std::move(*representation), IncludeObject::Metadata, now, kubernetes};
  const auto include = request.query.find("includeObject");
  if (include == request.query.end()) return view;
  const std::optional<IncludeObject> wanted = parseIncludeObject(include->second);
  if (!wanted) {
    return tl::unexpected(badRequest("Invalid value: \"" + include->second +
                                     "\": must be 'Metadata', 'Object', 'None', or empty"));
  }
  view.include = *wanted;
  return view;
}

ExchangeResponse answerWith(int status, const Json& body) {
  ExchangeResponse response;
  response.status = status;
  response.body = toText(body);
  return response;
}

ExchangeResponse answerWith(const ApiError& error) {
  ExchangeResponse response = answerWith(error.code, statusOf(error));
  const Json* retry = at(error.details, {"retryAfterSeconds"});
  if (retry != nullptr && retry->is_number_integer()) response.retryAfter = retry->get<int64_t>();
  return response;
}

ExchangeResponse answerWith(int status, const ServedType& type, const Json& object, const View& view) {
  ExchangeResponse response = answerWith(status, nullptr);
  response.contentType = contentTypeOf(view);
  switch (view.representation.form) {
    case Form::Full:
      response.body = toText(object);
      break;
    case Form::Metadata:
    case Form::MetadataList:
      response.body = toText(toPartialMetadata(object));
      break;
    case Form::Table:
      response.body = toText(tableOf(type, object, view, true));
      break;
  }
  return response;
}

ExchangeResponse answerWithList(const ServedType& type, const std::vector<RecordRef>& records,
                                const Json& metadata, const View& view) {
  ExchangeResponse response;
  response.contentType = contentTypeOf(view);
  switch (view.representation.form) {
    case Form::Full: {
      Json list = {{"kind", type.listKind}, {"apiVersion", type.apiVersion()}, {"metadata", metadata}};
      if (!type.builtIn) list["metadata"].emplace("continue", "");  // rest/029
      response.body = type.builtIn ? builtInList(std::move(list), records)
                                   : withItems(toText(list), records, &StoredRecord::text);
      break;
    }
    case Form::Metadata:
    case Form::MetadataList:
      response.body = withItems(toText({{"kind", "PartialObjectMetadataList"},
                                        {"apiVersion", metaApiVersion(view)},
                                        {"metadata", metadata}}),
                                records, &StoredRecord::metadataText);
      break;
    case Form::Table:
      response.body = tableList(type, records, metadata, view);
      break;
  }
  return response;
}

std::string eventLine(std::string_view kind, const ServedType& type, const StoredRecord& record,
                      const View& view, bool first) {
  switch (view.representation.form) {
    case Form::Full:
      break;
    case Form::Metadata:
    case Form::MetadataList:
      return line(kind, record.metadataText());
    case Form::Table:
      return line(kind, toText(tableOf(type, record.object(), view, first)));
  }
  return line(kind, record.text());
}

// Recorded in rest/080 and 081.
std::string bookmarkLine(const ServedType& type, uint64_t version, const View& view, bool endsBeginning) {
  Json object = {{"kind", type.kind},
                 {"apiVersion", type.apiVersion()},
                 {"metadata", {{"resourceVersion", std::to_string(version)}}}};
  if (view.representation.form != Form::Full) {
    object["kind"] = "PartialObjectMetadata";
    object["apiVersion"] = kube::kMetaApiVersion;
    if (kube::writesNullTimestamps(view.kubernetes)) object["metadata"]["creationTimestamp"] = nullptr;
  }
  if (endsBeginning) object["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  return line("BOOKMARK", toText(object));
}

std::string errorLine(const ApiError& error) { return line("ERROR", toText(statusOf(error))); }

}  // namespace lastout::simulator
