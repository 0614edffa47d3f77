// What policies ask of other objects, by index: children, an ancestor, active Pods, over 1k to 1M objects.
#include <benchmark/benchmark.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bench/stop.h"
#include "protection/fact_index.h"

namespace lastout::bench {
namespace {

using protection::FactIndex;

constexpr uint32_t kParents = 1000;  // and namespaces
constexpr std::string_view kPolicy = R"(apiVersion: lastout.dev/v1alpha1
kind: DeletionPolicy
metadata: {name: bench}
spec:
  objects: [{resources: [{group: db.example.com, resource: databases}, {resource: namespaces}]}]
  when:
  - children: [{group: db.example.com, resource: users, label: db.example.com/database}]
  - active: Pods
  - ancestor:
      groupLabel: example.com/group
      versionLabel: example.com/version
      kindLabel: example.com/kind
      nameLabel: example.com/name
      field: {path: spec.protected, equals: true}
)";

const kube::GroupResource kDatabases{"db.example.com", "databases"};
const kube::GroupResource kUsers{"db.example.com", "users"};
const kube::GroupResource kComposites{"example.com", "composites"};
const kube::GroupResource kPods{"", "pods"};
const kube::GroupResource kSpaces{"", "namespaces"};

protection::DeletionPolicy policy() {
  auto read = protection::parsePolicies(kPolicy, "");
  if (!read) stopBench(read.error().front().message);
  return read->front();
}

std::string spaceOf(uint32_t number) { return "space-" + std::to_string(number % kParents); }

kube::Object object(const kube::GroupResource& type, std::string space, std::string name) {
  kube::Object made;
  made.key = {type, space, name};
  made.meta.uid = "uid-" + name;
  made.meta.namespaceName = std::move(space);
  made.meta.name = std::move(name);
  made.content.data = kube::Value::Map();
  return made;
}

// An index that knows `count` objects of each type.
class Told {
 public:
  explicit Told(uint32_t count)
      : index([](const std::string& /*cluster*/, std::string_view group,
                 std::string_view kind) -> tl::expected<protection::ServedKind, std::string> {
          if (group == kComposites.group && kind == "Composite") return protection::ServedKind{kComposites};
          return tl::unexpected("no kind " + std::string(kind));
        }) {
    index.setPolicies({rule});
    index.wantAncestors(kComposites);
    for (uint32_t i = 0; i < count; ++i) {
      tell(user(i));
      tell(object(kPods, spaceOf(i), "pod-" + std::to_string(i)));
      tell(object(kComposites, "", "composite-" + std::to_string(i)));
    }
    for (const protection::WantedType& type : index.wanted()) index.know(type.type, "", type.generation);
  }

  const protection::DeletionPolicy rule = policy();
  FactIndex index;

 private:
  static kube::Object user(uint32_t number) {
    kube::Object made = object(kUsers, spaceOf(number), "user-" + std::to_string(number));
    made.meta.labels["db.example.com/database"] = "main";
    return made;
  }
  void tell(const kube::Object& object) {
    for (const protection::WantedType& type : index.wanted())
      if (type.type == object.key.type) index.upsert(object, type.generation);
  }
};

// One for all questions to it.
const Told& told(uint32_t count) {
  static std::map<uint32_t, std::unique_ptr<Told>> all;
  std::unique_ptr<Told>& one = all[count];
  if (!one) one = std::make_unique<Told>(count);
  return *one;
}

// Asks about one object after the other, of all namespaces.
template <class Ask>
void askAll(benchmark::State& state, const kube::GroupResource& type, kube::Labels labels, const Ask& ask) {
  const Told& known = told(static_cast<uint32_t>(state.range(0)));
  const kube::Value content{kube::Value::Map(), {}};
  std::vector<kube::Object> objects;
  objects.reserve(kParents);
  for (uint32_t i = 0; i < kParents; ++i) {
    const bool isSpace = type == kSpaces;
    objects.push_back(object(type, isSpace ? "" : spaceOf(i), isSpace ? spaceOf(i) : "main"));
    if (const auto name = labels.find("example.com/name"); name != labels.end())
      name->second = "composite-" + std::to_string(i);
    objects.back().meta.labels = labels;
  }
  size_t next = 0;
  for (auto _ : state) {
    const kube::Object& asked = objects[next++ % kParents];
    protection::Request request;
    request.object = asked.key;
    request.meta = &asked.meta;
    request.content = &content;
    if (!ask(known, request)) state.SkipWithError("it is not answered as it should be");
  }
}

void childrenByLabel(benchmark::State& state) {
  const auto expected = static_cast<uint32_t>(state.range(0)) / kParents;
  askAll(state, kDatabases, {}, [&](const Told& known, const protection::Request& request) {
    return known.index.children(known.rule.when[0].children[0], request).objects == expected;
  });
}

void activePods(benchmark::State& state) {
  const auto expected = static_cast<uint32_t>(state.range(0)) / kParents;
  askAll(state, kSpaces, {}, [&](const Told& known, const protection::Request& request) {
    return known.index.active(protection::Activity::Pods, request).objects == expected;
  });
}

void ancestor(benchmark::State& state) {
  const kube::Labels labels{{"example.com/group", "example.com"},
                            {"example.com/version", "v1"},
                            {"example.com/kind", "Composite"},
                            {"example.com/name", ""}};
  askAll(state, kDatabases, labels, [](const Told& known, const protection::Request& request) {
    return known.index.ancestor(*known.rule.when[2].ancestor, request).kind ==
           protection::AncestorState::Kind::Frees;
  });
}

BENCHMARK(childrenByLabel)->Arg(1'000)->Arg(1'000'000);
BENCHMARK(activePods)->Arg(1'000)->Arg(1'000'000);
BENCHMARK(ancestor)->Arg(1'000)->Arg(1'000'000);

}  // namespace
}  // namespace lastout::bench
