#include "apiserver/request.h"

#include <charconv>
#include <utility>
#include <vector>

#include "kube/names.h"

namespace lastout::apiserver {
namespace {

constexpr size_t kLongestPath = 2048;

std::optional<std::string> percentDecoded(std::string_view text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const char* const end = text.data() + i + 3;
    if (std::from_chars(text.data() + i + 1, end, value, 16).ptr != end) return std::nullopt;
    result += static_cast<char>(value);
    i += 2;
  }
  return result;
}

std::optional<std::vector<std::string>> pathParts(std::string_view path) {
  if (path.empty() || path.front() != '/' || path.size() > kLongestPath) return std::nullopt;
  path.remove_prefix(1);
  if (path.ends_with('/')) path.remove_suffix(1);
  std::vector<std::string> parts;
  while (true) {
    const size_t slash = path.find('/');
    std::optional<std::string> part = percentDecoded(path.substr(0, slash));
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

template <class Number>
ApiResult<std::optional<Number>> numberOf(const Query& query, std::string_view key) {
  const std::string_view text = valueOf(query, key);
  if (text.empty()) return std::nullopt;
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return tl::unexpected(badRequest("unable to parse query parameter " + std::string(key) + ": \"" +
                                     std::string(text) + "\" is not a number that is possible here"));
  }
  return number;
}

// As the API server reads a flag, and not as Go does: what is not false is true ("True" is Python's word).
bool isTrue(std::string_view text) {
  return !text.empty() && text != "0" && kube::lowerCase(text) != "false";
}

// One invalid parameter of some kind of options.
ApiError invalidOption(std::string_view kind, std::string_view reason, std::string message,
                       std::string_view field) {
  return invalid(kind, "meta.k8s.io", "", {{std::string(reason), std::move(message), std::string(field)}});
}

ApiResult<bool> dryRunOf(std::string_view kind, std::string_view text) {
  if (text.empty()) return false;
  if (text == "All") return true;
  return tl::unexpected(invalidOption(
      kind, "FieldValueNotSupported",
      "Unsupported value: [\"" + std::string(text) + "\"]: supported values: \"All\"", "dryRun"));
}

ApiResult<VersionMatch> versionMatchOf(const ListOptions& options, std::string_view text) {
  constexpr std::string_view kField = "resourceVersionMatch";
  if (text.empty()) return VersionMatch::Unset;
  const auto refused = [&](std::string message) {
    return tl::unexpected(
        invalidOption("ListOptions", "FieldValueForbidden", "Forbidden: " + std::move(message), kField));
  };
  if (options.watch) return refused("resourceVersionMatch is forbidden for watch");
  if (!options.resourceVersion)
    return refused("resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (!options.continueToken.empty())
    return refused("resourceVersionMatch is forbidden when continue is provided");
  if (text == "NotOlderThan") return VersionMatch::NotOlderThan;
  if (text == "Exact" && *options.resourceVersion == 0)
    return refused("resourceVersionMatch \"Exact\" is forbidden for resourceVersion \"0\"");
  if (text == "Exact") return VersionMatch::Exact;
  return tl::unexpected(invalidOption(
      "ListOptions", "FieldValueNotSupported",
      "Unsupported value: \"" + std::string(text) + "\": supported values: \"Exact\", \"NotOlderThan\"",
      kField));
}

ApiResult<std::optional<cluster::PropagationPolicy>> policyOf(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text == "Background") return cluster::PropagationPolicy::Background;
  if (text == "Foreground") return cluster::PropagationPolicy::Foreground;
  if (text == "Orphan") return cluster::PropagationPolicy::Orphan;
  return tl::unexpected(invalidOption("DeleteOptions", "FieldValueNotSupported",
                                      "Unsupported value: \"" + std::string(text) +
                                          "\": supported values: \"Foreground\", \"Background\", \"Orphan\", "
                                          "\"nil\"",
                                      "propagationPolicy"));
}

std::string_view nameOf(cluster::PropagationPolicy policy) {
  switch (policy) {
    case cluster::PropagationPolicy::Background:
      return "Background";
    case cluster::PropagationPolicy::Foreground:
      return "Foreground";
    case cluster::PropagationPolicy::Orphan:
      break;
  }
  return "Orphan";
}

ApiError unreadable(std::string_view field) {
  return badRequest("the body of the request is no DeleteOptions: " + std::string(field) +
                    " has the wrong type");
}

// What the body of a DELETE says, over what the query said.
ApiResult<void> readBody(const Json& body, DeleteOptions& options) {
  const auto wrongType = [&](std::initializer_list<std::string_view> path, Json::value_t wanted) {
    const Json* found = at(body, path);
    if (found == nullptr || found->is_null() || found->type() == wanted) return false;
    return wanted != Json::value_t::number_integer || !found->is_number_integer();
  };
  for (const std::string_view field : {"kind", "apiVersion", "propagationPolicy"}) {
    if (wrongType({field}, Json::value_t::string)) return tl::unexpected(unreadable(field));
  }
  if (wrongType({"gracePeriodSeconds"}, Json::value_t::number_integer))
    return tl::unexpected(unreadable("gracePeriodSeconds"));
  if (wrongType({"orphanDependents"}, Json::value_t::boolean))
    return tl::unexpected(unreadable("orphanDependents"));
  for (const std::string_view field : {"uid", "resourceVersion"}) {
    if (wrongType({"preconditions", field}, Json::value_t::string))
      return tl::unexpected(unreadable("preconditions"));
  }
  if (const std::string_view text = stringAt(body, {"propagationPolicy"}); !text.empty()) {
    auto policy = policyOf(text);
    if (!policy) return tl::unexpected(std::move(policy.error()));
    options.policy = *policy;
  }
  if (const Json* orphan = at(body, {"orphanDependents"}); orphan != nullptr && orphan->is_boolean())
    options.policy = *orphan ? cluster::PropagationPolicy::Orphan : cluster::PropagationPolicy::Background;
  if (const Json* grace = at(body, {"gracePeriodSeconds"}); grace != nullptr && grace->is_number_integer())
    options.gracePeriodSeconds = grace->get<int64_t>();
  if (at(body, {"preconditions", "uid"}) != nullptr) options.uid = stringAt(body, {"preconditions", "uid"});
  if (at(body, {"preconditions", "resourceVersion"}) != nullptr)
    options.resourceVersion = stringAt(body, {"preconditions", "resourceVersion"});
  const Json* dryRun = at(body, {"dryRun"});
  if (dryRun == nullptr || !dryRun->is_array() || dryRun->empty()) return {};
  const auto dry =
      dryRunOf("DeleteOptions", (*dryRun)[0].is_string() ? (*dryRun)[0].get<std::string>() : "?");
  if (!dry) return tl::unexpected(dry.error());
  options.dryRun = true;
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

ApiResult<ListOptions> parseListOptions(const Query& query) {
  ListOptions options;
  options.labelSelector = valueOf(query, "labelSelector");
  options.fieldSelector = valueOf(query, "fieldSelector");
  options.continueToken = valueOf(query, "continue");
  options.watch = isTrue(valueOf(query, "watch"));
  options.bookmarks = isTrue(valueOf(query, "allowWatchBookmarks"));
  const auto version = numberOf<uint64_t>(query, "resourceVersion");
  if (!version) return tl::unexpected(version.error());
  options.resourceVersion = *version;
  const auto limit = numberOf<uint64_t>(query, "limit");
  if (!limit) return tl::unexpected(limit.error());
  options.limit = limit->value_or(0);
  const auto timeout = numberOf<uint32_t>(query, "timeoutSeconds");
  if (!timeout) return tl::unexpected(timeout.error());
  if (timeout->value_or(0) != 0) options.timeout = std::chrono::seconds(**timeout);
  const auto match = versionMatchOf(options, valueOf(query, "resourceVersionMatch"));
  if (!match) return tl::unexpected(match.error());
  options.match = *match;
  if (!options.continueToken.empty() && options.resourceVersion.value_or(0) != 0)
    return tl::unexpected(badRequest("specifying resource version is not allowed when using continue"));
  return options;
}

ApiResult<WriteOptions> parseWriteOptions(const Query& query) {
  WriteOptions options;
  const auto dryRun = dryRunOf("CreateOptions", valueOf(query, "dryRun"));
  if (!dryRun) return tl::unexpected(dryRun.error());
  options.dryRun = *dryRun;
  options.fieldManager = valueOf(query, "fieldManager");
  options.force = isTrue(valueOf(query, "force"));
  options.fieldValidation = valueOf(query, "fieldValidation");
  const std::string& validation = options.fieldValidation;
  if (!validation.empty() && validation != "Ignore" && validation != "Warn" && validation != "Strict") {
    return tl::unexpected(invalidOption(
        "CreateOptions", "FieldValueNotSupported",
        "Unsupported value: \"" + validation + "\": supported values: \"Ignore\", \"Strict\", \"Warn\"",
        "fieldValidation"));
  }
  return options;
}

ApiResult<DeleteOptions> parseDeleteOptions(const Query& query, const Json& body) {
  DeleteOptions options;
  const auto dryRun = dryRunOf("DeleteOptions", valueOf(query, "dryRun"));
  if (!dryRun) return tl::unexpected(dryRun.error());
  options.dryRun = *dryRun;
  const auto policy = policyOf(valueOf(query, "propagationPolicy"));
  if (!policy) return tl::unexpected(policy.error());
  options.policy = *policy;
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
  Json given = {{"kind", kind}, {"apiVersion", "meta.k8s.io/v1"}};
  if (dryRun) given["dryRun"] = Json::array({"All"});
  if (!fieldManager.empty()) given["fieldManager"] = fieldManager;
  if (!fieldValidation.empty()) given["fieldValidation"] = fieldValidation;
  return given;
}

Json DeleteOptions::asGiven() const {
  Json given = {{"kind", "DeleteOptions"}, {"apiVersion", "meta.k8s.io/v1"}};
  if (gracePeriodSeconds) given["gracePeriodSeconds"] = *gracePeriodSeconds;
  if (uid) given["preconditions"]["uid"] = *uid;
  if (resourceVersion) given["preconditions"]["resourceVersion"] = *resourceVersion;
  if (policy) given["propagationPolicy"] = nameOf(*policy);
  if (dryRun) given["dryRun"] = Json::array({"All"});
  return given;
}

}  // namespace lastout::apiserver
