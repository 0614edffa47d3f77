// Sources: the documents of one or more files, read together as the objects of one cluster. Internal to
// replay/.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/object.h"
#include "kube/parse.h"
#include "protection/policy.h"

namespace lastout::replay {

// What stood in one file.
struct Source {
  std::string file;
  std::vector<kube::Value> documents;
};

// The text of a file as documents: JSON where `name` ends so, else YAML; ManifestWorks in shorthand are
// completed (manifestwork::completeShorthand), and so is a CriticalService without apiVersion, as the design
// document writes it.
kube::Result<std::vector<kube::Value>> parseDocuments(std::string_view text, const std::string& name,
                                                      bool json, const kube::ParseLimits& limits);

// The DeletionPolicies among the objects. Appends what is wrong with them to `errors`.
std::vector<protection::DeletionPolicy> policiesOf(const std::vector<kube::Object>& objects,
                                                   kube::Errors& errors);

bool isKind(const kube::Value& document, std::string_view kind);

// Documents into objects. Types first, of all files; then objects, each of which may stand once.
class ObjectReader {
 public:
  // Keeps references; appends what is wrong to `errors`.
  ObjectReader(kube::ResourceMap& types, kube::Errors& errors) : types_(types), errors_(errors) {}

  // Every CustomResourceDefinition counts for all files, wherever it stands: in a List or a ManifestWork,
  // too.
  void addTypes(const std::vector<kube::Value>& documents, const std::string& file);
  // The objects of a source, without those that stood somewhere before. Takes its documents.
  std::vector<kube::Object> read(Source& source);
  // Notes where the object stands; false when it stood somewhere before, and an error when it is not alike
  // there.
  bool isFirst(const kube::Object& object);
  // Words, in lower case, for types that are not known because their CRDs have errors, which were reported.
  const std::set<std::string>& lackingWords() const { return lackingWords_; }

 private:
  void addCrd(const kube::Value& document, const std::string& file);
  bool isLacking(const kube::Value& document) const;
  void dropLacking(kube::Value& list) const;
  void failOnce(const kube::Error& error);

  kube::ResourceMap& types_;
  kube::Errors& errors_;
  struct Place {
    std::string text;    // "a.yaml:1:1"
    size_t content = 0;  // a hash of the manifest
  };
  std::unordered_map<kube::ObjectKey, Place> places_;      // where each object stands
  std::set<std::pair<std::string, std::string>> lacking_;  // group and kind of those CRDs
  std::set<std::string> lackingWords_;
};

}  // namespace lastout::replay
