#include "simulator/request.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>
#include <vector>

#include "kube/encoding.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/source_text.h"
#include "kube/well_known.h"
#include "simulator/field_error.h"

namespace lastout::simulator {
namespace {

constexpr size_t kLongestPath = 2048;
constexpr int64_t kLongestTimeout = std::numeric_limits<uint32_t>::max();  // seconds
constexpr size_t kLongestFieldManager = 128;

std::optional<std::vector<std::string>> pathParts(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() > kLongestPath) return std::nullopt;
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string> parts;
  while (true) {
    const size_t slash = path.find('/');
    std::optional<std::string> part = kube::percentDecoded(path.substr(0, slash));
    if (!part || part->empty()) return std::nullopt;
    parts.push_back(std::move(*part));
    if (slash == std::string_view::npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

std::string_view valueOf(const Query& query, std::string_view key) {
  const auto found = query.find(key);
  return found == query.end() ? std::string_view() : std::string_view(found->second);
}

// What Go's strconv.ParseInt (here: from_chars) makes of it; an empty value is no number.
template <class Number>
ApiResult<std::optional<Number>> numberOf(const Query& query, std::string_view key) {
  const auto found = query.find(key);
  if (found == query.end()) return std::nullopt;
  std::string_view text = found->second;
  if (text.size() > 1 && text.front() == '+' && text[1] != '-') text.remove_prefix(1);
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size()) return number;
  const bool tooBig = error == std::errc::result_out_of_range && end == text.data() + text.size();
  return tl::unexpected(badRequest("strconv.ParseInt: parsing " + kube::inQuotes(found->second) +
                                   (tooBig ? ": value out of range" : ": invalid syntax")));
}

// As the API server reads a flag, and not as Go does: what is there and not false is true, also without a
// value ("True" is Python's word).
bool isFlagSet(const Query& query, std::string_view key) {
  const auto found = query.find(key);
  return found != query.end() && found->second != "0" && kube::lowerCase(found->second) != "false";
}

// One invalid parameter of some kind of options.
ApiError invalidOption(std::string_view kind, std::string_view reason, std::string message,
                       std::string_view field) {
  return invalid(kind, kube::kMetaGroup, "", {{std::string(reason), std::move(message), std::string(field)}});
}

// "All" is the one word that there is; a dry run must not become a real one for another.
ApiResult<bool> dryRunOf(std::string_view kind, const std::vector<std::string>& words) {
  const bool isKnown = std::ranges::all_of(words, [](const std::string& word) { return word == "All"; });
  if (isKnown) return !words.empty();
  std::string listed;
  for (const std::string& word : words) listed += (listed.empty() ? "" : ", ") + kube::inQuotes(word);
  return tl::unexpected(
      invalidOption(kind, "FieldValueNotSupported",
                    "Unsupported value: []string{" + listed + "}: supported values: \"All\"", "dryRun"));
}

ApiResult<bool> dryRunOf(std::string_view kind, const Query& query) {
  const auto found = query.find("dryRun");
  return dryRunOf(kind, found == query.end() ? std::vector<std::string>() : std::vector{found->second});
}

bool isPrintable(std::string_view character) {
  const auto byte = [character](size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0) >= 0x20 && byte(0) != 0x7F;
  return character.size() != 2 || byte(0) != 0xC2 || byte(1) >= 0xA0;  // U+0080 to U+009F control, too
}

ApiResult<void> checkFieldManager(std::string_view kind, const std::string& name) {
  const auto refused = [kind](StatusCause cause) {
    return tl::unexpected(invalid(kind, kube::kMetaGroup, "", {std::move(cause)}));
  };
  if (name.size() > kLongestFieldManager)
    return refused(tooLong("fieldManager", "must have at most 128 bytes"));
  size_t length = 0;
  for (size_t i = 0; i < name.size(); i += length) {
    length = kube::utf8Length(std::string_view(name).substr(i));
    if (length == 0 || !isPrintable(std::string_view(name).substr(i, length)))
      return refused(
          invalidField("fieldManager", name, "invalid character (at position " + std::to_string(i) + ")"));
  }
  return {};
}

constexpr std::string_view kMatch = "resourceVersionMatch";

tl::unexpected<ApiError> forbiddenListOption(std::string message, std::string_view field) {
  return tl::unexpected(
      invalidOption("ListOptions", "FieldValueForbidden", "Forbidden: " + std::move(message), field));
}

ApiResult<VersionMatch> versionMatchOfWatch(const ListOptions& options, std::string_view text,
                                            kube::KubernetesVersion kubernetes) {
  if (options.initialEvents && text != "NotOlderThan")
    return forbiddenListOption("sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
                               kMatch);
  if (text.empty()) return VersionMatch::Unset;
  if (!options.initialEvents) {
    constexpr const char* kUnless = " unless sendInitialEvents is provided";
    const bool isRead = kube::readsSendInitialEvents(kubernetes);
    return forbiddenListOption(
        std::string("resourceVersionMatch is forbidden for watch") + (isRead ? kUnless : ""), kMatch);
  }
  if (!options.continueToken.empty())
    return forbiddenListOption("resourceVersionMatch is forbidden when continue is provided", kMatch);
  return VersionMatch::NotOlderThan;
}

ApiResult<VersionMatch> versionMatchOfList(const ListOptions& options, std::string_view text) {
  if (options.initialEvents)
    return forbiddenListOption("sendInitialEvents is forbidden for list", "sendInitialEvents");
  if (text.empty()) return VersionMatch::Unset;
  if (!options.resourceVersion)
    return forbiddenListOption("resourceVersionMatch is forbidden unless resourceVersion is provided",
                               kMatch);
  if (!options.continueToken.empty())
    return forbiddenListOption("resourceVersionMatch is forbidden when continue is provided", kMatch);
  if (text == "NotOlderThan") return VersionMatch::NotOlderThan;
  if (text == "Exact" && *options.resourceVersion == 0)
    return forbiddenListOption("resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"",
                               kMatch);
  if (text == "Exact") return VersionMatch::Exact;
  return tl::unexpected(invalidOption(
      "ListOptions", "FieldValueNotSupported",
      "Unsupported value: " + kube::inQuotes(text) + ": supported values: \"Exact\", \"NotOlderThan\"",
      kMatch));
}

ApiResult<cluster::PropagationPolicy> policyOf(std::string_view text) {
  if (const auto policy = cluster::propagationPolicyOf(text)) return *policy;
  return tl::unexpected(invalidOption("DeleteOptions", "FieldValueNotSupported",
                                      "Unsupported value: " + kube::inQuotes(text) +
                                          ": supported values: \"Foreground\", \"Background\", \"Orphan\", "
                                          "\"nil\"",
                                      "propagationPolicy"));
}

// What a DeleteOptions may hold, as Go's decoder tells types apart; null stands for an absent field.
struct OptionField {
  std::string_view parent;  // empty: none
  std::string_view name;
  Json::value_t form;
  std::string_view goType;
};
constexpr std::array<OptionField, 9> kDeleteFields = {{
    {"", "kind", Json::value_t::string, "string"},
    {"", "apiVersion", Json::value_t::string, "string"},
    {"", "dryRun", Json::value_t::array, "[]string"},
    {"", "gracePeriodSeconds", Json::value_t::number_integer, "int64"},
    {"", "orphanDependents", Json::value_t::boolean, "bool"},
    {"", "preconditions", Json::value_t::object, "v1.Preconditions"},
    {"", "propagationPolicy", Json::value_t::string, "v1.DeletionPropagation"},
    {"preconditions", "uid", Json::value_t::string, "types.UID"},
    {"preconditions", "resourceVersion", Json::value_t::string, "string"},
}};

ApiResult<void> checkFields(const Json& body) {
  const auto failed = [](const Json& value, const std::string& field, std::string_view goType) {
    return tl::unexpected(
        undecodable("DeleteOptions", "v1", goKind(value), "DeleteOptions." + field, goType));
  };
  for (const OptionField& field : kDeleteFields) {
    const Json* value = field.parent.empty() ? at(body, {field.name}) : at(body, {field.parent, field.name});
    if (value == nullptr || value->is_null() || value->type() == field.form) continue;
    if (field.form == Json::value_t::number_integer && value->is_number_integer()) continue;
    const std::string parent(field.parent);
    return failed(*value, (parent.empty() ? "" : parent + ".") + std::string(field.name), field.goType);
  }
  if (const Json* words = at(body, {"dryRun"}); words != nullptr && words->is_array()) {
    for (const Json& word : *words) {
      if (!word.is_string() && !word.is_null()) return failed(word, "dryRun", "string");
    }
  }
  const std::string kind(stringAt(body, {"kind"}));
  if (kind.empty() || kind == "DeleteOptions") return {};
  return tl::unexpected(badRequest(kind + " cannot be handled as a DeleteOptions: the body of a DELETE is "
                                          "nothing else"));
}

// Returns the text there; nullopt: it is absent or null.
std::optional<std::string> givenText(const Json& body, std::initializer_list<std::string_view> path) {
  const Json* found = at(body, path);
  if (found == nullptr || !found->is_string()) return std::nullopt;
  return found->get<std::string>();
}

ApiResult<void> readPolicy(const Json& body, DeleteOptions& options) {
  const auto policy = givenText(body, {"propagationPolicy"});
  const Json* orphan = at(body, {"orphanDependents"});
  const bool orphans = orphan != nullptr && orphan->is_boolean();
  if (policy && orphans) {
    return tl::unexpected(invalidOption("DeleteOptions", "FieldValueInvalid",
                                        "Invalid value: " + kube::inQuotes(*policy) +
                                            ": orphanDependents and deletionPropagation cannot be both set",
                                        "propagationPolicy"));
  }
  if (orphans)
    options.policy = *orphan ? cluster::PropagationPolicy::Orphan : cluster::PropagationPolicy::Background;
  if (!policy) return {};
  const auto read = policyOf(*policy);
  if (!read) return tl::unexpected(read.error());
  options.policy = *read;
  return {};
}

// What the body of a DELETE says, over what the query said.
ApiResult<void> readBody(const Json& body, DeleteOptions& options) {
  if (auto formed = checkFields(body); !formed) return formed;
  if (auto policy = readPolicy(body, options); !policy) return policy;
  if (const Json* grace = at(body, {"gracePeriodSeconds"}); grace != nullptr && !grace->is_null())
    options.gracePeriodSeconds = grace->get<int64_t>();
  options.uid = givenText(body, {"preconditions", "uid"});
  options.resourceVersion = givenText(body, {"preconditions", "resourceVersion"});
  const Json* words = at(body, {"dryRun"});
  if (words == nullptr || !words->is_array()) return {};
  std::vector<std::string> given;
  for (const Json& word : *words) given.push_back(word.is_string() ? word.get<std::string>() : "");
  const auto dryRun = dryRunOf("DeleteOptions", given);
  if (!dryRun) return tl::unexpected(dryRun.error());
  options.dryRun = options.dryRun || *dryRun;
  return {};
}

}  // namespace

std::optional<Target> parseTarget(std::string_view path) {
  std::optional<std::vector<std::string>> parts = pathParts(path);
  if (!parts || parts->size() < 3) return std::nullopt;
  Target target;
  size_t next = 0;
  if ((*parts)[0] == "api") {
    target.version = (*parts)[1];
    next = 2;
  } else if ((*parts)[0] == "apis" && parts->size() > 3) {
    target.group = (*parts)[1];
    target.version = (*parts)[2];
    next = 3;
  } else {
    return std::nullopt;
  }
  const auto left = [&] { return parts->size() - next; };
  const auto isOfNamespaceItself = [&] {
    const std::string& last = (*parts)[next + 2];
    return target.group.empty() && left() == 3 && (last == "status" || last == "finalize");
  };
  if ((*parts)[next] == "namespaces" && left() > 2 && !isOfNamespaceItself()) {
    target.namespaceName = (*parts)[next + 1];
    next += 2;
  }
  if (left() > 3) return std::nullopt;
  target.resource = (*parts)[next];
  if (left() > 1) target.name = (*parts)[next + 1];
  if (left() > 2) target.subresource = (*parts)[next + 2];
  return target;
}

bool asksToWatch(const Query& query) { return isFlagSet(query, "watch"); }

ApiResult<ListOptions> parseListOptions(const Query& query, kube::KubernetesVersion kubernetes) {
  ListOptions options;
  options.labelSelector = valueOf(query, "labelSelector");
  options.fieldSelector = valueOf(query, "fieldSelector");
  options.continueToken = valueOf(query, "continue");
  options.watch = asksToWatch(query);
  options.bookmarks = isFlagSet(query, "allowWatchBookmarks");
  if (kube::readsSendInitialEvents(kubernetes) && query.contains("sendInitialEvents"))
    options.initialEvents = isFlagSet(query, "sendInitialEvents");
  if (!valueOf(query, "resourceVersion").empty()) {
    const auto version = numberOf<uint64_t>(query, "resourceVersion");
    if (!version) return tl::unexpected(version.error());
    options.resourceVersion = *version;
  }
  const auto limit = numberOf<int64_t>(query, "limit");
  if (!limit) return tl::unexpected(limit.error());
  options.limit = static_cast<uint64_t>(std::max<int64_t>(limit->value_or(0), 0));
  const auto timeout = numberOf<int64_t>(query, "timeoutSeconds");
  if (!timeout) return tl::unexpected(timeout.error());
  if (timeout->value_or(0) != 0)
    options.timeout = std::chrono::seconds(std::clamp<int64_t>(**timeout, 0, kLongestTimeout));
  const std::string_view wantedMatch = valueOf(query, kMatch);
  const auto match = options.watch ? versionMatchOfWatch(options, wantedMatch, kubernetes)
                                   : versionMatchOfList(options, wantedMatch);
  if (!match) return tl::unexpected(match.error());
  options.match = *match;
  if (!options.continueToken.empty() && options.resourceVersion.value_or(0) != 0)
    return tl::unexpected(badRequest("specifying resource version is not allowed when using continue"));
  return options;
}

ApiResult<WriteOptions> parseWriteOptions(std::string_view kind, const Query& query) {
  WriteOptions options;
  const auto dryRun = dryRunOf(kind, query);
  if (!dryRun) return tl::unexpected(dryRun.error());
  options.dryRun = *dryRun;
  options.fieldManager = valueOf(query, "fieldManager");
  if (auto checked = checkFieldManager(kind, options.fieldManager); !checked)
    return tl::unexpected(std::move(checked.error()));
  options.fieldValidation = valueOf(query, "fieldValidation");
  const std::string& validation = options.fieldValidation;
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" && validation != "Strict") {
    return tl::unexpected(invalidOption(kind, "FieldValueNotSupported",
                                        "Unsupported value: " + kube::inQuotes(validation) +
                                            ": supported values: \"Ignore\", \"Strict\", \"Warn\"",
                                        "fieldValidation"));
  }
  return options;
}

ApiResult<DeleteOptions> parseDeleteOptions(const Query& query, const Json& body) {
  DeleteOptions options;
  const auto dryRun = dryRunOf("DeleteOptions", query);
  if (!dryRun) return tl::unexpected(dryRun.error());
  options.dryRun = *dryRun;
  if (query.contains("propagationPolicy")) {
    const auto policy = policyOf(valueOf(query, "propagationPolicy"));
    if (!policy) return tl::unexpected(policy.error());
    options.policy = *policy;
  }
  const auto grace = numberOf<int64_t>(query, "gracePeriodSeconds");
  if (!grace) return tl::unexpected(grace.error());
  options.gracePeriodSeconds = *grace;
  if (!body.is_null()) {
    const auto read = readBody(body, options);
    if (!read) return tl::unexpected(read.error());
  }
  if (options.gracePeriodSeconds.value_or(0) < 0) {
    return tl::unexpected(invalidOption("DeleteOptions", "FieldValueInvalid",
                                        "Invalid value: " + std::to_string(*options.gracePeriodSeconds) +
                                            ": must be greater than or equal to 0",
                                        "gracePeriodSeconds"));
  }
  return options;
}

Json WriteOptions::asGiven(std::string_view kind) const {
  Json given = {{"kind", kind}, {"apiVersion", kube::kMetaApiVersion}};
  if (dryRun) given["dryRun"] = Json::array({"All"});
  if (!fieldManager.empty()) given["fieldManager"] = fieldManager;
  if (!fieldValidation.empty()) given["fieldValidation"] = fieldValidation;
  return given;
}

Json DeleteOptions::asGiven() const {
  Json given = {{"kind", "DeleteOptions"}, {"apiVersion", kube::kMetaApiVersion}};
  if (gracePeriodSeconds) given["gracePeriodSeconds"] = *gracePeriodSeconds;
  if (uid) given["preconditions"]["uid"] = *uid;
  if (resourceVersion) given["preconditions"]["resourceVersion"] = *resourceVersion;
  if (policy) given["propagationPolicy"] = toString(*policy);
  if (dryRun) given["dryRun"] = Json::array({"All"});
  return given;
}

ApiResult<Query> parseQuery(std::string_view text) {
  auto query = kube::parseQuery(text);
  if (!query) return tl::unexpected(badRequest(query.error().message));
  return std::move(*query);
}

}  // namespace lastout::simulator
