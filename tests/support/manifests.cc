#include "tests/support/manifests.h"

#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "kube/parse.h"

namespace lastout::testing {
namespace {

template <class T>
T valueOrExit(kube::Result<T> result) {
  if (result) return std::move(*result);
  std::cerr << "the manifest in this test is wrong: " << kube::toString(result.error()) << "\n";
  std::abort();
}

}  // namespace

std::vector<kube::Object> objects(std::string_view yaml, kube::ResourceMap& types) {
  return valueOrExit(kube::parseObjects(valueOrExit(kube::parseYaml(yaml, "")), "", types));
}

kube::Object object(std::string_view yaml, kube::ResourceMap& types) {
  std::vector<kube::Object> found = objects(yaml, types);
  if (found.size() == 1) return std::move(found.front());
  std::cerr << "the manifest in this test holds " << found.size() << " objects, not one\n";
  std::abort();
}

kube::Object object(std::string_view yaml) {
  kube::ResourceMap types = kube::ResourceMap::builtIn();
  return object(yaml, types);
}

nlohmann::json jsonOf(std::string_view yaml) {
  const std::vector<kube::Value> documents = valueOrExit(kube::parseYaml(yaml, ""));
  if (documents.size() == 1) return nlohmann::json(kube::toJson(documents.front()));
  std::cerr << "the manifest in this test holds " << documents.size() << " documents, not one\n";
  std::abort();
}

nlohmann::json definition(const std::string& group, const std::string& plural, const std::string& kind,
                          const std::string& scope, const nlohmann::json& labels) {
  return {
      {"apiVersion", "apiextensions.k8s.io/v1"},
      {"kind", "CustomResourceDefinition"},
      {"metadata", {{"name", plural + "." + group}, {"labels", labels}}},
      {"spec",
       {{"group", group},
        {"scope", scope},
        {"names", {{"kind", kind}, {"plural", plural}}},
        {"versions", nlohmann::json::array(
                         {{{"name", "v1"},
                           {"served", true},
                           {"storage", true},
                           {"schema",
                            {{"openAPIV3Schema",
                              {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}}})}}}};
}

nlohmann::json ownerLabels() {
  return {{"appcat.vshn.io/ownercomposite", "pg"},
          {"appcat.vshn.io/ownerkind", "XVSHNPostgreSQL"},
          {"appcat.vshn.io/ownergroup", "vshn.appcat.vshn.io"},
          {"appcat.vshn.io/ownerapiversion", "v1"}};
}

nlohmann::json objectOf(const char* apiVersion, const char* kind, const std::string& name,
                        const nlohmann::json& labels) {
  return {{"apiVersion", apiVersion}, {"kind", kind}, {"metadata", {{"name", name}, {"labels", labels}}}};
}

std::string lines(const kube::Errors& errors) {
  std::string text;
  for (const kube::Error& error : errors) text += kube::toString(error) + "\n";
  return text;
}

}  // namespace lastout::testing
