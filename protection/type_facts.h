// TypeFacts: what FactIndex keeps of the objects of one type, and the groups that they count in.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kube/object.h"
#include "kube/object_key.h"
#include "protection/kept_facts.h"

namespace lastout::protection {

// Where one object of a type stands.
struct ObjectName {
  std::string namespaceName;
  std::string name;
  auto operator<=>(const ObjectName&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

// One object.
struct FactEntry {
  const ObjectName* name = nullptr;  // of TypeFacts; never nullptr
  std::string uid;
  bool terminating = false;
  KeptFacts kept;  // without its groups, which have it as a member
};

// Looked up by hash: a group in about 100 ns.
class TypeFacts {
 public:
  struct ByName {
    bool operator()(const FactEntry* a, const FactEntry* b) const { return *a->name < *b->name; }
  };
  using Group = std::set<const FactEntry*, ByName>;

  TypeFacts(Questions questions, uint64_t generation)
      : questions_(std::move(questions)), generation_(generation) {}
  TypeFacts(const TypeFacts&) = delete;
  TypeFacts& operator=(const TypeFacts&) = delete;

  const Questions& questions() const { return questions_; }
  uint64_t generation() const { return generation_; }
  const std::string& kind() const { return kind_; }  // of an object that was told; empty: none was
  const std::string& whyNot() const { return whyNot_; }
  void know(std::string whyNot) {
    whyNot_ = std::move(whyNot);
    isNew_ = false;
  }
  bool isNew() const { return isNew_; }  // know() was never called

  // Adds the object, or puts it in place of what had its key.
  void upsert(const kube::Object& object);
  // Removes what has the key, if it has the uid. False: it has not.
  bool remove(const kube::ObjectKey& key, std::string_view uid);

  const FactEntry* find(const std::string& namespaceName, const std::string& name) const;  // nullptr: none
  // The objects in the group, by namespace and name; nullptr: none is.
  const Group* group(const std::string& name) const;
  // The first object that lists too much (KeptFacts), and may list something in that namespace ("": what is
  // in none); nullptr: none does.
  const FactEntry* listsTooMuch(const std::string& namespaceName) const;
  template <class Visit>
  void forEach(const Visit& visit) const {
    for (const auto& [name, stored] : entries_) visit(stored.entry);
  }

 private:
  using Groups = std::unordered_map<std::string, Group>;
  struct NameHash {
    size_t operator()(const ObjectName& name) const noexcept {
      return kube::hashAfter(kube::hashAfter(0, name.namespaceName), name.name);
    }
  };
  struct Stored {
    FactEntry entry;
    std::vector<Groups::value_type*> groups;
  };
  using Entries = std::unordered_map<ObjectName, Stored, NameHash>;

  void leaveGroups(Stored& stored);

  Questions questions_;
  uint64_t generation_;
  std::string whyNot_ = "it has not been read yet";
  bool isNew_ = true;
  std::string kind_;
  Entries entries_;
  Groups groups_;
  std::unordered_map<std::string, Group> listTooMuch_;  // by KeptFacts::listsTooMuchIn
};

}  // namespace lastout::protection
