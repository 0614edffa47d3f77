#include "simulator/name_words.h"

#include "kube/names.h"
#include "kube/well_known.h"

namespace lastout::simulator {
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

bool isRbac(const kube::GroupResource& type) {
  return type.group == kube::kRbacGroup || type.group == kube::kApiRegistrationGroup;
}

Problems pathSegmentProblems(std::string_view name) {
  if (name == "." || name == "..") return {"may not be '" + std::string(name) + "'"};
  Problems problems;
  for (const std::string_view taboo : {"/", "%"}) {
    if (name.find(taboo) != std::string_view::npos)
      problems.push_back("may not contain '" + std::string(taboo) + "'");
  }
  if (problems.empty() && !kube::isPathSegment(name)) problems.push_back(noMoreThan(kube::kLongestName));
  return problems;
}

}  // namespace

Problems subdomainProblems(std::string_view name) {
  return lengthAndForm(name, kube::kLongestName, kube::isDnsSubdomain, kSubdomain);
}

Problems serviceNameProblems(std::string_view name) {
  return lengthAndForm(name, kube::kLongestDnsLabel, kube::isServiceName, kService);
}

Problems nameProblems(const kube::GroupResource& type, std::string_view name) {
  if (isRbac(type)) return pathSegmentProblems(name);
  if (type == kube::kServices) return serviceNameProblems(name);
  if (type == kube::kNamespaces) return lengthAndForm(name, kube::kLongestDnsLabel, kube::isDnsLabel, kLabel);
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

}  // namespace lastout::simulator
