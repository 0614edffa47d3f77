// orkestra: Orkestra's own form of its settings (a katalog's security.deletionProtection, and the
// deletionProtection of each of its CRDs), read into policies.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "kube/object_key.h"
#include "kube/result.h"
#include "kube/value.h"

namespace lastout::protection {

// The label of every policy that policiesOf() makes: what a katalog no longer has is found by it.
inline constexpr const char* kImportedLabel = "lastout.dev/imported-from";
inline constexpr const char* kImportedFromOrkestra = "orkestra";

// A CRD of the katalog, with defaults and inheritance applied.
struct OrkestraCrd {
  std::string name;                         // its key in spec.crds
  std::optional<kube::GroupResource> type;  // nullopt: the katalog does not say it all
  std::string missing;                      // then: what it does not say, "apiTypes.plural"
  // As the katalog says; of a CRD without a type none of it can be done.
  bool protectsCrd = true;
  bool protectsInstances = true;
  bool isStrict = false;  // strict mode counts for its instances
  kube::Position position;
};

struct OrkestraSettings {
  bool isEnabled = false;
  bool isStrict = false;
  bool failsClosed = true;
  bool cleansUpOnShutdown = false;
  std::vector<OrkestraCrd> crds;
};

// True if the document has one of the blocks. It may still be wrong.
bool hasOrkestraSettings(const kube::Value& document);

// Reads the settings; `types`: the types of CRDs by their key, which count before what the document says.
// Fails with a message for each field of the blocks that is unknown or wrong, and for blocks that stand
// elsewhere.
tl::expected<OrkestraSettings, kube::Errors> parseOrkestra(
    const kube::Value& document, std::string_view file,
    const std::map<std::string, kube::GroupResource>& types = {});

// What is honoured and probably not meant, and what cannot be honoured, with the remedy.
kube::Errors warningsOf(const OrkestraSettings& settings, std::string_view file);

// The posture that is in force: "fully protected", "protected, strict mode exempt", "unprotected instances,
// protected CRD", ...
std::string postureOf(const OrkestraSettings& settings, const OrkestraCrd& crd);

// The settings and the posture of each CRD. Several lines.
std::string describe(const OrkestraSettings& settings);

// The manifests of the policies; empty: protection is not enabled.
std::vector<nlohmann::ordered_json> policiesOf(const OrkestraSettings& settings);

}  // namespace lastout::protection
