#include "tests/support/manifests.h"

#include <cstdlib>
#include <iostream>
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

std::string lines(const kube::Errors& errors) {
  std::string text;
  for (const kube::Error& error : errors) text += kube::toString(error) + "\n";
  return text;
}

}  // namespace lastout::testing
