#include "simulator/cel_type.h"

#include <algorithm>
#include <array>

namespace lastout::simulator {
namespace {

struct NamedKind {
  std::string_view name;
  CelKind kind;
};

constexpr std::array<NamedKind, 11> kNamedKinds = {{{"dyn", CelKind::Dynamic},
                                                    {"bool", CelKind::Bool},
                                                    {"int", CelKind::Integer},
                                                    {"uint", CelKind::Unsigned},
                                                    {"double", CelKind::Double},
                                                    {"string", CelKind::Text},
                                                    {"bytes", CelKind::Bytes},
                                                    {"null", CelKind::Null},
                                                    {"timestamp", CelKind::Timestamp},
                                                    {"duration", CelKind::Duration},
                                                    {"type", CelKind::Type}}};

constexpr std::array<NamedKind, 3> kMadeOfOthers = {
    {{"list", CelKind::List}, {"map", CelKind::Map}, {"optional_type", CelKind::Optional}}};

// Null stands for what messages and abstract types lack, and for no list, map or scalar.
bool takesNull(CelKind kind) {
  return kind == CelKind::Object || kind == CelKind::Abstract || kind == CelKind::Access ||
         kind == CelKind::Optional || kind == CelKind::Timestamp || kind == CelKind::Duration;
}

std::vector<CelType> partsOf(std::string_view text) {
  std::vector<CelType> parts;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ',' || depth > 0) continue;
    parts.push_back(celTypeOf(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  return parts;
}

}  // namespace

std::string nameOf(const CelType& type) {
  if (!type.name.empty()) return type.name;
  const auto* const simple = std::ranges::find(kNamedKinds, type.kind, &NamedKind::kind);
  if (simple != kNamedKinds.end()) return std::string(simple->name);
  std::string text(std::ranges::find(kMadeOfOthers, type.kind, &NamedKind::kind)->name);
  for (size_t i = 0; i < type.of.size(); ++i) text += (i == 0 ? "(" : ", ") + nameOf(type.of[i]);
  return text + ")";
}

CelType celTypeOf(std::string_view text) {
  const size_t parenthesis = text.find('(');
  const std::string_view word = text.substr(0, parenthesis);
  if (parenthesis != std::string_view::npos)
    return {std::ranges::find(kMadeOfOthers, word, &NamedKind::name)->kind,
            partsOf(text.substr(parenthesis + 1, text.size() - parenthesis - 2))};
  const auto* const simple = std::ranges::find(kNamedKinds, word, &NamedKind::name);
  if (simple != kNamedKinds.end()) return simple->kind;
  if (word.size() == 1) return {CelKind::Parameter, std::string(word)};
  if (word.starts_with('@'))
    return {CelKind::Access, "kubernetes.authorization." + std::string(word.substr(1))};
  if (word.starts_with('*')) return {CelKind::Object, "kubernetes." + std::string(word.substr(1))};
  return {CelKind::Abstract, std::string(word)};
}

bool isAssignable(const CelType& wanted, const CelType& given, CelNames& bindings) {
  if (wanted.kind == CelKind::Parameter) {
    const auto [place, isNew] = bindings.emplace(wanted.name, given);
    if (isNew) return true;
    if (!isAssignable(place->second, given) && !isAssignable(given, place->second)) return false;
    place->second = mostGeneral(place->second, given);
    return true;
  }
  if (wanted.kind == CelKind::Dynamic || given.kind == CelKind::Dynamic) return true;
  if (given.kind == CelKind::Null && takesNull(wanted.kind)) return true;
  if (wanted.kind != given.kind || wanted.name != given.name) return false;
  for (size_t i = 0; i < wanted.of.size(); ++i)
    if (!isAssignable(wanted.of[i], given.of[i], bindings)) return false;
  return true;
}

bool isAssignable(const CelType& wanted, const CelType& given) {
  CelNames none;
  return isAssignable(wanted, given, none);
}

CelType bound(const CelType& type, const CelNames& bindings) {
  if (type.kind == CelKind::Parameter) {
    const auto found = bindings.find(type.name);
    return found == bindings.end() ? CelType() : found->second;
  }
  CelType made = type;
  for (CelType& part : made.of) part = bound(part, bindings);
  return made;
}

CelType mostGeneral(const CelType& one, const CelType& other) {
  if (one.kind == CelKind::Dynamic || other.kind == CelKind::Null) return one;
  if (one.kind != other.kind) return other;
  CelType made = one;
  for (size_t i = 0; i < made.of.size(); ++i) made.of[i] = mostGeneral(one.of[i], other.of[i]);
  return made;
}

}  // namespace lastout::simulator
