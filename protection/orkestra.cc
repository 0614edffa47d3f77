#include "protection/orkestra.h"

#include <algorithm>
#include <compare>
#include <nlohmann/json.hpp>
#include <utility>

#include "kube/fields.h"
#include "kube/messages.h"
#include "kube/object.h"
#include "kube/parse.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "protection/profiles.h"

namespace lastout::protection {
namespace {

using kube::OrderedJson;

constexpr std::string_view kBlock = "deletionProtection";
constexpr size_t kMostCrds = 1'024;
constexpr size_t kMostInSelection = 64;  // types, or names, of one selection in a policy

constexpr const char* kProtectionLabel = "orkestra.io/deletion-protection";
constexpr const char* kExemptionLabel = "orkestra.io/strict-mode-exempt";
constexpr const char* kUntilRepaired = "30s";
constexpr const char* kCrdMessage =
    "[{kind} \"{name}\"] deletion is blocked by Orkestra deletion protection.\n\n"
    "To unprotect this resource:\n"
    "- Opt out in the katalog using: '<crd>.deletionProtection.protectCRD: false'";

// Reads one document; errors gather in errors_.
class KatalogReader {
 public:
  KatalogReader(std::string_view file, const std::map<std::string, kube::GroupResource>& types)
      : file_(file), types_(types) {}

  tl::expected<OrkestraSettings, kube::Errors> read(const kube::Value& document);

 private:
  void refuseNewerPlace(const kube::Value& map, const std::string& path);
  void readSecurity(const kube::Value& security, const std::string& path);
  void readCrd(const kube::Member& member);
  void readType(const kube::Value& entry, OrkestraCrd& crd) const;
  void tellMisspelt(const kube::Value& map, const std::string& path);

  std::string_view file_;
  const std::map<std::string, kube::GroupResource>& types_;
  kube::Errors errors_;
  OrkestraSettings settings_;
};

tl::expected<OrkestraSettings, kube::Errors> KatalogReader::read(const kube::Value& document) {
  const kube::Value* atTop = document.find("security");
  const kube::Value* inSpec = document.at({"spec", "security"});
  refuseNewerPlace(document, "");
  if (const kube::Value* spec = document.find("spec")) refuseNewerPlace(*spec, "spec.");
  if (atTop != nullptr && inSpec != nullptr)
    errors_.push_back(
        {"security and spec.security are both there: keep one", std::string(file_), inSpec->position});
  else if (atTop != nullptr || inSpec != nullptr)
    readSecurity(atTop != nullptr ? *atTop : *inSpec, atTop != nullptr ? "security" : "spec.security");
  const kube::Value* crds = document.at({"spec", "crds"});
  const auto* map = crds == nullptr ? nullptr : crds->asMap();
  if (crds != nullptr && !crds->isNull() && map == nullptr)
    errors_.push_back({"spec.crds must be a map of CRDs by name, not " + std::string(kube::kindName(*crds)),
                       std::string(file_), crds->position});
  if (map != nullptr && map->size() > kMostCrds)
    errors_.push_back({"spec.crds has " + std::to_string(map->size()) + " entries; " +
                           std::to_string(kMostCrds) + " are the most",
                       std::string(file_), crds->position});
  else if (map != nullptr)
    for (const kube::Member& member : *map) readCrd(member);
  for (const auto& [name, type] : types_) {
    if (std::none_of(settings_.crds.begin(), settings_.crds.end(),
                     [&named = name](const OrkestraCrd& crd) { return crd.name == named; }))
      errors_.push_back({"--crd: spec.crds has no " + kube::inQuotes(name), std::string(file_), {}});
  }
  if (!errors_.empty()) return tl::unexpected(std::move(errors_));
  return std::move(settings_);
}

void KatalogReader::refuseNewerPlace(const kube::Value& map, const std::string& path) {
  const kube::Value* runtime = map.at({"operatorBox", "runtime"});
  if (runtime == nullptr) return;
  errors_.push_back({path + "operatorBox.runtime is where newer releases of Orkestra have security and crds; "
                            "it is not read: move them to security and spec.crds",
                     std::string(file_), runtime->position});
}

void KatalogReader::tellMisspelt(const kube::Value& map, const std::string& path) {
  if (map.asMap() == nullptr) return;
  for (const kube::Member& member : *map.asMap()) {
    if (member.key == kBlock || kube::nearest(member.key, {kBlock}).empty()) continue;
    errors_.push_back({path + "." + kube::inQuotes(member.key) + " is no known field" +
                           kube::didYouMean(member.key, {kBlock}),
                       std::string(file_), member.keyPosition});
  }
}

// A block without `enabled` is one that is on.
void KatalogReader::readSecurity(const kube::Value& security, const std::string& path) {
  tellMisspelt(security, path);
  kube::Fields all(security, file_, path, errors_);
  std::optional<kube::Fields> block = all.fields(kBlock);
  if (!block) return;
  settings_.isEnabled = block->boolean("enabled").value_or(true);
  settings_.isStrict = block->boolean("strictMode").value_or(false);
  settings_.failsClosed = block->oneOf("failurePolicy", {"Fail", "Ignore"}).value_or("Fail") == "Fail";
  settings_.cleansUpOnShutdown = block->boolean("cleanupOnShutdown").value_or(false);
  block->finish();
}

// The global switch counts first: strict mode that is off for all is not on for one.
void KatalogReader::readCrd(const kube::Member& member) {
  OrkestraCrd crd;
  crd.name = member.key;
  crd.isStrict = settings_.isStrict;
  crd.position = member.keyPosition;
  readType(member.value, crd);
  const std::string path = "spec.crds." + kube::printable(member.key);
  if (!member.value.isNull()) {
    tellMisspelt(member.value, path);
    kube::Fields entry(member.value, file_, path, errors_);
    if (std::optional<kube::Fields> block = entry.fields(kBlock)) {
      crd.protectsCrd = block->boolean("protectCRD").value_or(true);
      crd.protectsInstances = block->boolean("protectCRs").value_or(true);
      const bool wantsStrict = block->boolean("strictMode").value_or(true);
      crd.isStrict = settings_.isStrict && wantsStrict;
      block->finish();
    }
  }
  settings_.crds.push_back(std::move(crd));
}

// apiTypes, or the entry itself, says group and plural; an apiVersion has the group, too.
void KatalogReader::readType(const kube::Value& entry, OrkestraCrd& crd) const {
  if (const auto given = types_.find(crd.name); given != types_.end()) {
    crd.type = given->second;
    return;
  }
  const kube::Value* types = entry.find("apiTypes");
  const kube::Value& from = types == nullptr ? entry : *types;
  const auto text = [&from](std::string_view key) { return kube::textAt(from, {key}); };
  kube::GroupResource type{text("group"), text("plural")};
  if (type.group.empty()) type.group = kube::groupOf(text("apiVersion"));
  if (type.group.empty()) crd.missing = "apiTypes.group";
  if (type.resource.empty())
    crd.missing += (crd.missing.empty() ? "" : " and ") + std::string("apiTypes.plural");
  if (crd.missing.empty()) crd.type = std::move(type);
}

std::string nameOfCrd(const kube::GroupResource& type) { return type.resource + "." + type.group; }

// Selections of at most so many types or names each.
template <class Make>
OrderedJson selectionsOf(const std::vector<kube::GroupResource>& types, const Make& make) {
  OrderedJson all = OrderedJson::array();
  for (size_t begin = 0; begin < types.size(); begin += kMostInSelection) {
    const size_t end = std::min(types.size(), begin + kMostInSelection);
    all.push_back(make(std::vector<kube::GroupResource>(types.begin() + static_cast<std::ptrdiff_t>(begin),
                                                        types.begin() + static_cast<std::ptrdiff_t>(end))));
  }
  return all;
}

OrderedJson ofTypes(const std::vector<kube::GroupResource>& types) {
  return selectionsOf(types, [](const std::vector<kube::GroupResource>& some) {
    OrderedJson resources = OrderedJson::array();
    for (const kube::GroupResource& type : some)
      resources.push_back({{"group", type.group}, {"resource", type.resource}});
    return OrderedJson{{"resources", std::move(resources)}};
  });
}

OrderedJson crdsOf(const std::vector<kube::GroupResource>& types) {
  return selectionsOf(types, [](const std::vector<kube::GroupResource>& some) {
    OrderedJson names = OrderedJson::array();
    for (const kube::GroupResource& type : some) names.push_back(nameOfCrd(type));
    return OrderedJson{{"resources",
                        {{{"group", kube::kCustomResourceDefinitions.group},
                          {"resource", kube::kCustomResourceDefinitions.resource}}}},
                       {"names", std::move(names)}};
  });
}

// CRDs that are treated alike.
struct Treatment {
  bool protectsInstances;
  bool isExempt;
  bool protectsCrd;
  bool isStrict;
  auto operator<=>(const Treatment&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

std::string nameOf(const Treatment& treatment) {
  return std::string(treatment.protectsInstances ? "orkestra-protected" : "orkestra-unprotected") +
         (treatment.isExempt ? "-exempt" : "") + (treatment.protectsCrd ? "" : "-open-crd");
}

// Where strict mode does not keep users from taking the label away, they have until then to delete the
// object.
OrderedJson labelsOf(const Treatment& treatment) {
  OrderedJson labels = {{"protection", {{"key", kProtectionLabel}, {"value", "true"}}},
                        {"protected", treatment.protectsInstances},
                        {"exemption", {{"key", kExemptionLabel}, {"value", "true"}}},
                        {"exempt", treatment.isExempt}};
  if (treatment.protectsInstances && !treatment.isStrict) labels["repairAfter"] = kUntilRepaired;
  return labels;
}

OrderedJson named(OrderedJson policy, const std::string& name, OrderedJson objects) {
  policy["metadata"]["name"] = name;
  policy["spec"]["objects"] = std::move(objects);
  return policy;
}

const char* onOrOff(bool isOn) { return isOn ? "on" : "off"; }

// What the katalog says of a CRD, and nobody can do without knowing which objects it means. Those that have
// the label are protected all the same.
std::string notDoneWithoutAType(const OrkestraSettings& settings, const OrkestraCrd& crd) {
  std::vector<std::string> dropped;
  if (!crd.protectsInstances) dropped.emplace_back("protectCRs: false");
  if (!crd.protectsCrd) dropped.emplace_back("protectCRD: false");
  if (settings.isStrict && !crd.isStrict) dropped.emplace_back("strictMode: false");
  std::string text = "its instances get no label";
  if (crd.protectsCrd) text += ", and its CRD is protected only while it has a labelled instance";
  return dropped.empty() ? text : text + "; " + kube::listed(dropped) + " cannot be honoured";
}

}  // namespace

bool hasOrkestraSettings(const kube::Value& document) {
  return document.at({"security", kBlock}) != nullptr ||
         document.at({"spec", "security", kBlock}) != nullptr || document.at({"spec", "crds"}) != nullptr ||
         document.at({"operatorBox", "runtime"}) != nullptr ||
         document.at({"spec", "operatorBox", "runtime"}) != nullptr;
}

tl::expected<OrkestraSettings, kube::Errors> parseOrkestra(
    const kube::Value& document, std::string_view file,
    const std::map<std::string, kube::GroupResource>& types) {
  return KatalogReader(file, types).read(document);
}

kube::Errors warningsOf(const OrkestraSettings& settings, std::string_view file) {
  kube::Errors warnings;
  const auto warn = [&](std::string message, kube::Position position) {
    warnings.push_back({std::move(message), std::string(file), position});
  };
  if (!settings.isEnabled) return warnings;
  for (const OrkestraCrd& crd : settings.crds) {
    const std::string path = "spec.crds." + kube::printable(crd.name);
    if (crd.type && !crd.protectsCrd && crd.protectsInstances)
      warn(path +
               " protects instances of a CRD that may itself be deleted, which takes them along "
               "(protectCRD: false, protectCRs: true); this is done as it stands",
           crd.position);
    if (!crd.type)
      warn(path + " does not say its type, so " + notDoneWithoutAType(settings, crd) + ": give " +
               crd.missing + ", or --crd " + kube::printable(crd.name) + "=PLURAL.GROUP",
           crd.position);
  }
  return warnings;
}

std::string postureOf(const OrkestraSettings& settings, const OrkestraCrd& crd) {
  if (!settings.isEnabled) return "unprotected";
  if (!crd.type)
    return std::string("protected where labelled, ") + (settings.isStrict ? "with" : "without") +
           " strict mode; warning: its type is not known";
  if (!crd.protectsInstances) return crd.protectsCrd ? "unprotected instances, protected CRD" : "unprotected";
  std::string posture = !settings.isStrict ? "protected, without strict mode"
                        : crd.isStrict     ? "fully protected"
                                           : "protected, strict mode exempt";
  if (!crd.protectsCrd) posture += "; warning: its CRD is unprotected";
  return posture;
}

std::string describe(const OrkestraSettings& settings) {
  std::string text = std::string("deletion protection is ") + onOrOff(settings.isEnabled) + ", strict mode " +
                     onOrOff(settings.isStrict) + ", failurePolicy " +
                     (settings.failsClosed ? "Fail" : "Ignore") + "\n";
  size_t width = 0;
  for (const OrkestraCrd& crd : settings.crds) width = std::max(width, kube::printable(crd.name).size());
  for (const OrkestraCrd& crd : settings.crds) {
    std::string name = kube::printable(crd.name);
    name.append(width - name.size(), ' ');
    text += "  " + name + "  " + postureOf(settings, crd) + "\n";
  }
  return text;
}

// The profile's policies, and for the types of the katalog some that also say how their objects are labelled.
// A labelled object stays protected until its label is gone, also where protectCRs is false by now.
std::vector<nlohmann::ordered_json> policiesOf(const OrkestraSettings& settings) {
  std::vector<OrderedJson> policies;
  if (!settings.isEnabled) return policies;
  const auto profile = findProfile("orkestra");
  const auto documents = kube::parseYaml(profile->text, profile->file);
  OrderedJson deletion = kube::toJson(documents->at(0));
  OrderedJson strict = kube::toJson(documents->at(1));
  for (OrderedJson* one : {&deletion, &strict}) {
    (*one)["spec"]["failurePolicy"] = settings.failsClosed ? "Fail" : "Ignore";
    if (settings.cleansUpOnShutdown) (*one)["spec"]["cleanupOnShutdown"] = true;
    (*one)["metadata"]["labels"][kImportedLabel] = kImportedFromOrkestra;
  }
  std::map<Treatment, std::vector<kube::GroupResource>> treated;
  std::vector<kube::GroupResource> known;
  std::vector<kube::GroupResource> withCrd;
  for (const OrkestraCrd& crd : settings.crds) {
    if (!crd.type) continue;
    const bool isExempt = settings.isStrict && !crd.isStrict;
    treated[{crd.protectsInstances, isExempt, crd.protectsCrd, crd.isStrict}].push_back(*crd.type);
    known.push_back(*crd.type);
    if (crd.protectsCrd) withCrd.push_back(*crd.type);
  }
  OrderedJson others = deletion;
  if (!known.empty()) others["spec"]["exceptObjects"] = ofTypes(known);
  policies.push_back(std::move(others));
  for (const auto& [treatment, types] : treated) {
    OrderedJson policy = named(deletion, nameOf(treatment), ofTypes(types));
    policy["spec"]["labels"] = labelsOf(treatment);
    policy["spec"]["crds"] = treatment.protectsCrd ? "Imply" : "Ignore";
    policies.push_back(std::move(policy));
  }
  if (!withCrd.empty()) {
    OrderedJson crds = named(std::move(deletion), "orkestra-crds", crdsOf(withCrd));
    crds["spec"]["message"] = kCrdMessage;
    crds["spec"].erase("when");
    policies.push_back(std::move(crds));
  }
  if (settings.isStrict) policies.push_back(std::move(strict));
  return policies;
}

}  // namespace lastout::protection
