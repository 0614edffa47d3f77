#include "admission/words.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <tuple>

namespace lastout::admission {
namespace {

constexpr std::string_view kGap = "...";

bool before(const graph::ObjectView& a, const graph::ObjectView& b) {
  return std::tie(a.group, a.resource, a.namespaceName, a.name) <
         std::tie(b.group, b.resource, b.namespaceName, b.name);
}

}  // namespace

KeyView viewOf(const kube::ObjectKey& key) {
  return {key.type.group, key.type.resource, key.namespaceName, key.name};
}

KeyView viewOf(const graph::ObjectView& object) {
  return {object.group, object.resource, object.namespaceName, object.name};
}

Holders holdersOf(const graph::Graph& graph, graph::ConditionId condition) {
  Holders holders;
  graph::ObjectId found[Holders::kShown];
  holders.count = graph.holders(condition);
  holders.shown = graph.someHolders(condition, found);
  for (size_t i = 0; i < holders.shown; ++i) {
    holders.examples[i] = graph.object(found[i]);
    holders.live = holders.live || !holders.examples[i].terminating;
  }
  std::sort(holders.examples, holders.examples + holders.shown, before);
  return holders;
}

// What stands from `start` on becomes at most longestName_ bytes, beginning and end kept.
void Writer::shorten(size_t start) {
  const size_t length = text_.size() - start;
  if (length <= longestName_) return;
  const size_t kept = (longestName_ - kGap.size()) / 2;
  text_.replace(start + kept, length - 2 * kept, kGap);
}

Writer& Writer::operator<<(uint64_t number) {
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  text_.append(std::begin(digits), end);
  return *this;
}

Writer& Writer::name(std::string_view name) {
  const size_t start = text_.size();
  text_ += name;
  shorten(start);
  return *this;
}

Writer& Writer::key(const KeyView& key) {
  const size_t start = text_.size();
  text_ += key.resource;
  if (!key.group.empty()) text_.append(1, '.').append(key.group);
  if (!key.namespaceName.empty()) text_.append(1, '/').append(key.namespaceName);
  text_.append(1, '/').append(key.name);
  shorten(start);
  return *this;
}

Writer& Writer::type(const kube::GroupResource& type) {
  const size_t start = text_.size();
  text_ += type.resource;
  if (!type.group.empty()) text_.append(1, '.').append(type.group);
  shorten(start);
  return *this;
}

Writer& Writer::service(std::string_view name) {
  const size_t start = text_.size();
  text_.append("criticalservices.lastout.dev/").append(name);
  shorten(start);
  return *this;
}

Writer& Writer::separator(size_t index, size_t total) {
  if (index > 0) text_ += index + 1 == total ? " and " : ", ";
  return *this;
}

Writer& Writer::names(const Holders& holders) {
  for (size_t i = 0; i < holders.shown; ++i) {
    separator(i, holders.shown);
    const size_t start = text_.size();
    const graph::ObjectView& object = holders.examples[i];
    if (!object.namespaceName.empty()) text_.append(object.namespaceName).append(1, '/');
    text_ += object.name;
    shorten(start);
  }
  return *this;
}

Writer& Writer::ignorance(const graph::Graph& graph, const kube::GroupResource& aType,
                          graph::Knowledge knowledge) {
  const kube::ObjectKey crd{{"apiextensions.k8s.io", "customresourcedefinitions"}, "", kube::crdName(aType)};
  const bool defined = graph.find(crd).has_value();
  switch (knowledge) {
    case graph::Knowledge::Unknown:
      type(aType) << " have not been listed yet" << (defined ? ", although their CRD is there" : "");
      break;
    case graph::Knowledge::Stale:
      (*this << "the watch of ").type(aType) << " is broken";
      break;
    case graph::Knowledge::Forbidden:
      (*this << "lastout is not allowed to list ").type(aType);
      break;
    case graph::Knowledge::Unserved:
      (*this << "the API server does not serve ").type(aType)
          << (defined ? ", although their CRD is there" : ", although it should");
      break;
    case graph::Knowledge::Synced:
    case graph::Knowledge::Absent:
      type(aType) << " are known";
      break;
  }
  return *this;
}

}  // namespace lastout::admission
