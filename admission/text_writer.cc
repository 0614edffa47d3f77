#include "admission/text_writer.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <utility>
#include <variant>

#include "admission/decide.h"
#include "graph/names.h"
#include "kube/patterns.h"

namespace lastout::admission {
namespace {

constexpr std::string_view kGap = "...";

KeyView viewOf(const graph::Graph& graph, graph::ObjectId object) {
  const graph::ObjectView view = graph.object(object);
  return {view.group, view.resource, view.namespaceName, view.name};
}

}  // namespace

void findHolders(const graph::Graph& graph, graph::ConditionId condition, Holders& holders) {
  holders.count = graph.holders(condition);
  holders.mayDiffer = graph.isAboutSeveralTypes(condition);
  holders.shown = static_cast<uint32_t>(graph.someHolders(condition, holders.examples));
  for (size_t i = 0; i < holders.shown; ++i)
    holders.live = holders.live || !graph.isTerminating(holders.examples[i]);
  // All of them in order, whatever came when; of more, any few are as good as any others.
  for (size_t i = 1; i < holders.shown && holders.count <= Holders::kShown; ++i) {
    for (size_t k = i; k > 0 && graph::namedBefore(graph, graph::vertexOf(holders.examples[k]),
                                                   graph::vertexOf(holders.examples[k - 1]));
         --k)
      std::swap(holders.examples[k], holders.examples[k - 1]);
  }
}

void TextWriter::cutMiddle(size_t start) {
  const size_t kept = (longestName_ - kGap.size()) / 2;
  char* const gap = text_ + start + kept;
  std::memcpy(gap, kGap.data(), kGap.size());
  std::memmove(gap + kGap.size(), text_ + size_ - kept, kept);
  size_ = start + kept + kGap.size() + kept;
}

TextWriter& TextWriter::number(uint64_t number) {
  if (number < 10) return letter(static_cast<char>('0' + number));
  char digits[20];
  const auto end = std::to_chars(std::begin(digits), std::end(digits), number).ptr;
  return *this << std::string_view(std::begin(digits), static_cast<size_t>(end - std::begin(digits)));
}

TextWriter& TextWriter::name(std::string_view name) {
  const size_t start = size_;
  *this << name;
  shorten(start);
  return *this;
}

TextWriter& TextWriter::typeName(std::string_view group, std::string_view resource) {
  *this << resource;
  if (!group.empty()) letter('.') << group;
  return *this;
}

TextWriter& TextWriter::key(const KeyView& key) {
  const size_t start = size_;
  typeName(key.group, key.resource).letter('/');
  if (!key.namespaceName.empty()) (*this << key.namespaceName).letter('/');
  *this << key.name;
  shorten(start);
  return *this;
}

TextWriter& TextWriter::type(const kube::GroupResource& type) {
  const size_t start = size_;
  typeName(type.group, type.resource);
  shorten(start);
  return *this;
}

TextWriter& TextWriter::service(std::string_view name) {
  const size_t start = size_;
  // As criticalservice::nameInWords(), which allocates: every denial is written by this.
  *this << "criticalservices.lastout.dev/" << name;
  shorten(start);
  return *this;
}

TextWriter& TextWriter::separator(size_t index, size_t total) {
  if (index > 0) either(index + 1 == total, " and ", ", ");
  return *this;
}

TextWriter& TextWriter::names(const graph::Graph& graph, const Holders& holders) {
  std::string_view home;
  for (size_t i = 0; i < holders.shown; ++i) {
    separator(i, holders.shown);
    const size_t start = size_;
    if (holders.mayDiffer) {
      key(viewOf(graph, holders.examples[i]));
      continue;
    }
    if (i == 0 || !graph.areAlike(holders.examples[i], holders.examples[i - 1]))
      home = graph.namespaceName(holders.examples[i]);
    if (!home.empty()) (*this << home).letter('/');
    *this << graph.name(holders.examples[i]);
    shorten(start);
  }
  return *this;
}

TextWriter& TextWriter::unknownBecause(const graph::Graph& graph, const kube::GroupResource& named,
                                       graph::Knowledge knowledge) {
  const kube::GroupResource aType = graph::leastKnownOf(graph, named);
  if (kube::isTypePattern(aType)) return *this << "not all types of the group are known yet";
  const bool defined = graph.find(kube::crdKey(aType)).has_value();
  switch (knowledge) {
    case graph::Knowledge::Unknown:
      type(aType) << " have not been listed yet" << (defined ? ", although their CRD is there" : "");
      break;
    case graph::Knowledge::Stale:
      (*this << "the watch of ").type(aType) << " is broken";
      break;
    case graph::Knowledge::Forbidden:
      *this << (reader_ == ExplanationReader::WhoAsked ? std::string_view("you are")
                                                       : std::string_view("lastout is"));
      (*this << " not allowed to list ").type(aType);
      break;
    case graph::Knowledge::Unserved:
      (*this << "the API server does not serve ").type(aType)
          << (defined ? ", although their CRD is there" : ", although it should");
      break;
    case graph::Knowledge::NotUnderstood:
      type(aType) << " are not understood";
      break;
    case graph::Knowledge::Synced:
    case graph::Knowledge::Absent:
      type(aType) << " are known";
      break;
  }
  return *this;
}

TextWriter& TextWriter::grant(const kube::GroupResource& aType) {
  if (reader_ == ExplanationReader::WhoAsked) return (*this << "ask as somebody who may list ").type(aType);
  return (*this << "grant lastout get, list and watch on ").type(aType);
}

namespace {

void writeReference(TextWriter& text, const criticalservice::ReferenceCriterion& criterion) {
  (text.key(admission::viewOf(criterion.reference.target)) << " in ")
      .name(criterion.reference.fields.name.text);
}

void writeScope(TextWriter& text, const criticalservice::FinalizerCriterion& criterion) {
  text << kube::inWords(criterion.scope, kube::kMostNamedNamespaces);
}

}  // namespace

void writeUnmetCriterion(TextWriter& text, const graph::Graph& graph,
                         const criticalservice::Criterion& criterion, graph::ConditionId condition,
                         Holders& holders) {
  findHolders(graph, condition, holders);
  const kube::GroupResource& type = criticalservice::typeOf(criterion);
  const graph::Knowledge knowledge = graph.knowledge(condition);
  const bool one = holders.count == 1;
  if (one) {
    text.key(viewOf(graph, holders.examples[0]));
  } else {
    text.number(holders.count).either(holders.mayDiffer, " objects of ", " ").type(type);
  }
  const bool isConverted = std::holds_alternative<criticalservice::InstancesCriterion>(criterion);
  if (const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion)) {
    text.either(one, " has finalizer ", " have finalizer ").name(finalizer->finalizerName);
    writeScope(text, *finalizer);
  } else if (const auto* reference = std::get_if<criticalservice::ReferenceCriterion>(&criterion)) {
    text.either(one, " names ", " name ");
    writeReference(text, *reference);
  } else {
    text.either(one, " exists", " exist");
  }
  if (one && !holders.live) text << " (being deleted)";
  if (!one) text.either(holders.shown < holders.count, " (among them ", " (").names(graph, holders) << ")";
  if (!believable(knowledge) && knowledge != graph::Knowledge::Unknown) {
    (text << " (when last seen: ").unknownBecause(graph, type, knowledge) << ")";
  }
  if (isConverted) text.either(one, ", and the provider converts it", ", and the provider converts them");
}

void writeNotKnown(TextWriter& text, const graph::Graph& graph, const criticalservice::Criterion& criterion,
                   graph::Knowledge knowledge) {
  if (const std::string_view doubt = criticalservice::doubtOf(criterion); !doubt.empty()) {
    (text << "it is not understood what ").name(criticalservice::toString(criterion)) << " asks for (";
    text.name(doubt) << ")";
    return;
  }
  const kube::GroupResource& type = criticalservice::typeOf(criterion);
  text << "it is not known whether ";
  if (const auto* finalizer = std::get_if<criticalservice::FinalizerCriterion>(&criterion)) {
    ((text << "any ").type(type) << " has finalizer ").name(finalizer->finalizerName);
    writeScope(text, *finalizer);
  } else if (const auto* reference = std::get_if<criticalservice::ReferenceCriterion>(&criterion)) {
    (text << "any ").type(type) << " names ";
    writeReference(text, *reference);
  } else if (std::holds_alternative<criticalservice::InstancesCriterion>(criterion)) {
    (text << "any ").type(type) << " is left for the provider to convert";
  } else {
    text.key(viewOf(std::get<criticalservice::SpecificResourceCriterion>(criterion).object)) << " exists";
  }
  (text << " (").unknownBecause(graph, type, knowledge) << ")";
}

}  // namespace lastout::admission
