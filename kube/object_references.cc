#include "kube/object_references.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

namespace lastout::kube {
namespace {

// These stand in no name that an object can be found by, and in no field that is asked about.
constexpr char kReference = '\x01';
constexpr char kWanted = '\x02';
constexpr char kBetween = '\x03';
constexpr size_t kLongestName = 253;
constexpr size_t kMostReferences = 1'000;  // of one object, by the same fields
constexpr std::string_view kAll = "*";     // the name in a reference that stands for those beyond

using Keys = std::span<const std::string>;

std::string joined(char first, std::initializer_list<std::string_view> parts) {
  std::string text(1, first);
  for (const std::string_view part : parts) text.append(part).append(1, kBetween);
  return text;
}

// The parts of a text that joined() has made of so many; of any other text those that are there.
template <size_t Count>
std::array<std::string_view, Count> split(std::string_view text) {
  std::array<std::string_view, Count> parts;
  text.remove_prefix(1);
  for (std::string_view& part : parts) {
    const size_t end = std::min(text.find(kBetween), text.size());
    part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string_view textOf(const std::optional<FieldPath>& path) {
  return path ? std::string_view(path->text) : std::string_view();
}

// Collects what one object names by one set of fields.
class ReferenceReader {
 public:
  ReferenceReader(const ReferenceFields& fields, std::string_view home, std::vector<std::string>& found)
      : fields_(fields), home_(home), found_(found) {}

  void read(const Value& content) {
    read(content, fields_.name.keys, partOf(fields_.namespaceName), partOf(fields_.kind));
  }

 private:
  // The namespace, or the kind: where it is still to be read, and what it was found to be.
  struct Part {
    Keys keys;
    std::vector<std::string> texts;
  };

  static Part partOf(const std::optional<FieldPath>& path) {
    return path ? Part{path->keys, {}} : Part{{}, {""}};
  }

  // Goes along the name's keys, and reads each part where its keys go another way: so those of the items of a
  // list stay together, and what stands above the list is that of all items.
  void read(const Value& value, Keys name, Part space, Part kind) {
    if (const Value::List* list = value.asList()) {
      for (const Value& item : *list) read(item, name, space, kind);
      return;
    }
    for (Part* part : {&space, &kind}) {
      if (!part->texts.empty()) continue;
      const bool goesAlong = name.size() > 1 && part->keys.size() > 1 && part->keys.front() == name.front();
      if (!goesAlong) part->texts = textsOrNone(value, part->keys);
      part->keys = part->keys.subspan(1);
    }
    if (name.size() == 1) return addAll(textsAt(value, name), space.texts, kind.texts);
    if (const Value* next = value.find(name.front()))
      read(*next, name.subspan(1), std::move(space), std::move(kind));
  }

  void addAll(const std::vector<std::string>& names, const std::vector<std::string>& spaces,
              const std::vector<std::string>& kinds) {
    for (const std::string& name : names) {
      for (const std::string& space : spaces) {
        for (const std::string& kind : kinds) {
          if (count_ > kMostReferences) return;
          if (++count_ > kMostReferences) return add("", "", kAll, "");
          add(kind, space, name, home_);
        }
      }
    }
  }

  void add(std::string_view kind, std::string_view space, std::string_view name, std::string_view home) {
    const std::string place = !space.empty()  ? "=" + std::string(space)
                              : !home.empty() ? "+" + std::string(home)
                                              : "";
    found_.push_back(joined(kReference, {fields_.name.text, textOf(fields_.namespaceName),
                                         textOf(fields_.kind), kind, place, name}));
  }

  static std::vector<std::string> textsAt(const Value& value, Keys keys) {
    std::vector<std::string> texts;
    addTexts(value, keys, texts);
    std::erase_if(texts,
                  [](const std::string& text) { return text.size() > kLongestName || !isPlainName(text); });
    return texts;
  }

  // Several texts come from another list than the names: a name may have none of them.
  static std::vector<std::string> textsOrNone(const Value& value, Keys keys) {
    std::vector<std::string> texts = textsAt(value, keys);
    if (texts.size() != 1) texts.emplace_back();
    return texts;
  }

  const ReferenceFields& fields_;
  const std::string_view home_;
  std::vector<std::string>& found_;
  size_t count_ = 0;
};

}  // namespace

std::string toString(const ReferenceFields& fields) {
  std::string others(textOf(fields.namespaceName));
  if (fields.kind) others += (others.empty() ? "" : " and ") + fields.kind->text;
  return fields.name.text + (others.empty() ? "" : " (with " + others + ")");
}

std::vector<std::string> referencesIn(const Value& content, std::string_view namespaceName,
                                      const std::set<ReferenceFields>& fields) {
  std::vector<std::string> found;
  for (const ReferenceFields& one : fields) ReferenceReader(one, namespaceName, found).read(content);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool isPlainName(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
}

bool isReference(std::string_view text) { return text.starts_with(kReference); }

std::string toText(const WantedReference& wanted) {
  const ObjectKey& target = wanted.target;
  return joined(kWanted,
                {wanted.fields.name.text, textOf(wanted.fields.namespaceName), textOf(wanted.fields.kind),
                 wanted.kind, target.type.group, target.type.resource, target.namespaceName, target.name});
}

bool isWantedReference(std::string_view text) { return text.starts_with(kWanted); }

WantedReference wantedReferenceOf(std::string_view text) {
  const auto [name, space, kindField, kind, group, resource, namespaceName, targetName] = split<8>(text);
  WantedReference wanted;
  wanted.fields.name = parseFieldPath(name).value_or(FieldPath());
  if (!space.empty()) wanted.fields.namespaceName = parseFieldPath(space);
  if (!kindField.empty()) wanted.fields.kind = parseFieldPath(kindField);
  wanted.kind = kind;
  wanted.target = {
      {std::string(group), std::string(resource)}, std::string(namespaceName), std::string(targetName)};
  return wanted;
}

std::string_view nameIn(std::string_view text) {
  text.remove_suffix(1);
  return text.substr(text.rfind(kBetween) + 1);
}

bool namesAll(std::string_view reference) { return nameIn(reference) == kAll; }

bool meansReference(std::string_view wanted, std::string_view reference) {
  if (!isReference(reference)) return false;
  const auto [byName, bySpace, byKind, itsKind, place, itsName] = split<6>(reference);
  const auto [name, space, kindField, kind, group, resource, namespaceName, targetName] = split<8>(wanted);
  if ((itsName != targetName && itsName != kAll) || byName != name || bySpace != space || byKind != kindField)
    return false;
  const bool isOfKind =
      itsKind.empty() || (kind.empty() ? isRegularPlural(resource, itsKind) : itsKind == kind);
  if (!isOfKind) return false;
  if (namespaceName.empty()) return !place.starts_with('=');
  return place.empty() || place.substr(1) == namespaceName;
}

bool namesAny(const std::vector<std::string>& references, const WantedReference& wanted) {
  const std::string text = toText(wanted);
  return std::ranges::any_of(references, [&](const std::string& one) { return meansReference(text, one); });
}

bool isRegularPlural(std::string_view resource, std::string_view kind) {
  std::string word(kind);
  std::ranges::transform(word, word.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  if (resource == word || resource == word + "s" || resource == word + "es") return true;
  return word.ends_with('y') && resource == word.substr(0, word.size() - 1) + "ies";
}

}  // namespace lastout::kube
