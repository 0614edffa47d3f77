#include "client/discovery.h"

#include <algorithm>
#include <utility>

#include "client/api_server.h"
#include "client/value_picker.h"
#include "kube/messages.h"
#include "kube/names.h"
#include "kube/patterns.h"
#include "kube/value.h"

namespace lastout::client {
namespace {

constexpr size_t kMostGroupVersions = 4'096;
constexpr size_t kMostTypes = 65'536;
constexpr size_t kMostShortNames = 16;

kube::Error discoveryError(std::string message) { return {std::move(message), {}, {}}; }

std::vector<std::string> wordsIn(const kube::Value& map, std::string_view key) {
  std::vector<std::string> words;
  const kube::Value* value = map.find(key);
  if (value == nullptr || value->asList() == nullptr) return words;
  for (const kube::Value& item : *value->asList()) {
    if (item.asString() != nullptr) words.push_back(*item.asString());
  }
  return words;
}

struct NotFetched {
  std::string why;
  bool isNotFound = false;
};

// An object of one of these kinds, at a path.
tl::expected<kube::Value, NotFetched> fetchKind(ApiServer& server, const std::string& path,
                                                std::string_view kind) {
  ApiRequest request;
  request.target = path;
  const auto whole = fetch(server, request);
  if (!whole) return tl::unexpected(NotFetched{whole.error().message});
  if (whole->answer.status != 200)
    return tl::unexpected(
        NotFetched{path + " answers " + toString(statusOfAnswer(*whole)), whole->answer.status == 404});
  auto value = pickValue(whole->body, Pick::All, {});
  if (!value) return tl::unexpected(NotFetched{path + " answers " + value.error().message});
  if (const std::string& found = kube::textAt(*value, {"kind"}); found != kind) {
    return tl::unexpected(
        NotFetched{path + " answers the kind " + kube::inQuotes(found) + ", not " + std::string(kind)});
  }
  return std::move(*value);
}

// One group ("" is the core) and its versions, the preferred one first.
struct FoundGroup {
  std::string name;
  std::vector<std::string> versions;
};

kube::Result<FoundGroup> coreGroup(ApiServer& server) {
  const auto answer = fetchKind(server, "/api", "APIVersions");
  if (!answer) return tl::unexpected(discoveryError(answer.error().why));
  return FoundGroup{"", wordsIn(*answer, "versions")};
}

FoundGroup groupIn(const kube::Value& item) {
  FoundGroup group;
  group.name = kube::textAt(item, {"name"});
  const std::string& first = kube::textAt(item, {"preferredVersion", "version"});
  const kube::Value* versions = item.find("versions");
  if (versions == nullptr || versions->asList() == nullptr) return group;
  for (const kube::Value& version : *versions->asList()) {
    std::string word = kube::textAt(version, {"version"});
    const auto place = word == first ? group.versions.begin() : group.versions.end();
    group.versions.insert(place, std::move(word));
  }
  return group;
}

class Discoverer {
 public:
  // nullptr: nothing is known yet.
  Discoverer(ApiServer& server, const Discovery* before, const std::set<std::string>& groups)
      : server_(server), before_(before), groups_(groups) {
    result_.types = kube::ResourceMap::builtIn();
  }

  kube::Result<Discovery> run() {
    auto core = coreGroup(server_);
    if (!core) return tl::unexpected(std::move(core.error()));
    const auto groups = fetchKind(server_, "/apis", "APIGroupList");
    if (!groups) return tl::unexpected(discoveryError(groups.error().why));
    readGroup(*core);
    const kube::Value* list = groups->find("groups");
    if (list == nullptr || list->asList() == nullptr)
      return tl::unexpected(discoveryError("/apis answers no list of groups"));
    for (const kube::Value& item : *list->asList()) {
      FoundGroup group = groupIn(item);
      if (kube::isDnsSubdomain(group.name)) {
        readGroup(group);
      } else {
        gap(group.name, "", "that is no name of a group");
      }
    }
    return finished();
  }

 private:
  void gap(std::string_view group, std::string_view version, std::string why, bool isNotFound = false) {
    result_.gaps.push_back({std::string(group), std::string(version), std::move(why), isNotFound});
  }

  bool isKnown(const FoundGroup& group) const {
    if (before_ == nullptr || groups_.contains(group.name) || before_->gapIn(group.name)) return false;
    const auto found = before_->versions.find(group.name);
    return found != before_->versions.end() && found->second == group.versions;
  }

  void takeOver(const std::string& group) {
    for (auto each = before_->served.lower_bound({group, ""});
         each != before_->served.end() && each->first.group == group; ++each) {
      result_.served.insert(*each);
      add(each->second);
    }
  }

  // What can only be created, as reviews are, are no objects that a person names.
  void add(const DiscoveredType& served) {
    if (served.canGet || served.canList) result_.types.add(served.type);
  }

  void readGroup(const FoundGroup& group) {
    result_.versions[group.name] = group.versions;
    if (isKnown(group)) return takeOver(group.name);
    if (group.versions.empty()) gap(group.name, "", "it has no versions");
    for (const std::string& version : group.versions) {
      if (!kube::isDnsLabel(version)) {
        gap(group.name, "", kube::inQuotes(version) + " is no version");
      } else if (++asked_ > kMostGroupVersions) {
        gap(group.name, version, "there are too many groups");
      } else {
        readVersion(group.name, version);
      }
    }
  }

  void readVersion(const std::string& group, const std::string& version) {
    const std::string path = group.empty() ? "/api/" + version : "/apis/" + group + "/" + version;
    const auto answer = fetchKind(server_, path, "APIResourceList");
    if (!answer) return gap(group, version, answer.error().why, answer.error().isNotFound);
    const kube::Value* list = answer->find("resources");
    if (list != nullptr && list->isNull()) return;
    if (list == nullptr || list->asList() == nullptr) return gap(group, version, path + " has no resources");
    // Names with a slash are subresources.
    for (const kube::Value& item : *list->asList()) {
      if (kube::textAt(item, {"name"}).find('/') == std::string::npos) readType(group, version, item);
    }
  }

  void readType(const std::string& group, const std::string& version, const kube::Value& item) {
    const std::string_view name = kube::textAt(item, {"name"});
    const std::string_view kind = kube::textAt(item, {"kind"});
    const kube::Value* namespaced = item.find("namespaced");
    if (!kube::isDnsLabel(name) || !kube::isDnsLabel(kube::lowerCase(kind)) || namespaced == nullptr ||
        namespaced->asBool() == nullptr)
      return gap(group, version, "it has the resource " + kube::inQuotes(name) + " that makes no sense");
    if (result_.served.size() >= kMostTypes) return gap(group, version, "there are too many types");
    DiscoveredType& served = result_.served[{group, std::string(name)}];
    served.versions.push_back(version);
    if (served.versions.size() > 1) return;
    served.type.type = {group, std::string(name)};
    served.type.kind = kind;
    served.type.version = version;
    const std::string_view singular = kube::textAt(item, {"singularName"});
    served.type.singular = kube::isDnsLabel(singular) ? std::string(singular) : kube::lowerCase(kind);
    for (std::string& word : wordsIn(item, "shortNames")) {
      if (kube::isDnsLabel(word) && served.type.shortNames.size() < kMostShortNames)
        served.type.shortNames.push_back(std::move(word));
    }
    served.type.namespaced = *namespaced->asBool();
    const kube::ResourceType* known = result_.types.find(served.type.type);
    served.type.builtIn = known != nullptr && known->builtIn;
    const std::vector<std::string> verbs = wordsIn(item, "verbs");
    const auto can = [&verbs](std::string_view verb) {
      return std::ranges::find(verbs, verb) != verbs.end();
    };
    served.canGet = can("get");
    served.canList = can("list");
    served.canWatch = can("watch");
    add(served);
  }

  kube::Result<Discovery> finished() { return std::move(result_); }

  ApiServer& server_;
  const Discovery* before_;
  const std::set<std::string>& groups_;
  Discovery result_;
  size_t asked_ = 0;
};

}  // namespace

const DiscoveredType* Discovery::find(const kube::GroupResource& type) const {
  const auto found = served.find(type);
  return found == served.end() ? nullptr : &found->second;
}

const DiscoveryGap* Discovery::gapIn(std::string_view group) const {
  const auto found = std::ranges::find_if(
      gaps, [group](const DiscoveryGap& gap) { return kube::meansGroup(group, gap.group); });
  return found == gaps.end() ? nullptr : &*found;
}

bool Discovery::mayServeMore(std::string_view group) const {
  return std::ranges::any_of(
      gaps, [group](const DiscoveryGap& gap) { return gap.group == group && !gap.isNotFound; });
}

kube::Result<Discovery> discover(ApiServer& server) { return Discoverer(server, nullptr, {}).run(); }

kube::Result<Discovery> discoverAgain(ApiServer& server, const Discovery& before,
                                      const std::set<std::string>& groups) {
  return Discoverer(server, &before, groups).run();
}

}  // namespace lastout::client
