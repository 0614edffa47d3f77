#include "tests/support/crd_schema.h"

#include "kube/parse.h"
#include "tests/support/manifests.h"
#include "tests/support/stop.h"

namespace lastout::testing {
namespace {

std::string below(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

void addProperties(const kube::Value& schema, const std::string& path, std::set<std::string>& out) {
  if (const kube::Value* items = schema.find("items")) addProperties(*items, path + "[]", out);
  const kube::Value* map = schema.find("properties");
  if (map == nullptr) return;
  for (const kube::Member& member : *map->asMap()) {
    out.insert(below(path, member.key));
    addProperties(member.value, below(path, member.key), out);
  }
}

void addFields(const kube::Value& value, const std::string& path, std::set<std::string>& out) {
  if (const auto* list = value.asList()) {
    for (const kube::Value& item : *list) addFields(item, path + "[]", out);
  }
  if (const auto* map = value.asMap()) {
    for (const kube::Member& member : *map) {
      out.insert(below(path, member.key));
      addFields(member.value, below(path, member.key), out);
    }
  }
}

}  // namespace

kube::Object crdOf(const std::string& file) {
  const auto text = kube::readFile(file);
  if (!text) stop("no CRD: " + kube::toString(text.error()));
  return object(*text);
}

std::set<std::string> propertiesOf(const kube::Value& schema) {
  std::set<std::string> paths;
  addProperties(schema, "", paths);
  return paths;
}

std::set<std::string> fieldsOf(const kube::Value& value) {
  std::set<std::string> paths;
  addFields(value, "", paths);
  return paths;
}

std::vector<std::string> columnsWithoutField(const kube::Value& version) {
  const std::set<std::string> inSchema = propertiesOf(*version.at({"schema", "openAPIV3Schema"}));
  std::vector<std::string> wrong;
  for (const kube::Value& column : *version.find("additionalPrinterColumns")->asList()) {
    const std::string path = column.find("jsonPath")->asString()->substr(1);
    if (path == "metadata.creationTimestamp" || inSchema.contains(path.substr(0, path.find('[')))) continue;
    wrong.push_back(path);
  }
  return wrong;
}

}  // namespace lastout::testing
