#include "simulator/protobuf.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "kube/encoding.h"
#include "kube/messages.h"
#include "kube/source_text.h"
#include "simulator/decode.h"

namespace lastout::simulator {
namespace {

enum class Shape {
  Text,
  Texts,
  Flag,      // left out when false
  Number,    // left out when 0
  Count,     // kept when 0: no replicas are not the default
  TextMap,   // of texts
  BytesMap,  // of bytes, which JSON has in Base64
  Message,   // left out when empty
  Messages,
  NumberOrText,  // IntOrString
  Ignored
};

struct MessageField;
using MessageFields = std::span<const MessageField>;

// A field of a message in Kubernetes' .proto files, with its name in JSON.
struct MessageField {
  uint64_t number;
  std::string_view name;
  Shape shape;
  MessageFields fields = {};  // of a message
};

// Messages, from the innermost to the outermost: none holds itself, so that decoding never goes deep.
constexpr MessageField kObjectMeta[] = {
    {1, "name", Shape::Text},          {2, "generateName", Shape::Text},
    {3, "namespace", Shape::Text},     {4, "selfLink", Shape::Ignored},
    {5, "uid", Shape::Text},           {6, "resourceVersion", Shape::Text},
    {7, "generation", Shape::Ignored}, {8, "creationTimestamp", Shape::Ignored},
    {11, "labels", Shape::TextMap},    {12, "annotations", Shape::TextMap},
    {14, "finalizers", Shape::Texts}};
constexpr MessageField kLabelSelector[] = {{1, "matchLabels", Shape::TextMap}};
constexpr MessageField kContainerPort[] = {{1, "name", Shape::Text},
                                           {2, "hostPort", Shape::Number},
                                           {3, "containerPort", Shape::Number},
                                           {4, "protocol", Shape::Text},
                                           {5, "hostIP", Shape::Text}};
constexpr MessageField kEmpty[] = {{1, "type", Shape::Text}};
constexpr MessageField kContainer[] = {{1, "name", Shape::Text},
                                       {2, "image", Shape::Text},
                                       {3, "command", Shape::Texts},
                                       {4, "args", Shape::Texts},
                                       {5, "workingDir", Shape::Text},
                                       {6, "ports", Shape::Messages, kContainerPort},
                                       {8, "resources", Shape::Message, kEmpty},
                                       {13, "terminationMessagePath", Shape::Text},
                                       {14, "imagePullPolicy", Shape::Text},
                                       {16, "stdin", Shape::Flag},
                                       {17, "stdinOnce", Shape::Flag},
                                       {18, "tty", Shape::Flag},
                                       {20, "terminationMessagePolicy", Shape::Text}};
constexpr MessageField kPodSpec[] = {{2, "containers", Shape::Messages, kContainer},
                                     {3, "restartPolicy", Shape::Text},
                                     {6, "dnsPolicy", Shape::Text},
                                     {8, "serviceAccountName", Shape::Text},
                                     {9, "serviceAccount", Shape::Text},
                                     {10, "nodeName", Shape::Text},
                                     {11, "hostNetwork", Shape::Flag},
                                     {12, "hostPID", Shape::Flag},
                                     {13, "hostIPC", Shape::Flag},
                                     {16, "hostname", Shape::Text},
                                     {17, "subdomain", Shape::Text},
                                     {19, "schedulerName", Shape::Text},
                                     {24, "priorityClassName", Shape::Text}};
constexpr MessageField kPodTemplate[] = {{1, "metadata", Shape::Message, kObjectMeta},
                                         {2, "spec", Shape::Message, kPodSpec}};
constexpr MessageField kDeploymentSpec[] = {{1, "replicas", Shape::Count},
                                            {2, "selector", Shape::Message, kLabelSelector},
                                            {3, "template", Shape::Message, kPodTemplate},
                                            {4, "strategy", Shape::Message, kEmpty},
                                            {5, "minReadySeconds", Shape::Number},
                                            {7, "paused", Shape::Flag}};
constexpr MessageField kServicePort[] = {{1, "name", Shape::Text},
                                         {2, "protocol", Shape::Text},
                                         {3, "port", Shape::Number},
                                         {4, "targetPort", Shape::NumberOrText},
                                         {5, "nodePort", Shape::Number}};
constexpr MessageField kServiceSpec[] = {{1, "ports", Shape::Messages, kServicePort},
                                         {2, "selector", Shape::TextMap},
                                         {3, "clusterIP", Shape::Text},
                                         {4, "type", Shape::Text},
                                         {7, "sessionAffinity", Shape::Text},
                                         {8, "loadBalancerIP", Shape::Text},
                                         {10, "externalName", Shape::Text},
                                         {11, "externalTrafficPolicy", Shape::Text},
                                         {12, "healthCheckNodePort", Shape::Number},
                                         {13, "publishNotReadyAddresses", Shape::Flag}};
constexpr MessageField kBudgetSpec[] = {{1, "minAvailable", Shape::NumberOrText},
                                        {2, "selector", Shape::Message, kLabelSelector},
                                        {3, "maxUnavailable", Shape::NumberOrText}};
constexpr MessageField kPolicyRule[] = {{1, "verbs", Shape::Texts},
                                        {2, "apiGroups", Shape::Texts},
                                        {3, "resources", Shape::Texts},
                                        {4, "resourceNames", Shape::Texts},
                                        {5, "nonResourceURLs", Shape::Texts}};
constexpr MessageField kSubject[] = {{1, "kind", Shape::Text},
                                     {2, "apiGroup", Shape::Text},
                                     {3, "name", Shape::Text},
                                     {4, "namespace", Shape::Text}};
constexpr MessageField kRoleRef[] = {
    {1, "apiGroup", Shape::Text}, {2, "kind", Shape::Text}, {3, "name", Shape::Text}};
constexpr MessageField kResourceAttributes[] = {
    {1, "namespace", Shape::Text}, {2, "verb", Shape::Text},     {3, "group", Shape::Text},
    {4, "version", Shape::Text},   {5, "resource", Shape::Text}, {6, "subresource", Shape::Text},
    {7, "name", Shape::Text}};
constexpr MessageField kPathAttributes[] = {{1, "path", Shape::Text}, {2, "verb", Shape::Text}};
constexpr MessageField kAccessSpec[] = {{1, "resourceAttributes", Shape::Message, kResourceAttributes},
                                        {2, "nonResourceAttributes", Shape::Message, kPathAttributes}};
constexpr MessageField kRulesSpec[] = {{1, "namespace", Shape::Text}};
constexpr MessageField kNamespaceSpec[] = {{1, "finalizers", Shape::Texts}};

constexpr MessageField kMetadata = {1, "metadata", Shape::Message, kObjectMeta};
constexpr MessageField kStatus = {3, "status", Shape::Ignored};
constexpr MessageField specOf(MessageFields fields) { return {2, "spec", Shape::Message, fields}; }

constexpr MessageField kNamespace[] = {kMetadata, specOf(kNamespaceSpec), kStatus};
constexpr MessageField kConfigMap[] = {kMetadata,
                                       {2, "data", Shape::TextMap},
                                       {3, "binaryData", Shape::BytesMap},
                                       {4, "immutable", Shape::Flag}};
constexpr MessageField kSecret[] = {kMetadata,
                                    {2, "data", Shape::BytesMap},
                                    {3, "type", Shape::Text},
                                    {4, "stringData", Shape::TextMap},
                                    {5, "immutable", Shape::Flag}};
constexpr MessageField kServiceAccount[] = {kMetadata};
constexpr MessageField kDeployment[] = {kMetadata, specOf(kDeploymentSpec), kStatus};
constexpr MessageField kServiceMessage[] = {kMetadata, specOf(kServiceSpec), kStatus};
constexpr MessageField kBudget[] = {kMetadata, specOf(kBudgetSpec), kStatus};
constexpr MessageField kRole[] = {kMetadata, {2, "rules", Shape::Messages, kPolicyRule}};
constexpr MessageField kBinding[] = {
    kMetadata, {2, "subjects", Shape::Messages, kSubject}, {3, "roleRef", Shape::Message, kRoleRef}};
constexpr MessageField kAccessReview[] = {kMetadata, specOf(kAccessSpec), kStatus};
constexpr MessageField kRulesReview[] = {kMetadata, specOf(kRulesSpec), kStatus};

struct KnownKind {
  std::string_view apiVersion;
  std::string_view kind;
  MessageFields fields;
};
constexpr KnownKind kKnownKinds[] = {{"v1", "Namespace", kNamespace},
                                     {"v1", "ConfigMap", kConfigMap},
                                     {"v1", "Secret", kSecret},
                                     {"v1", "ServiceAccount", kServiceAccount},
                                     {"v1", "Service", kServiceMessage},
                                     {"apps/v1", "Deployment", kDeployment},
                                     {"policy/v1", "PodDisruptionBudget", kBudget},
                                     {"rbac.authorization.k8s.io/v1", "Role", kRole},
                                     {"rbac.authorization.k8s.io/v1", "ClusterRole", kRole},
                                     {"rbac.authorization.k8s.io/v1", "RoleBinding", kBinding},
                                     {"rbac.authorization.k8s.io/v1", "ClusterRoleBinding", kBinding},
                                     {"authorization.k8s.io/v1", "SelfSubjectAccessReview", kAccessReview},
                                     {"authorization.k8s.io/v1", "SelfSubjectRulesReview", kRulesReview}};

// What the envelope says of the object within.
constexpr MessageField kTypeMeta[] = {{1, "apiVersion", Shape::Text}, {2, "kind", Shape::Text}};
constexpr MessageField kNumberOrText[] = {
    {1, "isText", Shape::Number}, {2, "number", Shape::Count}, {3, "text", Shape::Text}};

ApiError notProtobuf(const std::string& why) {
  return badRequest("the object provided is unrecognized: " + why);
}

ApiError onlyAsYaml(const std::string& what) {
  ApiError error = unsupportedMediaType("application/json, application/yaml");
  error.message = what +
                  " is not understood as application/vnd.kubernetes.protobuf; send it as JSON or YAML, " +
                  "as `kubectl create -f` does";
  return error;
}

// One field as it is on the wire: a number, or some bytes.
struct WireField {
  uint64_t number = 0;
  bool isBytes = false;
  uint64_t value = 0;
  std::string_view bytes;
};

std::optional<uint64_t> takeVarint(std::string_view& text) {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !text.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

// Takes the next field; nullopt: the text is cut off, or the field has a wire type that Kubernetes' kinds do
// not use.
std::optional<WireField> takeField(std::string_view& text) {
  const auto tag = takeVarint(text);
  const auto value = takeVarint(text);
  if (!tag || !value) return std::nullopt;
  WireField field{*tag >> 3, (*tag & 7) == 2, *value, {}};
  if (!field.isBytes) return (*tag & 7) == 0 ? std::optional(field) : std::nullopt;
  if (*value > text.size()) return std::nullopt;
  field.bytes = text.substr(0, *value);
  text.remove_prefix(*value);
  return field;
}

bool isUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = kube::utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// Reads one body: the fields of a kind, and what they hold.
class ProtobufReader {
 public:
  // The message's fields as an object; nothing on failure, which is then told by `error`.
  std::optional<Json> message(std::string_view text, MessageFields known);
  ApiError error;

 private:
  bool add(const MessageField& known, const WireField& field, Json& object);
  bool addBytes(const MessageField& known, std::string_view bytes, Json& object);
  bool addEntry(const MessageField& known, std::string_view bytes, Json& object);
  bool addNumberOrText(const MessageField& known, std::string_view bytes, Json& object);
  bool fail(ApiError why) {
    error = std::move(why);
    return false;
  }

  size_t values_ = 0;
};

std::optional<Json> ProtobufReader::message(std::string_view text, MessageFields known) {
  Json object = Json::object();
  while (!text.empty()) {
    const auto field = takeField(text);
    if (!field || ++values_ > kMostJsonValues) {
      error = notProtobuf(field ? "it has too many values" : "the protobuf message is cut or malformed");
      return std::nullopt;
    }
    const auto found = std::find_if(known.begin(), known.end(), [&field](const MessageField& candidate) {
      return candidate.number == field->number;
    });
    if (found == known.end()) {
      error = onlyAsYaml("field " + std::to_string(field->number) + " of a message");
      return std::nullopt;
    }
    if (!add(*found, *field, object)) return std::nullopt;
  }
  return object;
}

bool ProtobufReader::add(const MessageField& known, const WireField& field, Json& object) {
  const bool wantsValue =
      known.shape == Shape::Flag || known.shape == Shape::Number || known.shape == Shape::Count;
  if (known.shape == Shape::Ignored) return true;
  if (wantsValue == field.isBytes)
    return fail(notProtobuf("the field " + std::string(known.name) + " has the wrong wire type"));
  if (field.isBytes) return addBytes(known, field.bytes, object);
  if (known.shape == Shape::Flag) {
    if (field.value != 0) object[known.name] = true;
  } else if (field.value != 0 || known.shape == Shape::Count) {
    object[known.name] = static_cast<int64_t>(field.value);
  }
  return true;
}

bool ProtobufReader::addBytes(const MessageField& known, std::string_view bytes, Json& object) {
  switch (known.shape) {
    case Shape::Text:
    case Shape::Texts:
      if (!isUtf8(bytes)) return fail(notProtobuf("the field " + std::string(known.name) + " is not UTF-8"));
      if (known.shape == Shape::Texts)
        object[known.name].push_back(bytes);
      else if (!bytes.empty())
        object[known.name] = bytes;
      return true;
    case Shape::TextMap:
    case Shape::BytesMap:
      return addEntry(known, bytes, object);
    case Shape::NumberOrText:
      return addNumberOrText(known, bytes, object);
    default:
      break;
  }
  auto inner = message(bytes, known.fields);
  if (!inner) return false;
  if (known.shape == Shape::Messages)
    object[known.name].push_back(std::move(*inner));
  else if (!inner->empty())
    object[known.name] = std::move(*inner);
  return true;
}

bool ProtobufReader::addEntry(const MessageField& known, std::string_view bytes, Json& object) {
  std::string_view key;
  std::string_view value;
  while (!bytes.empty()) {
    const auto field = takeField(bytes);
    if (!field || !field->isBytes || field->number < 1 || field->number > 2)
      return fail(notProtobuf("the map " + std::string(known.name) + " is malformed"));
    (field->number == 1 ? key : value) = field->bytes;
  }
  const bool isText = known.shape == Shape::TextMap;
  if (!isUtf8(key) || (isText && !isUtf8(value)))
    return fail(notProtobuf("the map " + std::string(known.name) + " is not UTF-8"));
  object[known.name][std::string(key)] = isText ? std::string(value) : kube::toBase64(value);
  return true;
}

bool ProtobufReader::addNumberOrText(const MessageField& known, std::string_view bytes, Json& object) {
  auto either = message(bytes, kNumberOrText);
  if (!either) return false;
  if (either->contains("isText"))
    object[known.name] = std::string(stringAt(*either, {"text"}));
  else
    object[known.name] = either->value("number", int64_t{0});
  return true;
}

}  // namespace

ApiResult<Json> decodeProtobuf(std::string_view body) {
  constexpr std::string_view kPrefix("k8s\0", 4);
  if (!body.starts_with(kPrefix))
    return tl::unexpected(notProtobuf("it does not begin as application/vnd.kubernetes.protobuf does"));
  body.remove_prefix(kPrefix.size());
  std::string_view type;
  std::string_view raw;
  while (!body.empty()) {
    const auto field = takeField(body);
    if (!field) return tl::unexpected(notProtobuf("the protobuf message is cut or malformed"));
    if (field->number == 1) type = field->bytes;
    if (field->number == 2) raw = field->bytes;
  }
  ProtobufReader reader;
  const auto typeMeta = reader.message(type, kTypeMeta);
  if (!typeMeta) return tl::unexpected(std::move(reader.error));
  const std::string_view apiVersion = stringAt(*typeMeta, {"apiVersion"});
  const std::string_view kind = stringAt(*typeMeta, {"kind"});
  for (const KnownKind& known : kKnownKinds) {
    if (known.apiVersion != apiVersion || known.kind != kind) continue;
    auto object = reader.message(raw, known.fields);
    if (!object) return tl::unexpected(std::move(reader.error));
    object->update(*typeMeta);
    return std::move(*object);
  }
  return tl::unexpected(onlyAsYaml(kube::inQuotes(kind) + " in " + kube::inQuotes(apiVersion)));
}

}  // namespace lastout::simulator
