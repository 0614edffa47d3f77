#include "protection/profiles.h"

#include <algorithm>
#include <utility>

#include "kube/messages.h"
#include "kube/parse.h"

namespace lastout::protection {
namespace {

Profile profileOf(const kube::CompiledText& compiled) {
  std::string_view name = compiled.file;
  name.remove_prefix(name.rfind('/') + 1);
  name.remove_suffix(name.size() - name.rfind('.'));
  std::string_view summary = compiled.text.substr(0, compiled.text.find('\n'));
  summary.remove_prefix(std::min(summary.find_first_not_of("# "), summary.size()));
  return {name, compiled.file, compiled.text, summary};
}

}  // namespace

std::vector<Profile> profiles() {
  std::vector<Profile> all;
  for (const kube::CompiledText& one : profileTexts()) all.push_back(profileOf(one));
  return all;
}

kube::Result<Profile> findProfile(std::string_view name) {
  std::vector<std::string_view> names;
  std::string listed;
  for (const Profile& one : profiles()) {
    if (one.name == name) return one;
    names.push_back(one.name);
    listed += (listed.empty() ? "" : ", ") + std::string(one.name);
  }
  const std::string near = kube::didYouMean(name, names);
  return tl::unexpected(kube::Error{
      "there is no profile " + kube::inQuotes(name) + (near.empty() ? "; there are " + listed : near),
      {},
      {}});
}

tl::expected<std::vector<PolicyManifest>, kube::Errors> profileManifests(std::string_view name) {
  const auto profile = findProfile(name);
  if (!profile) return tl::unexpected(kube::Errors{profile.error()});
  auto documents = kube::parseYaml(profile->text, std::string(profile->file));
  if (!documents) return tl::unexpected(kube::Errors{documents.error()});
  return parsePolicyManifests(std::move(*documents), profile->file);
}

tl::expected<std::vector<DeletionPolicy>, kube::Errors> parseProfile(std::string_view name) {
  const auto profile = findProfile(name);
  if (!profile) return tl::unexpected(kube::Errors{profile.error()});
  return parsePolicies(profile->text, profile->file);
}

}  // namespace lastout::protection
