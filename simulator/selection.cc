#include "simulator/selection.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "kube/encoding.h"
#include "kube/messages.h"
#include "kube/well_known.h"
#include "simulator/decode.h"
#include "simulator/json.h"

namespace lastout::simulator {
namespace {

constexpr std::array<std::string_view, 7> kPodFields = {
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName",      "spec.serviceAccountName",
    "status.phase",  "status.podIP",       "status.nominatedNodeName"};
constexpr std::array<std::string_view, 11> kEventFields = {"involvedObject.kind",
                                                           "involvedObject.namespace",
                                                           "involvedObject.name",
                                                           "involvedObject.uid",
                                                           "involvedObject.apiVersion",
                                                           "involvedObject.resourceVersion",
                                                           "involvedObject.fieldPath",
                                                           "reason",
                                                           "reportingComponent",
                                                           "source",
                                                           "type"};
constexpr std::array<std::string_view, 1> kSecretFields = {"type"};
constexpr std::array<std::string_view, 1> kNamespaceFields = {"status.phase"};
constexpr std::array<std::string_view, 1> kReplicaSetFields = {"status.replicas"};

// What a type can be selected by beside its name and namespace.
std::span<const std::string_view> ownFields(const kube::GroupResource& type) {
  if (type == kube::kPods) return kPodFields;
  if (type.resource == "events" && (type.group.empty() || type.group == "events.k8s.io")) return kEventFields;
  if (type == kube::kSecrets) return kSecretFields;
  if (type == kube::kNamespaces) return kNamespaceFields;
  if (type == kube::kReplicaSets) return kReplicaSetFields;
  return {};
}

ApiError unsupportedField(std::string_view field, const kube::GroupResource& type) {
  if (isBuiltIn(type) && ownFields(type).empty()) {
    return badRequest(kube::inQuotes(field) +
                      " is not a known field selector: only \"metadata.name\", \"metadata.namespace\"");
  }
  return badRequest("field label not supported: " + kube::printable(field));
}

bool isSelectable(std::string_view field, const kube::GroupResource& type) {
  return field == "metadata.name" || field == "metadata.namespace" ||
         std::ranges::find(ownFields(type), field) != ownFields(type).end();
}

// The text up to the next comma that no backslash stands before; `rest` becomes what stands behind it.
std::string_view takeFieldTerm(std::string_view& rest) {
  size_t end = 0;
  while (end < rest.size() && rest[end] != ',') end += rest[end] == '\\' ? 2 : 1;
  end = std::min(end, rest.size());
  const std::string_view term = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return term;
}

ApiResult<std::string> unescapedValue(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '=' || text[i] == ',') {
      return tl::unexpected(
          badRequest(std::string("invalid field selector: unescaped character in value: ") + text[i]));
    }
    if (text[i] == '\\' &&
        (++i == text.size() || std::string_view("\\,=").find(text[i]) == std::string_view::npos)) {
      return tl::unexpected(badRequest("invalid field selector: invalid escape sequence: " +
                                       kube::printable(text.substr(i - 1, 2))));
    }
    value += text[i];
  }
  return value;
}

ApiResult<FieldRequirement> readFieldTerm(std::string_view term, std::string_view whole) {
  const size_t end = term.find('=');
  if (end == std::string_view::npos) {
    return tl::unexpected(badRequest("invalid selector: '" + kube::printable(whole) +
                                     "'; can't understand '" + kube::printable(term) + "'"));
  }
  const bool unequal = end > 0 && term[end - 1] == '!';
  FieldRequirement requirement{std::string(term.substr(0, unequal ? end - 1 : end)), "", !unequal};
  std::string_view value = term.substr(end + 1);
  if (!unequal && value.starts_with('=')) value.remove_prefix(1);
  auto plain = unescapedValue(value);
  if (!plain) return tl::unexpected(std::move(plain.error()));
  requirement.value = std::move(*plain);
  return requirement;
}

// What stands at a dotted path.
const Json* fieldAt(const Json& object, std::string_view path) {
  const Json* found = &object;
  while (!path.empty()) {
    const size_t end = std::min(path.find('.'), path.size());
    found = at(*found, {path.substr(0, end)});
    if (found == nullptr) return nullptr;
    path.remove_prefix(std::min(end + 1, path.size()));
  }
  return found;
}

bool fieldEquals(const Json& object, const FieldRequirement& requirement) {
  // An event's source is its component: of the old or of the new form.
  if (requirement.field == "source") {
    const std::string_view component = stringAt(object, {"source", "component"});
    return (component.empty() ? stringAt(object, {"reportingComponent"}) : component) == requirement.value;
  }
  const Json* found = fieldAt(object, requirement.field);
  if (found == nullptr)
    return requirement.field == "status.replicas" ? requirement.value == "0" : requirement.value.empty();
  if (found->is_string()) return found->get_ref<const std::string&>() == requirement.value;
  return found->is_number() && found->dump() == requirement.value;
}

}  // namespace

ApiResult<FieldSelector> parseFieldSelector(std::string_view text, const kube::GroupResource& type) {
  FieldSelector selector;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view term = takeFieldTerm(rest);
    if (term.empty()) continue;
    auto requirement = readFieldTerm(term, text);
    if (!requirement) return tl::unexpected(std::move(requirement.error()));
    if (!isSelectable(requirement->field, type))
      return tl::unexpected(unsupportedField(requirement->field, type));
    selector.requirements.push_back(std::move(*requirement));
  }
  return selector;
}

std::string toString(const FieldSelector& selector) {
  std::string text;
  for (const FieldRequirement& requirement : selector.requirements) {
    if (!text.empty()) text += ',';
    text += requirement.field + (requirement.equal ? "=" : "!=");
    for (const char c : requirement.value) {
      if (c == '\\' || c == ',' || c == '=') text += '\\';
      text += c;
    }
  }
  return text;
}

bool matches(const FieldSelector& selector, const Json& object) {
  return std::ranges::all_of(selector.requirements, [&object](const FieldRequirement& requirement) {
    return fieldEquals(object, requirement) == requirement.equal;
  });
}

ApiResult<kube::LabelSelector> parseLabelSelector(std::string_view text) {
  auto selector = kube::parseSelector(text);
  if (!selector)
    return tl::unexpected(badRequest("unable to parse requirement: " + selector.error().message));
  return std::move(*selector);
}

bool matches(const kube::LabelSelector& selector, const Json& object) {
  if (selector.requirements.empty()) return true;
  kube::Labels named;
  if (const Json* labels = at(object, {"metadata", "labels"})) {
    for (const kube::SelectorRequirement& requirement : selector.requirements) {
      const Json* value = at(*labels, {requirement.key});
      if (value != nullptr && value->is_string())
        named.emplace(requirement.key, value->get_ref<const std::string&>());
    }
  }
  return selector.matches(named);
}

namespace {

constexpr std::string_view kTokenVersion = kube::kMetaApiVersion;
constexpr size_t kLongestToken = 4096;  // names are at most 253 bytes
// Tokens are written with the alphabet for URLs and without padding.
std::string toBase64Url(std::string_view bytes) {
  std::string text = kube::toBase64(bytes);
  text.resize(text.find_last_not_of('=') + 1);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  return text;
}

// Fails with the offset of what is no Base64.
tl::expected<std::string, size_t> fromBase64Url(std::string_view text) {
  const size_t odd = text.find_first_of("+/=\r\n");
  if (odd != std::string_view::npos) return tl::unexpected(odd);
  std::string padded(text);
  padded.append((4 - text.size() % 4) % 4, '=');
  std::ranges::replace(padded, '-', '+');
  std::ranges::replace(padded, '_', '/');
  auto bytes = kube::fromBase64(padded);
  if (!bytes) return tl::unexpected(text.size());
  return std::move(*bytes);
}

ApiError badToken(const std::string& why) {
  return badRequest("invalid continue token: continue key is not valid: " + why);
}

}  // namespace

std::string toString(const ContinueToken& token) {
  // The key order and the NUL, written as an escape, are the recorded ones. Json's keys are sorted.
  const std::string start = Json(token.lastName).dump(-1, ' ', false, Json::error_handler_t::replace);
  return toBase64Url("{\"v\":\"" + std::string(kTokenVersion) +
                     "\",\"rv\":" + std::to_string(token.resourceVersion) +
                     ",\"start\":" + start.substr(0, start.size() - 1) + "\\u0000\"}");
}

ApiResult<ContinueToken> parseContinueToken(std::string_view text) {
  if (text.size() > kLongestToken) return tl::unexpected(badToken("it is too long"));
  const auto bytes = fromBase64Url(text);
  if (!bytes)
    return tl::unexpected(badToken("illegal base64 data at input byte " + std::to_string(bytes.error())));
  const auto json = parseJsonText(*bytes);
  if (!json) return tl::unexpected(badToken(json.error()));
  if (stringAt(*json, {"v"}) != kTokenVersion)
    return tl::unexpected(badToken("server does not recognize this encoded version"));
  const Json* version = at(*json, {"rv"});
  ContinueToken token;
  if (version != nullptr && version->is_number_unsigned()) token.resourceVersion = version->get<uint64_t>();
  if (token.resourceVersion == 0)
    return tl::unexpected(badToken("incorrect encoded start resourceVersion (version meta.k8s.io/v1)"));
  std::string_view start = stringAt(*json, {"start"});
  if (start.ends_with('\0')) start.remove_suffix(1);
  if (start.empty()) return tl::unexpected(badToken("encoded start key empty (version meta.k8s.io/v1)"));
  token.lastName = start;
  return token;
}

bool ListSelection::contains(const StoredRecord& record) const {
  if (!namespaceName.empty() && record.key().namespaceName != namespaceName) return false;
  return matches(labels, record.object()) && matches(fields, record.object());
}

ApiResult<ListSelection> selectionOf(const kube::GroupResource& type, const Target& target,
                                     const ListOptions& options) {
  ListSelection selection;
  selection.type = type;
  selection.namespaceName = target.namespaceName;
  auto labels = parseLabelSelector(options.labelSelector);
  if (!labels) return tl::unexpected(std::move(labels.error()));
  selection.labels = std::move(*labels);
  auto fields = parseFieldSelector(options.fieldSelector, type);
  if (!fields) return tl::unexpected(std::move(fields.error()));
  selection.fields = std::move(*fields);
  if (!target.name.empty()) selection.fields.requirements.push_back({"metadata.name", target.name, true});
  return selection;
}

}  // namespace lastout::simulator
