#include "server/review/implied_protection.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "kube/messages.h"
#include "kube/value.h"
#include "kube/well_known.h"
#include "net/worker_pool.h"
#include "protection/implied.h"
#include "server/review/confirmed_facts.h"
#include "server/runtime/lack_of_right.h"

namespace lastout::server {
namespace {

using protection::Case;
using protection::DeletionPolicy;
using protection::Denial;

constexpr size_t kReaders = 8;  // reads under way at once, of one review

// Objects that are read together, and the policies that may protect one of them.
struct Listed {
  kube::ResourceType type;
  std::string labelSelector;           // of all of them
  std::vector<std::string> narrowers;  // each of those that may be protected has one; none: all may be
  bool operator<(const Listed& other) const {
    return std::tie(type.type, labelSelector, narrowers) <
           std::tie(other.type.type, other.labelSelector, other.narrowers);
  }
};
using ListedFor = std::map<Listed, std::vector<const DeletionPolicy*>>;

using Requirements = std::vector<kube::SelectorRequirement>;
constexpr size_t kMostNarrowers = 16;

// What each object has one of that the case may protect: a list for each; an empty one: it may be any object.
// `byOwnLabels`: only labels of its own can name an ancestor that protects it.
std::vector<Requirements> labelsOf(const Case& one,
                                   const std::function<bool(const protection::AncestorTest&)>& byOwnLabels) {
  using Operator = kube::SelectorRequirement::Operator;
  Requirements key;
  if (one.key && one.key->place == protection::KeyTest::MetadataField::Label)
    key.push_back({one.key->key, one.key->values.empty() ? Operator::Exists : Operator::In, one.key->values});
  if (!one.ancestor || !byOwnLabels(*one.ancestor)) return {std::move(key)};
  std::vector<Requirements> all;
  const protection::AncestorTest& test = *one.ancestor;
  for (const std::string* label : {&test.nameLabel, &test.kindLabel, &test.versionLabel, &test.groupLabel}) {
    all.push_back(key);
    all.back().push_back({*label, Operator::Exists, {}});
  }
  return all;
}

// The same of all cases of a policy, in words; none: it may be any object.
std::vector<std::string> narrowersOf(
    const DeletionPolicy& policy, const kube::LabelSelector& selector,
    const std::function<bool(const protection::AncestorTest&)>& byOwnLabels) {
  std::set<std::string> all;
  for (const Case& one : policy.when) {
    for (const Requirements& labels : labelsOf(one, byOwnLabels)) {
      if (labels.empty()) return {};
      kube::LabelSelector narrower = selector;
      narrower.requirements.insert(narrower.requirements.end(), labels.begin(), labels.end());
      all.insert(toString(narrower));
    }
  }
  if (all.size() > kMostNarrowers) return {};
  return {all.begin(), all.end()};
}

bool needsContent(const std::vector<const DeletionPolicy*>& policies) {
  return std::ranges::any_of(policies, [](const DeletionPolicy* policy) {
    return std::ranges::any_of(policy->when, [](const Case& one) {
      return one.field || one.activity == protection::Activity::Replicas;
    });
  });
}

// Why it cannot be found out whether a policy protects something, and what somebody may do about it.
struct Unread {
  std::string why;
  std::string remedy;  // beside to say `Ignore` in the policy
};

constexpr const char* kWaitAMoment = "try again in a moment";
constexpr size_t kMostTypesTold = 3;

Unread unreadable(const std::string& what, const std::string& why, const std::string& remedy) {
  return {what + " cannot be read (" + kube::printable(why) + ")", remedy};
}

// The API server's authorizer does not let lastout list the type. An aggregated API that has lost its trust
// in the API server says the same of somebody it does not know.
bool mayNotList(const NotDone& refusal) {
  return refusal.code == 403 && isLackOfRight(refusal.why, {"list"}) &&
         refusal.why.find("\"system:anonymous\"") == std::string::npos;
}

bool hasCondition(const kube::Value& object, const char* type, const char* status) {
  const kube::Value* condition = kube::statusCondition(object, type);
  return condition != nullptr && kube::textAt(*condition, {"status"}) == status;
}

// The API server never served what the CRD defines: another one has its names. Once it did, "Established"
// stays true.
bool wasNeverServed(const kube::Value& definition) {
  return hasCondition(definition, "NamesAccepted", "False") &&
         !hasCondition(definition, "Established", "True");
}

bool servesAVersion(const kube::Value& definition) {
  const kube::Value* versions = definition.at({"spec", "versions"});
  const kube::Value::List* list = versions == nullptr ? nullptr : versions->asList();
  return list != nullptr && std::ranges::any_of(*list, [](const kube::Value& version) {
           const kube::Value* served = version.at({"served"});
           return served != nullptr && served->asBool() != nullptr && *served->asBool();
         });
}

// What is sought in a Namespace, or among the instances of a CRD.
enum class Sought : uint8_t {
  Protected,  // one object for each policy that implies the holder
  Held,  // objects that policies hold by their finalizers; or of which they deny the DELETE to the controller
         // that empties a Namespace, although that may be deleted
};

// One review: what is to be read, and what was found.
class Search {
 public:
  Search(const LiveView& live, PolicyView& view, const PolicyReads& reads, const protection::Request& request,
         TimePoint deadline, Sought sought)
      : live_(live),
        view_(view),
        reads_(reads),
        request_(request),
        deadline_(deadline),
        kind_(sought),
        facts_(live, view, reads, {deadline, kMostImpliedReads}) {
    if (isNamespace()) facts_.knowNamespace(request.object.name, request.meta->labels);
  }

  void seek(const DeletionPolicy& policy) {
    const bool isSought =
        isHeldSought() ? policy.hold || mayHang(policy) : protection::implies(policy, request_.object.type);
    if (!isSought) return;
    if (policy.listedBy) return seekListed(policy);
    for (const protection::Selection& selection : policy.objects) {
      const auto& spaces = selection.namespaces;
      if (isNamespace() && !spaces.empty() && std::ranges::find(spaces, request_.object.name) == spaces.end())
        continue;
      const std::vector<kube::ResourceType> types = typesOf(policy, selection);
      if (types.empty()) continue;
      const auto narrowers =
          narrowersOf(policy, selection.labels, [this](const auto& test) { return isByOwnLabels(test); });
      for (const kube::ResourceType& type : types) add(policy, {type, toString(selection.labels), narrowers});
    }
  }

  PolicyVerdict execute() {
    if (listed_.size() == 1) {
      read(*listed_.begin());
    } else {
      net::WorkerPool readers(std::min(kReaders, listed_.size()), listed_.size());
      for (const auto& one : listed_) readers.add([this, &one] { read(one); });
      readers.finish();
    }
    const kube::MutexLock lock(mutex_);
    PolicyVerdict verdict;
    for (auto& [name, found] : found_)
      std::move(found.begin(), found.end(), std::back_inserter(verdict.denials));
    for (const auto& [name, types] : unseen_)
      if (!found_.contains(name)) verdict.unseen.push_back(unseenBy(name, types));
    return verdict;
  }

 private:
  bool isHeldSought() const { return kind_ == Sought::Held; }
  bool isNamespace() const { return request_.object.type == kube::kNamespaces; }
  // The Namespace may be deleted, or is, and what is in it may not.
  bool mayHang(const DeletionPolicy& policy) const {
    return isNamespace() && policy.blocksAny(protection::Block::Delete) &&
           (request_.meta->deletionTimestamp || !protection::implies(policy, request_.object.type));
  }

  // Of an object in the Namespace without labels that name an ancestor: no ancestor protects it, as it does
  // not protect the Namespace, either. What holds an object is not asked of ancestors.
  bool isByOwnLabels(const protection::AncestorTest& test) {
    if (isHeldSought()) return false;
    if (!test.orOfNamespace) return true;
    if (!isNamespace()) return false;
    using Kind = protection::AncestorState::Kind;
    Kind kind = Kind::Unknown;
    facts_.judge([&](const protection::Facts& facts) { kind = facts.ancestor(test, request_).kind; });
    return kind == Kind::Frees || kind == Kind::Gone || kind == Kind::NotManaged;
  }

  // The types that the Namespace may hold, or the one that the CRD defines.
  std::vector<kube::ResourceType> typesOf(const DeletionPolicy& policy,
                                          const protection::Selection& selection) {
    std::vector<kube::ResourceType> types;
    const auto selects = [&](const kube::GroupResource& type) {
      return std::ranges::any_of(selection.resources,
                                 [&](const auto& pattern) { return pattern.matches(type); });
    };
    if (!isNamespace()) {
      const kube::GroupResource defined = kube::definedBy(request_.object.name);
      if (!selects(defined)) return {};
      if (const auto served = live_.find(defined)) return {*served};
      if (wasNeverServed(*request_.content)) return {};
      const std::string why = toString(defined) + " cannot be read (the API server does not serve it now)";
      tellUnread(policy, {why, servesAVersion(*request_.content) ? kWaitAMoment : "serve a version of it"});
      return {};
    }
    live_.forEachServed([&](const client::DiscoveredType& served) {
      if (served.type.namespaced && served.canList && selects(served.type.type)) types.push_back(served.type);
    });
    for (const protection::ResourcePattern& pattern : selection.resources) {
      const bool isServed = std::ranges::any_of(types, [&](const kube::ResourceType& type) {
        return type.type == kube::GroupResource{pattern.group, pattern.resource};
      });
      if (const auto gap = isServed ? std::nullopt : live_.gapIn(pattern.group))
        tellUnread(policy, unreadable("what the API server serves", *gap, kWaitAMoment));
    }
    return types;
  }

  void seekListed(const DeletionPolicy& policy) {
    protection::ListedKinds listed;
    view_.inspect([&](const protection::FactIndex& facts) { listed = facts.listedKinds(*policy.listedBy); });
    if (!listed.isAll)
      return tellUnread(policy, {"what " + toString(policy.listedBy->type) + " list is not known",
                                 "see that lastout can read them"});
    live_.forEachServed([&](const client::DiscoveredType& served) {
      const kube::ResourceType& type = served.type;
      const bool isHeld =
          isNamespace() ? type.namespaced : type.type == kube::definedBy(request_.object.name);
      const bool isListed =
          isHeld && served.canList && std::ranges::any_of(listed.kinds, [&](const auto& kind) {
            const bool isHere =
                !isNamespace() || kind.namespaceName.empty() || kind.namespaceName == request_.object.name;
            return isHere && kind.matches(type);
          });
      if (isListed) add(policy, {type, "", {}});
    });
  }

  void add(const DeletionPolicy& policy, Listed listed) {
    auto& policies = listed_[std::move(listed)];
    if (std::ranges::find(policies, &policy) == policies.end()) policies.push_back(&policy);
  }

  // Of most types a Namespace holds few objects: a page of them, and only where there are more, a list for
  // each label that may protect.
  void read(const ListedFor::value_type& one) {
    const auto& [listed, policies] = one;
    std::vector<const DeletionPolicy*> left = policies;
    if (listed.narrowers.size() == 1) return readAll(listed, listed.narrowers.front(), left);
    if (listed.narrowers.empty()) return readAll(listed, listed.labelSelector, left);
    const auto isAll = list(listed, listed.labelSelector, kPageOfObjects, left);
    if (isAll && *isAll) return;
    if (!isAll && mayNotList(isAll.error())) return tellForbidden(listed.type, left, isAll.error());
    for (const std::string& narrower : listed.narrowers) readAll(listed, narrower, left);
  }

  RequestResult<bool> list(const Listed& listed, const std::string& labelSelector, size_t most,
                           std::vector<const DeletionPolicy*>& left) {
    const PolicyReads::Listing listing{isNamespace() ? request_.object.name : "", labelSelector,
                                       needsContent(left), most};
    return reads_.list(listed.type, listing, deadline_, [&](kube::Object object) {
      std::erase_if(left, [&](const DeletionPolicy* policy) { return isEnough(*policy, object); });
      return !left.empty();
    });
  }

  void readAll(const Listed& listed, const std::string& labelSelector,
               std::vector<const DeletionPolicy*>& left) {
    if (left.empty()) return;
    const auto isAll = list(listed, labelSelector, kMostImpliedObjects, left);
    if (isAll && *isAll) return;
    if (!isAll && mayNotList(isAll.error())) return tellForbidden(listed.type, left, isAll.error());
    const std::string type = toString(listed.type.type);
    const std::string most = std::to_string(kMostImpliedObjects);
    const Unread unread = isAll ? Unread{"there are more than " + most + " " + type + " that it may protect",
                                         "delete some of these first"}
                                : unreadable(type, isAll.error().why, kWaitAMoment);
    for (const DeletionPolicy* policy : left) tellUnread(*policy, unread);
  }

  // As if the user who deletes the holder deleted the object. True: the policy needs no further object.
  bool isEnough(const DeletionPolicy& policy, const kube::Object& object) {
    if (isHeldSought()) return isEnoughHeld(policy, object);
    protection::Request request = protection::deletionOf(object);
    request.user = request_.user;
    request.groups = request_.groups;
    std::optional<Denial> denial;
    facts_.judge([&](const protection::Facts& facts) { denial = protection::judge(policy, request, facts); });
    return denial && tell(protection::impliedBy(policy, request_.object, object.key, *denial));
  }

  bool isEnoughHeld(const DeletionPolicy& policy, const kube::Object& object) {
    const protection::Request request = protection::contentDeletionOf(object);
    std::optional<Denial> held;
    std::optional<Denial> denied;
    facts_.judge([&](const protection::Facts& facts) {
      held = protection::holdOf(policy, request, facts);
      denied = mayHang(policy) && !held ? protection::judge(policy, request, facts) : std::nullopt;
    });
    if (held) return tell(protection::impliedBy(policy, request_.object, object.key, *held));
    return denied && tell(protection::hangsBy(policy, request_.object, object.key, *denied));
  }

  // A right that nobody gave does not keep all Namespaces of a cluster. What it costs judge() tells.
  void tellForbidden(const kube::ResourceType& type, const std::vector<const DeletionPolicy*>& policies,
                     const NotDone& refusal) {
    const std::string name = toString(type.type);
    for (const DeletionPolicy* policy : policies) {
      if (!isNamespace() || !protection::letsNamespacesGoUnseen(*policy)) {
        tellUnread(*policy, unreadable(name, refusal.why, protection::howToGiveReads("it")));
      } else if (!isHeldSought()) {
        const kube::MutexLock lock(mutex_);
        unseen_[policy->meta.name].insert(name);
      }
    }
  }

  Denial unseenBy(const std::string& policy, const std::set<std::string>& types) const {
    Denial unseen;
    unseen.policy = policy;
    unseen.isUncertain = true;
    unseen.isHeld = true;
    unseen.reason = "lastout may not list " + kube::listed({types.begin(), types.end()}, kMostTypesTold);
    // What it costs comes first, as a Warning is cut off at its end.
    unseen.message = "the rest of the namespace goes; it may hang at what is protected: whether " +
                     toString(request_.object) + " holds what DeletionPolicy " + policy +
                     " protects is not known, as " + unseen.reason +
                     " (its condition TypesReadable says more)";
    return unseen;
  }

  void tellUnread(const DeletionPolicy& policy, const Unread& why) {
    Denial unread;
    unread.policy = policy.meta.name;
    unread.isUncertain = true;
    unread.isHeld = isHeldSought();
    unread.reason = why.why;
    unread.message = "whether " + toString(request_.object) + " holds an object that DeletionPolicy " +
                     policy.meta.name + " protects cannot be found out, as " + why.why + ": " + why.remedy;
    if (protection::implies(policy, request_.object.type))
      unread.message +=
          std::string(", or set ") + (isNamespace() ? "namespaces" : "crds") + ": Ignore in the policy";
    tell(std::move(unread));
  }

  // A protected object says more than a type that cannot be read. True: as many were found as are told.
  bool tell(Denial denial) {
    const size_t most = isHeldSought() ? protection::kMostHeldTold : 1;
    const kube::MutexLock lock(mutex_);
    std::vector<Denial>& found = found_[denial.policy];
    if (!found.empty() && denial.isUncertain) return found.size() >= most;
    if (!found.empty() && found.front().isUncertain) found.clear();
    const bool isTold =  // of an object with several labels that may protect
        std::ranges::any_of(found, [&](const Denial& one) { return one.message == denial.message; });
    if (!isTold && found.size() < most) found.push_back(std::move(denial));
    return found.size() >= most;
  }

  const LiveView& live_;
  PolicyView& view_;
  const PolicyReads& reads_;
  const protection::Request& request_;
  const TimePoint deadline_;
  const Sought kind_;
  ConfirmedFacts facts_;
  ListedFor listed_;
  kube::Mutex mutex_;
  std::map<std::string, std::vector<Denial>> found_ LASTOUT_GUARDED_BY(mutex_);     // by policy
  std::map<std::string, std::set<std::string>> unseen_ LASTOUT_GUARDED_BY(mutex_);  // the same: types
};

}  // namespace

bool mayHoldProtected(const kube::GroupResource& type) {
  return type == kube::kNamespaces || type == kube::kCustomResourceDefinitions;
}

PolicyVerdict ImpliedProtection::judge(const PolicySet& policies, const protection::Request& request,
                                       TimePoint deadline) const {
  Search search(live_, view_, reads_, request, deadline, Sought::Protected);
  for (const DeletionPolicy& policy : policies.all()) search.seek(policy);
  return search.execute();
}

std::vector<Denial> ImpliedProtection::holds(const PolicySet& policies, const protection::Request& request,
                                             TimePoint deadline) const {
  Search search(live_, view_, reads_, request, deadline, Sought::Held);
  for (const DeletionPolicy& policy : policies.all()) search.seek(policy);
  return search.execute().denials;
}

}  // namespace lastout::server
