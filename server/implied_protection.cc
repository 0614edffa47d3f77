#include "server/implied_protection.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "kube/quoting.h"
#include "protection/implied.h"

namespace lastout::server {
namespace {

using protection::Case;
using protection::DeletionPolicy;
using protection::Denial;

const kube::GroupResource kHolderNamespaces{"", "namespaces"};
constexpr size_t kReaders = 8;  // reads under way at once, of one review

// Objects that are read together, and the policies that may protect one of them.
struct Listed {
  kube::ResourceType type;
  std::string labelSelector;
  bool operator<(const Listed& other) const {
    return std::tie(type.type, labelSelector) < std::tie(other.type.type, other.labelSelector);
  }
};
using ListedFor = std::map<Listed, std::vector<const DeletionPolicy*>>;

// "app in (web),!legacy"
std::string inWords(const kube::LabelSelector& selector) {
  using Operator = kube::SelectorRequirement::Operator;
  std::string text;
  for (const kube::SelectorRequirement& one : selector.requirements) {
    text += text.empty() ? "" : ",";
    std::string values;
    for (const std::string& value : one.values) values += (values.empty() ? "" : ",") + value;
    if (one.op == Operator::DoesNotExist) text += "!";
    text += one.key;
    if (one.op == Operator::In) text += " in (" + values + ")";
    if (one.op == Operator::NotIn) text += " notin (" + values + ")";
  }
  return text;
}

// What every object has that a policy protects: of each case the same label, or nothing.
void addLabelOfCases(const DeletionPolicy& policy, kube::LabelSelector& selector) {
  using protection::KeyTest;
  if (policy.when.empty()) return;
  kube::SelectorRequirement wanted{{}, kube::SelectorRequirement::Operator::In, {}};
  bool any = false;
  for (const Case& one : policy.when) {
    if (!one.key || one.key->place != KeyTest::Place::Label) return;
    if (!wanted.key.empty() && wanted.key != one.key->key) return;
    wanted.key = one.key->key;
    any = any || one.key->values.empty();
    wanted.values.insert(wanted.values.end(), one.key->values.begin(), one.key->values.end());
  }
  if (any) wanted = {wanted.key, kube::SelectorRequirement::Operator::Exists, {}};
  selector.requirements.push_back(std::move(wanted));
}

bool needsContent(const std::vector<const DeletionPolicy*>& policies) {
  return std::ranges::any_of(policies, [](const DeletionPolicy* policy) {
    return std::ranges::any_of(policy->when, [](const Case& one) {
      return one.field || one.activity == protection::Activity::Replicas;
    });
  });
}

std::string remedy(const kube::GroupResource& holder) {
  return std::string(holder == kHolderNamespaces ? "namespaces" : "crds") + ": Ignore in the policy";
}

// What is sought in a Namespace, or among the instances of a CRD.
enum class Sought : uint8_t {
  Protected,  // one object for each policy that implies the holder
  Held,       // objects that policies hold by their finalizers
};

// One review: what is to be read, and what was found.
class Search {
 public:
  Search(const LiveView& live, const PolicyView& view, const PolicyReads& reads,
         const protection::Request& request, TimePoint deadline, Sought sought)
      : live_(live), view_(view), reads_(reads), request_(request), deadline_(deadline), kind_(sought) {}

  void seek(const DeletionPolicy& policy) {
    if (isHeldSought() ? !policy.hold : !protection::implies(policy, request_.object.type)) return;
    if (policy.listedBy) return seekListed(policy);
    for (const protection::Selection& selection : policy.objects) {
      const auto& spaces = selection.namespaces;
      if (isNamespace() && !spaces.empty() && std::ranges::find(spaces, request_.object.name) == spaces.end())
        continue;
      kube::LabelSelector labels = selection.labels;
      addLabelOfCases(policy, labels);
      for (const kube::ResourceType& type : typesOf(policy, selection)) add(policy, type, inWords(labels));
    }
  }

  std::vector<Denial> carryOut() {
    std::vector<const ListedFor::value_type*> all;
    all.reserve(listed_.size());
    for (const auto& one : listed_) all.push_back(&one);
    std::atomic<size_t> next{0};
    const auto work = [&] {
      for (size_t i = next++; i < all.size(); i = next++) read(*all[i]);
    };
    std::vector<std::thread> readers;
    for (size_t i = 1; i < std::min(kReaders, all.size()); ++i) readers.emplace_back(work);
    work();
    for (std::thread& reader : readers) reader.join();
    const kube::MutexLock lock(mutex_);
    std::vector<Denial> denials;
    for (auto& [name, found] : found_) std::move(found.begin(), found.end(), std::back_inserter(denials));
    return denials;
  }

 private:
  bool isHeldSought() const { return kind_ == Sought::Held; }
  bool isNamespace() const { return request_.object.type == kHolderNamespaces; }

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
      tellUnread(policy, toString(defined), "the API server does not serve it now");
      return {};
    }
    live_.forEachServed([&](const client::ServedType& served) {
      if (served.type.namespaced && served.canList && selects(served.type.type)) types.push_back(served.type);
    });
    for (const protection::ResourcePattern& pattern : selection.resources) {
      const bool isServed = std::ranges::any_of(types, [&](const kube::ResourceType& type) {
        return type.type == kube::GroupResource{pattern.group, pattern.resource};
      });
      if (const auto gap = isServed ? std::nullopt : live_.gapIn(pattern.group))
        tellUnread(policy, "what the API server serves", *gap);
    }
    return types;
  }

  void seekListed(const DeletionPolicy& policy) {
    protection::ListedKinds listed;
    view_.inspect([&](const protection::FactIndex& facts) { listed = facts.listedKinds(*policy.listedBy); });
    if (!listed.isAll)
      return tellUnread(policy, toString(policy.listedBy->type), "what they list is not known");
    live_.forEachServed([&](const client::ServedType& served) {
      const kube::ResourceType& type = served.type;
      const bool isHeld =
          isNamespace() ? type.namespaced : type.type == kube::definedBy(request_.object.name);
      const bool isListed =
          isHeld && served.canList && std::ranges::any_of(listed.kinds, [&](const auto& kind) {
            const bool isHere =
                !isNamespace() || kind.namespaceName.empty() || kind.namespaceName == request_.object.name;
            return isHere && (kind.kind.empty() || kind.kind == type.kind) &&
                   (!kind.apiGroup || *kind.apiGroup == type.type.group);
          });
      if (isListed) add(policy, type, "");
    });
  }

  void add(const DeletionPolicy& policy, const kube::ResourceType& type, std::string labelSelector) {
    auto& policies = listed_[{type, std::move(labelSelector)}];
    if (std::ranges::find(policies, &policy) == policies.end()) policies.push_back(&policy);
  }

  void read(const ListedFor::value_type& one) {
    const auto& [listed, policies] = one;
    PolicyReads::Listing listing{isNamespace() ? request_.object.name : "", listed.labelSelector,
                                 needsContent(policies), kMostImpliedObjects};
    std::vector<const DeletionPolicy*> left = policies;
    const auto done = reads_.list(listed.type, listing, deadline_, [&](kube::Object object) {
      std::erase_if(left, [&](const DeletionPolicy* policy) { return isEnough(*policy, object); });
      return !left.empty();
    });
    if (done) return;
    for (const DeletionPolicy* policy : left)
      tellUnread(*policy, toString(listed.type.type), done.error().message);
  }

  // As if the user who deletes the holder deleted the object. True: the policy needs no further object.
  bool isEnough(const DeletionPolicy& policy, const kube::Object& object) {
    protection::Request request = protection::deletionOf(object);
    request.user = request_.user;
    request.groups = request_.groups;
    std::optional<Denial> denial;
    view_.inspect([&](const protection::FactIndex& facts) {
      denial = isHeldSought() ? protection::holdOf(policy, request, facts)
                              : protection::judge(policy, request, facts);
    });
    return denial && tell(protection::impliedBy(policy, request_.object, object.key, *denial));
  }

  void tellUnread(const DeletionPolicy& policy, const std::string& what, const std::string& why) {
    const std::string said = kube::printable(why);
    Denial unread;
    unread.policy = policy.meta.name;
    unread.isUncertain = true;
    unread.isHeld = isHeldSought();
    unread.reason = what + " cannot be read: " + said;
    unread.message = "whether " + toString(request_.object) + " holds an object that DeletionPolicy " +
                     policy.meta.name + " protects cannot be found out, as " + what + " cannot be read (" +
                     said + "): let lastout's accounts get, list and watch it, by a ClusterRole with the " +
                     "label lastout.dev/aggregate-to-reads: \"true\", or set " + remedy(request_.object.type);
    tell(std::move(unread));
  }

  // A protected object says more than a type that cannot be read. True: as many were found as are told.
  bool tell(Denial denial) {
    const size_t most = isHeldSought() ? protection::kMostHeldTold : 1;
    const kube::MutexLock lock(mutex_);
    std::vector<Denial>& found = found_[denial.policy];
    if (!found.empty() && denial.isUncertain) return found.size() >= most;
    if (!found.empty() && found.front().isUncertain) found.clear();
    if (found.size() < most) found.push_back(std::move(denial));
    return found.size() >= most;
  }

  const LiveView& live_;
  const PolicyView& view_;
  const PolicyReads& reads_;
  const protection::Request& request_;
  const TimePoint deadline_;
  const Sought kind_;
  ListedFor listed_;
  kube::Mutex mutex_;
  std::map<std::string, std::vector<Denial>> found_ LASTOUT_GUARDED_BY(mutex_);  // by policy
};

}  // namespace

bool mayHoldProtected(const kube::GroupResource& type) {
  return type == kHolderNamespaces || type == kube::crdType();
}

std::vector<Denial> ImpliedProtection::judge(const PolicySet& policies, const protection::Request& request,
                                             TimePoint deadline) const {
  Search search(live_, view_, reads_, request, deadline, Sought::Protected);
  for (const DeletionPolicy& policy : policies.all()) search.seek(policy);
  return search.carryOut();
}

std::vector<Denial> ImpliedProtection::holds(const PolicySet& policies, const protection::Request& request,
                                             TimePoint deadline) const {
  Search search(live_, view_, reads_, request, deadline, Sought::Held);
  for (const DeletionPolicy& policy : policies.all()) search.seek(policy);
  return search.carryOut();
}

}  // namespace lastout::server
