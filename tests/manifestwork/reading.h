// Reads manifests from text the way a file is read, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "kube/parse.h"
#include "manifestwork/manifest_work.h"

namespace lastout::manifestwork {

struct File {
  std::vector<kube::Object> objects;
  kube::ResourceMap types = kube::ResourceMap::builtIn();

  // Everything but the parsing of works succeeds, or the test fails.
  explicit File(std::string_view text, const std::string& name = "works.yaml") {
    auto documents = kube::parseYaml(text, name);
    if (!documents) {
      ADD_FAILURE() << kube::toString(documents.error());
      return;
    }
    for (kube::Value& document : *documents) document = completeShorthand(std::move(document));
    if (auto added = addEmbeddedTypes(*documents, name, types); !added) {
      ADD_FAILURE() << kube::toString(added.error());
    }
    auto parsed = kube::parseObjects(std::move(*documents), name, types);
    if (!parsed) {
      ADD_FAILURE() << kube::toString(parsed.error());
    } else {
      objects = std::move(*parsed);
    }
  }

  const kube::Object& object(std::string_view name) const {
    for (const kube::Object& object : objects) {
      if (object.key.name == name) return object;
    }
    ADD_FAILURE() << "no object " << name;
    std::abort();
  }

  tl::expected<ManifestWork, kube::Errors> work(std::string_view name) const {
    for (const kube::Object& object : objects) {
      if (object.key.type == manifestWorkType() && object.key.name == name) {
        return parseWork(object, objects, types);
      }
    }
    return tl::unexpected(kube::Errors{{"no such work", "", {}}});
  }
};

// One a line; "" when there are none.
template <class T>
std::string errorsOf(const tl::expected<T, kube::Errors>& result) {
  std::string text;
  if (!result) {
    for (const kube::Error& error : result.error()) text += kube::toString(error) + "\n";
  }
  return text;
}

inline std::vector<std::string> manifestsOf(const tl::expected<ManifestWork, kube::Errors>& work) {
  if (!work) return {errorsOf(work)};
  std::vector<std::string> keys;
  for (const kube::Object& manifest : work->manifests) keys.push_back(kube::toString(manifest.key));
  return keys;
}

}  // namespace lastout::manifestwork
