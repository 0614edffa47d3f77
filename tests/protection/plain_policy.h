// PlainPolicy: a policy drawn by chance, its text, and what docs/protection.md has it say, written without
// any code of protection/: what judge() and the CEL made of the policy are compared with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/properties/dice.h"

namespace lastout::testing {

struct PlainKey {
  bool isLabel = true;
  std::string key;
  std::vector<std::string> values;  // empty: any
};

struct PlainField {
  std::string name;    // of spec: "protected", "mode"
  std::string equals;  // as YAML: "true", "Keep", "2"
  bool whenAbsent = false;
};

struct PlainCase {
  std::optional<PlainKey> key;
  std::optional<PlainField> field;
  bool replicas = false;
};

struct PlainSelection {
  std::string group;
  std::string resource;
  std::vector<std::string> namespaces;
  std::vector<std::string> names;
  std::string labelOp;  // empty, "In", "NotIn", "Exists" or "DoesNotExist"
  std::string labelKey;
  std::string labelValue;
};

struct PlainObject {
  std::string group;
  std::string resource;
  std::string kind;
  std::string namespaceName;
  std::string name;
  std::map<std::string, std::string> labels;
  std::map<std::string, std::string> annotations;
  std::map<std::string, std::string> spec;  // YAML values
  bool terminates = false;
  std::vector<std::string> finalizers;

  std::string yaml() const;
};

struct PlainRequest {
  bool isUpdate = false;
  std::string subresource = {};  // of an update; it counts like one of the object itself
  bool orphans = false;
  std::string user;
  std::vector<std::string> groups;
  PlainObject before;
  PlainObject after;  // of an update
};

struct PlainHold {
  bool hasOthers = false;         // a finalizer of another operator is known
  std::optional<PlainKey> force;  // an annotation
};

struct PlainPolicy {
  std::vector<PlainSelection> objects;
  std::vector<PlainSelection> except;
  std::vector<PlainCase> when;
  bool blocksDelete = false;
  bool blocksOrphan = false;
  bool blocksUnprotect = false;
  std::vector<PlainKey> overrides;
  std::vector<PlainKey> exemptions;
  std::vector<std::string> exemptUsers;
  std::vector<std::string> exemptGroups;
  bool skipTerminating = false;
  std::optional<PlainHold> hold;

  std::string spec() const;  // indented by two spaces
  bool denies(const PlainRequest& request) const;
};

PlainPolicy drawPolicy(Dice& dice);
PlainRequest drawRequest(Dice& dice);

}  // namespace lastout::testing
