#include "cmd/policy_sources.h"

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "cmd/commands.h"
#include "cmd/paths.h"
#include "kube/messages.h"
#include "kube/parse.h"
#include "kube/yaml_text.h"
#include "protection/profiles.h"

namespace lastout::cmd {
namespace {

using SourceResult = tl::expected<PolicySource, kube::Errors>;
using CrdTypes = std::map<std::string, kube::GroupResource>;

constexpr const char* kBetweenDocuments = "---\n";

SourceResult sourceOf(std::string name, std::string text, std::vector<kube::Value> documents) {
  auto policies = protection::parsePolicyManifests(std::move(documents), name);
  if (!policies) return tl::unexpected(std::move(policies.error()));
  if (policies->empty())
    return tl::unexpected(kube::Errors{{"there is no DeletionPolicy in it", std::move(name), {}}});
  return PolicySource{std::move(name), std::move(text), std::move(*policies), std::nullopt};
}

SourceResult sourceOf(std::string file, const kube::Value& katalog, const CrdTypes& types) {
  auto settings = protection::parseOrkestra(katalog, file, types);
  if (!settings) return tl::unexpected(std::move(settings.error()));
  printWarnings(protection::warningsOf(*settings, file));
  std::string text;
  for (const nlohmann::ordered_json& policy : protection::policiesOf(*settings))
    text += (text.empty() ? "" : kBetweenDocuments) + kube::toYaml(policy);
  auto documents = kube::parseYaml(text, file);
  if (!documents) return tl::unexpected(kube::Errors{documents.error()});
  auto policies = protection::parsePolicyManifests(std::move(*documents), file);
  if (!policies) return tl::unexpected(std::move(policies.error()));
  return PolicySource{std::move(file), std::move(text), std::move(*policies), std::move(*settings)};
}

bool isKatalog(const std::vector<kube::Value>& documents) {
  if (documents.size() != 1) return false;
  const kube::Value* kind = documents.front().find("kind");
  const bool isPolicy =
      kind != nullptr && kind->asString() != nullptr && *kind->asString() == protection::kPolicyKind;
  return !isPolicy && protection::hasOrkestraSettings(documents.front());
}

SourceResult readPolicyFile(const std::string& file) {
  auto text = readInput(file);
  if (!text) return tl::unexpected(kube::Errors{text.error()});
  auto documents = kube::parseYaml(*text, file);
  if (!documents) return tl::unexpected(kube::Errors{documents.error()});
  if (isKatalog(*documents)) return sourceOf(file, documents->front(), {});
  return sourceOf(file, std::move(*text), std::move(*documents));
}

// Not the name of a file, by its looks.
bool looksLikeProfile(const std::string& word) {
  std::error_code unknown;
  return word.find_first_of("./") == std::string::npos && word != kStandardInput &&
         !std::filesystem::exists(word, unknown);
}

tl::expected<std::vector<PolicySource>, kube::Errors> readWord(const std::string& word) {
  const auto profile = protection::findProfile(word);
  std::vector<PolicySource> sources;
  if (profile) {
    const std::string file(profile->file);
    auto documents = kube::parseYaml(profile->text, file);
    if (!documents) return tl::unexpected(kube::Errors{documents.error()});
    auto source = sourceOf(file, std::string(profile->text), std::move(*documents));
    if (!source) return tl::unexpected(std::move(source.error()));
    source->name = word;
    sources.push_back(std::move(*source));
    return sources;
  }
  if (looksLikeProfile(word)) return tl::unexpected(kube::Errors{profile.error()});
  const auto files = expandPaths({word});
  if (!files) return tl::unexpected(kube::Errors{files.error()});
  kube::Errors errors;
  for (const std::string& file : *files) {
    auto source = readPolicyFile(file);
    if (source)
      sources.push_back(std::move(*source));
    else
      errors.insert(errors.end(), source.error().begin(), source.error().end());
  }
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  return sources;
}

void warnOf(const std::vector<PolicySource>& sources) {
  for (const PolicySource& source : sources)
    for (const protection::PolicyManifest& one : source.policies) printWarnings(protection::warningsOf(one));
}

kube::Errors namedTwice(const std::vector<PolicySource>& sources) {
  kube::Errors errors;
  std::set<std::string> names;
  for (const PolicySource& source : sources) {
    for (const protection::PolicyManifest& one : source.policies) {
      if (!names.insert(one.policy.meta.name).second)
        errors.push_back({"another policy is named " + kube::inQuotes(one.policy.meta.name) + ", too",
                          source.name, one.object.content.position});
    }
  }
  return errors;
}

}  // namespace

tl::expected<std::vector<PolicySource>, kube::Errors> readPolicySources(
    const std::vector<std::string>& words) {
  std::vector<PolicySource> sources;
  kube::Errors errors;
  for (const std::string& word : words) {
    auto read = readWord(word);
    if (!read) {
      errors.insert(errors.end(), read.error().begin(), read.error().end());
      continue;
    }
    std::move(read->begin(), read->end(), std::back_inserter(sources));
  }
  if (errors.empty()) errors = namedTwice(sources);
  if (!errors.empty()) return tl::unexpected(std::move(errors));
  warnOf(sources);
  return sources;
}

tl::expected<void, kube::Errors> setAncestorCluster(std::vector<PolicySource>& sources,
                                                    const std::string& cluster) {
  bool any = false;
  for (PolicySource& source : sources) {
    std::string text;
    for (const protection::PolicyManifest& one : source.policies) {
      nlohmann::ordered_json policy = kube::toJson(one.object.content);
      for (nlohmann::ordered_json& when : policy["spec"]["when"]) {
        if (!when.contains("ancestor")) continue;
        when["ancestor"]["cluster"] = cluster;
        any = true;
      }
      if (policy["spec"]["when"].is_null()) policy["spec"].erase("when");
      text += (text.empty() ? "" : kBetweenDocuments) + kube::toYaml(policy);
    }
    auto documents = kube::parseYaml(text, source.name);
    if (!documents) return tl::unexpected(kube::Errors{documents.error()});
    auto policies = protection::parsePolicyManifests(std::move(*documents), source.name);
    if (!policies) return tl::unexpected(std::move(policies.error()));
    source.policies = std::move(*policies);
    source.text = std::move(text);
  }
  if (any) return {};
  return tl::unexpected(
      kube::Errors{{"--ancestor-cluster: none of these policies asks for an ancestor", {}, {}}});
}

tl::expected<PolicySource, kube::Errors> readOrkestra(const std::string& file, const CrdTypes& types) {
  const auto text = readInput(file);
  if (!text) return tl::unexpected(kube::Errors{text.error()});
  const auto documents = kube::parseYaml(*text, file);
  if (!documents) return tl::unexpected(kube::Errors{documents.error()});
  if (!isKatalog(*documents))
    return tl::unexpected(
        kube::Errors{{"it has neither security.deletionProtection nor spec.crds: not the "
                      "settings of Orkestra",
                      file,
                      {}}});
  return sourceOf(file, documents->front(), types);
}

}  // namespace lastout::cmd
