// The `controllers` of a Scenario document, field by field.
#include "kube/reference.h"
#include "kube/well_known.h"
#include "replay/spec.h"

namespace lastout::replay {

namespace {

constexpr std::string_view kSameNamespace = "same namespace";

class ControllerReader {
 public:
  ControllerReader(Scenario& scenario, kube::Errors& errors) : scenario_(scenario), errors_(errors) {}

  ScenarioController read(kube::Fields& fields) {
    controller_ = {};
    controller_.where = fields.value().position;
    controller_.name = fields.requiredString("name");
    if (const kube::Value* workload = fields.any("runsIn"))
      controller_.runsIn = readReference(*workload, fields.pathOf("runsIn"), scenario_, errors_);
    if (auto removes = fields.requiredFields("removes")) {
      controller_.finalizer = removes->requiredString("finalizer");
      const std::string from = removes->requiredString("from");
      if (!from.empty()) {
        if (auto type = scenario_.types.resolve(from))
          controller_.from = (*type)->type;
        else
          removes->fail("from", removes->pathOf("from") + ": " + type.error().message);
      }
      removes->finish();
    }
    controller_.takes = fields.duration("takes").value_or(controller_.takes);
    controller_.needs = readNeeds(fields, "needs");
    controller_.waitsFor = readNeeds(fields, "waitsFor");
    readActsAs(fields);
    fields.finish();
    return std::move(controller_);
  }

 private:
  void fail(const kube::Value& where, std::string message) {
    errors_.push_back({std::move(message), scenario_.file, where.position});
  }

  bool isNamespaced(const kube::GroupResource& type) const {
    const kube::ResourceType* found = scenario_.types.find(type);
    return found == nullptr || found->namespaced;
  }

  // Its objects are in a namespace, or are one.
  bool haveNamespace(const kube::GroupResource& type) const {
    return type == kube::kNamespaces || isNamespaced(type);
  }

  // One item or a list of them.
  std::vector<ControllerNeed> readNeeds(kube::Fields& fields, std::string_view key) {
    std::vector<ControllerNeed> needs;
    const kube::Value* value = fields.any(key);
    if (value == nullptr) return needs;
    const auto read = [&](const kube::Value& one, const std::string& path) {
      if (auto need = readNeed(one, path)) needs.push_back(std::move(*need));
    };
    const std::string path = fields.pathOf(key);
    if (const kube::Value::List* list = value->asList()) {
      for (size_t i = 0; i < list->size(); ++i) read((*list)[i], path + "[" + std::to_string(i) + "]");
    } else {
      read(*value, path);
    }
    return needs;
  }

  std::optional<ControllerNeed> readNeed(const kube::Value& value, const std::string& path) {
    ControllerNeed need;
    if (value.asMap() == nullptr) {
      auto of = readKind(value, path);
      if (!of) return std::nullopt;
      need.of = std::move(*of);
      return need;
    }
    kube::Fields fields(value, scenario_.file, path, errors_);
    std::optional<ScenarioReference> of;
    if (const kube::Value* written = fields.any("of"))
      of = readKind(*written, fields.pathOf("of"));
    else
      fields.fail("of", fields.pathOf("of") + " is missing: a type, or type/name");
    const size_t before = errors_.size();
    need.inSameNamespace = fields.oneOf("in", {kSameNamespace}).has_value() && errors_.size() == before;
    if (fields.has("named")) need.named = readPath(fields, "named");
    fields.finish();
    if (!of) return std::nullopt;
    need.of = std::move(*of);
    check(fields, need);
    return need;
  }

  // A reference, or a type alone, which means each object of that type.
  std::optional<ScenarioReference> readKind(const kube::Value& value, const std::string& path) {
    const std::string* text = value.asString();
    if (text == nullptr || text->find_first_of("/ ") != std::string::npos)
      return readReference(value, path, scenario_, errors_);
    const auto type = scenario_.types.resolve(*text);
    if (!type) {
      fail(value, path + ": " + type.error().message);
      return std::nullopt;
    }
    return ScenarioReference{
        .pattern = {.key = {(*type)->type, "", "*"}, .anyNamespace = (*type)->namespaced},
        .text = *text,
        .where = value.position};
  }

  void check(kube::Fields& fields, const ControllerNeed& need) {
    const kube::ObjectPattern& of = need.of.pattern;
    const std::string in = fields.pathOf("in");
    if (need.inSameNamespace && !isNamespaced(of.key.type))
      fields.fail("in", in + ": " + kube::toString(of.key.type) + " are in no namespace; leave it out");
    else if (need.inSameNamespace && !of.anyNamespace)
      fields.fail("in", in + ": " + need.of.text + " has its namespace already; write one of both");
    else if (need.inSameNamespace && !haveNamespace(controller_.from))
      fields.fail("in", in + ": " + kube::toString(controller_.from) +
                            ", from which it removes its finalizer, are in no namespace");
    if (need.named && of.key.name != "*")
      fields.fail("named",
                  fields.pathOf("named") + ": " + need.of.text +
                      " has its name already; write the type alone, and the field that has the name");
  }

  std::optional<kube::FieldPath> readPath(kube::Fields& fields, std::string_view key) {
    const std::string text = fields.string(key).value_or("");
    auto path = kube::parseFieldPath(text);
    if (!path && fields.any(key)->asString() != nullptr)
      fields.fail(key, fields.pathOf(key) + ": write a field of the object, as in spec.projectRef.name");
    return path;
  }

  void readActsAs(kube::Fields& fields) {
    if (!fields.has("actsAs")) return;
    if (fields.string("actsAs") == "") {
      controller_.actsAs.emplace();
      return;
    }
    controller_.actsAs = readPath(fields, "actsAs");
    if (!isNamespaced(controller_.from))
      fields.fail("actsAs", fields.pathOf("actsAs") + ": " + kube::toString(controller_.from) +
                                ", from which it removes its finalizer, are in no namespace");
  }

  Scenario& scenario_;
  kube::Errors& errors_;
  ScenarioController controller_;
};

}  // namespace

void readControllers(kube::Fields& spec, Scenario& scenario, kube::Errors& errors) {
  ControllerReader reader(scenario, errors);
  for (kube::Fields& fields : spec.items("controllers")) scenario.controllers.push_back(reader.read(fields));
}

}  // namespace lastout::replay
