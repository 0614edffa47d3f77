#include "simulator/field_error.h"

#include <algorithm>
#include <cstdint>

#include "kube/names.h"
#include "kube/well_known.h"
#include "simulator/served_type.h"

namespace lastout::simulator {
namespace {

constexpr size_t kLongestQuote = 1000;  // bytes

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string shortened(std::string text) {
  if (text.size() <= kLongestQuote) return text;
  size_t end = kLongestQuote;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) --end;  // whole characters
  return text.substr(0, end) + "...";
}

// How the API server, a Go program, prints a value that is no string and no number.
std::string inGo(const Json& value) {
  if (value.is_null()) return "interface {}(nil)";
  if (!value.is_structured()) return dumped(value);
  std::string text = value.is_object() ? "map[string]interface {}{" : "[]interface {}{";
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (text.size() > kLongestQuote) break;
    text += first ? "" : ", ";
    if (value.is_object()) text += goQuoted(key) + ":";
    text += inGo(item);
    first = false;
  }
  return text + "}";
}

std::string withValue(std::string_view what, const Json& value) {
  return std::string(what) + ": " + (value.is_null() ? "\"null\"" : shortened(inGo(value)));
}

}  // namespace

std::string_view goKind(const Json& value) {
  if (value.is_string()) return "string";
  if (value.is_boolean()) return "bool";
  if (value.is_array()) return "array";
  return value.is_object() ? "object" : "number";
}

ApiError undecodable(std::string_view kind, std::string_view version, std::string_view found,
                     std::string_view field, std::string_view wanted) {
  const std::string what(kind);
  return badRequest(what + " in version \"" + std::string(version) + "\" cannot be handled as a " + what +
                    ": json: cannot unmarshal " + std::string(found) + " into Go struct field " +
                    std::string(field) + " of type " + std::string(wanted));
}

std::string goQuoted(std::string_view text) { return dumped(Json(std::string(text))); }

StatusCause requiredField(std::string field, std::string_view why) {
  return {"FieldValueRequired", "Required value" + (why.empty() ? "" : ": " + std::string(why)),
          std::move(field)};
}

StatusCause invalidField(std::string field, const Json& value, std::string_view why) {
  return {"FieldValueInvalid", withValue("Invalid value", value) + ": " + std::string(why), std::move(field)};
}

StatusCause wrongType(std::string field, const Json& value, std::string_view why) {
  return {"FieldValueTypeInvalid", withValue("Invalid value", value) + ": " + std::string(why),
          std::move(field)};
}

StatusCause notSupported(std::string field, const Json& value, const std::vector<std::string>& supported) {
  std::string list;
  for (const std::string& one : supported) list += (list.empty() ? "" : ", ") + goQuoted(one);
  return {"FieldValueNotSupported", withValue("Unsupported value", value) + ": supported values: " + list,
          std::move(field)};
}

StatusCause forbiddenField(std::string field, std::string_view why) {
  return {"FieldValueForbidden", "Forbidden: " + std::string(why), std::move(field)};
}

StatusCause duplicateField(std::string field, const Json& value) {
  return {"FieldValueDuplicate", withValue("Duplicate value", value), std::move(field)};
}

StatusCause tooLong(std::string field, std::string_view why) {
  return {"FieldValueTooLong", "Too long: " + std::string(why), std::move(field)};
}

StatusCause tooMany(std::string field, size_t count, int64_t most) {
  return {"FieldValueTooMany",
          "Too many: " + std::to_string(count) + ": must have at most " + std::to_string(most) + " items",
          std::move(field)};
}

namespace {

using Problems = std::vector<std::string>;

constexpr std::string_view kSubdomain =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "
    "start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabel =
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start "
    "and end with "
    "an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kService =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic "
    "character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";
constexpr std::string_view kQualifiedNamePart =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
    "character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValue =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must "
    "start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for "
    "validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";

std::string noMoreThan(size_t most) { return "must be no more than " + std::to_string(most) + " characters"; }

// The length and the form of `text` have a sentence each.
Problems lengthAndForm(std::string_view text, size_t longest, bool (*isGood)(std::string_view),
                       std::string_view form) {
  Problems problems;
  if (text.size() > longest) problems.push_back(noMoreThan(longest));
  if (!isGood(text.substr(0, longest))) problems.emplace_back(form);
  return problems;
}

}  // namespace

Problems pathSegmentProblems(std::string_view name) {
  if (name == "." || name == "..") return {"may not be '" + std::string(name) + "'"};
  Problems problems;
  for (const std::string_view taboo : {"/", "%"}) {
    if (name.find(taboo) != std::string_view::npos)
      problems.push_back("may not contain '" + std::string(taboo) + "'");
  }
  return problems;
}

Problems subdomainProblems(std::string_view name) {
  return lengthAndForm(name, kube::kLongestName, kube::isDnsSubdomain, kSubdomain);
}

Problems dnsLabelProblems(std::string_view name) {
  return lengthAndForm(name, kube::kLongestDnsLabel, kube::isDnsLabel, kLabel);
}

Problems dns1035LabelProblems(std::string_view name) {
  return lengthAndForm(name, kube::kLongestDnsLabel, kube::isDns1035Label, kService);
}

Problems nameProblems(const ServedType& type, std::string_view name) {
  if (kube::takesAnyPathSegment(type.type)) return pathSegmentProblems(name);
  if (type.type == kube::kServices && !type.relaxesServiceNames) return dns1035LabelProblems(name);
  if (type.type == kube::kNamespaces || type.relaxesServiceNames) return dnsLabelProblems(name);
  return subdomainProblems(name);
}

Problems qualifiedNameProblems(std::string_view text) {
  Problems problems;
  std::string_view name = text;
  if (const size_t slash = text.find('/'); slash != std::string_view::npos) {
    const std::string_view prefix = text.substr(0, slash);
    name = text.substr(slash + 1);
    if (name.find('/') != std::string_view::npos) {
      return {"a qualified name " + std::string(kQualifiedNamePart) +
              " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
    }
    if (prefix.empty()) problems.emplace_back("prefix part must be non-empty");
    if (!prefix.empty()) {
      for (const std::string& problem : subdomainProblems(prefix))
        problems.push_back("prefix part " + problem);
    }
  }
  if (name.empty()) problems.emplace_back("name part must be non-empty");
  if (name.size() > kube::kLongestDnsLabel)
    problems.push_back("name part " + noMoreThan(kube::kLongestDnsLabel));
  const std::string_view start = name.substr(0, kube::kLongestDnsLabel);
  if (start.empty() || !kube::isLabelValue(start))
    problems.push_back("name part " + std::string(kQualifiedNamePart));
  return problems;
}

Problems labelValueProblems(std::string_view value) {
  return lengthAndForm(value, kube::kLongestDnsLabel, kube::isLabelValue, kLabelValue);
}

void addLabelProblems(const std::string& path, const Json& labels, std::vector<StatusCause>& causes) {
  if (!labels.is_object()) return;
  for (const auto& [key, value] : labels.items()) {
    for (const std::string& problem : qualifiedNameProblems(key))
      causes.push_back(invalidField(path, key, problem));
    if (!value.is_string()) continue;
    for (const std::string& problem : labelValueProblems(value.get_ref<const std::string&>()))
      causes.push_back(invalidField(path, value, problem));
  }
}

namespace {

void addRequirementProblems(const std::string& path, const Json& requirement,
                            std::vector<StatusCause>& causes) {
  const std::string_view how = stringAt(requirement, {"operator"});
  const Json* values = at(requirement, {"values"});
  const bool hasValues = values != nullptr && values->is_array() && !values->empty();
  if (how == "In" || how == "NotIn") {
    if (!hasValues)
      causes.push_back(
          requiredField(path + ".values", "must be specified when `operator` is 'In' or 'NotIn'"));
  } else if (how != "Exists" && how != "DoesNotExist") {
    causes.push_back(invalidField(path + ".operator", how, "not a valid selector operator"));
  } else if (hasValues) {
    causes.push_back(forbiddenField(path + ".values",
                                    "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
  }
  for (const std::string& problem : qualifiedNameProblems(stringAt(requirement, {"key"})))
    causes.push_back(invalidField(path + ".key", stringAt(requirement, {"key"}), problem));
  for (size_t i = 0; hasValues && i < values->size(); ++i)
    for (const std::string& problem : labelValueProblems(stringAt((*values)[i], {})))
      causes.push_back(invalidField(path + ".values[" + std::to_string(i) + "]", (*values)[i], problem));
}

}  // namespace

void addSelectorProblems(const std::string& path, const Json& selector, std::vector<StatusCause>& causes) {
  if (const Json* labels = at(selector, {"matchLabels"}))
    addLabelProblems(path + ".matchLabels", *labels, causes);
  const Json* requirements = at(selector, {"matchExpressions"});
  if (requirements == nullptr || !requirements->is_array()) return;
  for (size_t i = 0; i < requirements->size(); ++i)
    addRequirementProblems(path + ".matchExpressions[" + std::to_string(i) + "]", (*requirements)[i], causes);
}

}  // namespace lastout::simulator
