#include "server/review/confirmed_facts.h"

#include "kube/messages.h"
#include "kube/names.h"
#include "kube/well_known.h"

namespace lastout::server {

using protection::AncestorState;
using protection::Count;

namespace {

// The type whose objects are counted; without one nothing is read.
kube::GroupResource typeOfActive(protection::Activity activity, const kube::ObjectKey& object) {
  switch (activity) {
    case protection::Activity::Pods:
      return kube::kPods;
    case protection::Activity::BoundClaims:
      return kube::kPersistentVolumeClaims;
    case protection::Activity::Instances:
      return kube::definedBy(object.name);
    case protection::Activity::Replicas:
      break;
  }
  return {};
}

}  // namespace

// What is not confirmed yet is noted, to be read; what was read counts.
class ConfirmedFacts::Asking : public protection::Facts {
 public:
  Asking(const ConfirmedFacts& all, const protection::FactIndex& index) : all_(all), index_(index) {}

  // An ancestor that does not protect, as far as is known, is read once more; a Namespace that is not known
  // is, before it counts as one without labels.
  AncestorState ancestor(const protection::AncestorTest& test,
                         const protection::Request& request) const override {
    using Kind = AncestorState::Kind;
    const std::string& space = request.object.namespaceName;
    const bool isKnownSpace = !space.empty() && space == all_.namespaceName_;
    protection::NamedAncestor named =
        index_.nameAncestor(test, request, isKnownSpace ? &all_.namespaceLabels_ : nullptr);
    if (named.isNamespaceUnseen) {
      const auto found = confirmed({"", kube::namespaceKey(space), "", true});
      if (found == nullptr) return unconfirmed(named.state);
      if (!found->problem.empty()) return {Kind::Unknown, "namespaces/" + space + ": " + found->problem};
      if (!found->objects.empty())
        named = index_.nameAncestor(test, request, &found->objects.front().meta.labels);
    }
    if (!named.key) return named.state;
    const std::string words = inWords(test, *named.key);
    const Wanted wanted{test.cluster, *named.key, "", true};
    auto found = all_.found(wanted);
    if (found == nullptr) {
      AncestorState state = index_.ancestorAt(test, *named.key);
      if (state.kind == Kind::Protects) return state;
      found = confirmed(wanted);
      if (found == nullptr) return unconfirmed(std::move(state));
    }
    if (!found->problem.empty()) return {Kind::Unknown, words + ": " + found->problem};
    return standingOf(test, *named.key, found->objects.empty() ? nullptr : &found->objects.front());
  }

  Count children(const protection::ChildrenTest& test, const protection::Request& request) const override {
    using By = protection::ChildrenTest::By;
    Count count = index_.children(test, request);
    const kube::ObjectKey& object = request.object;
    if (test.by == By::Label && !kube::isLabelValue(object.name)) return count;  // no label can name it
    const bool isBesideIt = test.by != By::Field || !test.namespaceName;
    const Wanted wanted{"",
                        {test.type, isBesideIt ? object.namespaceName : "", ""},
                        test.by == By::Label ? test.label + "=" + object.name : "",
                        test.by == By::Field};
    return confirmedCount(std::move(count), wanted, [&](const std::vector<kube::Object>& read) {
      return childrenAmong(read, test, request);
    });
  }

  Count active(protection::Activity activity, const protection::Request& request) const override {
    Count count = index_.active(activity, request);
    const bool areInstances = activity == protection::Activity::Instances;
    const Wanted wanted{"",
                        {typeOfActive(activity, request.object), areInstances ? "" : request.object.name, ""},
                        "",
                        !areInstances};
    return confirmedCount(std::move(count), wanted, [&](const std::vector<kube::Object>& read) {
      return activeAmong(read, activity, request);
    });
  }

  protection::Listers listers(const protection::ListedBy& listedBy,
                              const protection::Request& request) const override {
    return index_.listers(listedBy, request);
  }

  const std::set<Wanted>& toRead() const { return toRead_; }

 private:
  // What was read; nullptr: it is to be, or there were too many reads.
  std::shared_ptr<const Found> confirmed(const Wanted& wanted) const {
    auto found = all_.found(wanted);
    if (found == nullptr && all_.isAnyReadLeft()) toRead_.insert(wanted);
    return found;
  }
  // As far as is known: it counts for as long as it is to be read.
  AncestorState unconfirmed(AncestorState state) const {
    if (all_.isAnyReadLeft()) return state;
    return {AncestorState::Kind::Unknown,
            "more than " + std::to_string(all_.limits_.mostReads) + " other objects would have to be read"};
  }
  template <class Among>
  Count confirmedCount(Count count, const Wanted& wanted, const Among& among) const {
    if (!all_.limits_.confirmsCounts || count.objects > 0 || count.unknown) return count;
    if (!all_.live_.find(wanted.key.type)) return count;
    const auto found = confirmed(wanted);
    if (found == nullptr) return count;
    if (!found->problem.empty()) count.unknown = toString(wanted.key.type) + ": " + found->problem;
    return found->problem.empty() ? among(found->objects) : count;
  }

  const ConfirmedFacts& all_;
  const protection::FactIndex& index_;
  mutable std::set<Wanted> toRead_;
};

void ConfirmedFacts::judge(const std::function<void(const protection::Facts& facts)>& judge) {
  for (;;) {
    std::set<Wanted> toRead;
    view_.inspect([&](const protection::FactIndex& index) {
      const Asking asking(*this, index);
      judge(asking);
      toRead = asking.toRead();
    });
    if (toRead.empty()) return;
    for (const Wanted& wanted : toRead) read(wanted);
  }
}

std::shared_ptr<const ConfirmedFacts::Found> ConfirmedFacts::found(const Wanted& wanted) const {
  const kube::MutexLock lock(mutex_);
  const auto found = found_.find(wanted);
  return found == found_.end() ? nullptr : found->second;
}

bool ConfirmedFacts::isAnyReadLeft() const {
  const kube::MutexLock lock(mutex_);
  return found_.size() < limits_.mostReads;
}

// One at a time: most objects of one review have the same ancestor.
void ConfirmedFacts::read(const Wanted& wanted) {
  const kube::MutexLock reading(reading_);
  if (found(wanted) != nullptr || !isAnyReadLeft()) return;
  if (!wanted.key.name.empty() && wanted.key.type != kube::kNamespaces)
    view_.wantAncestors({wanted.cluster, wanted.key.type});
  auto found = std::make_shared<const Found>(readNow(wanted));
  const kube::MutexLock lock(mutex_);
  found_.emplace(wanted, std::move(found));
}

ConfirmedFacts::Found ConfirmedFacts::readNow(const Wanted& wanted) const {
  Found found = wanted.key.name.empty() ? readPage(wanted) : readObject(wanted);
  found.problem = kube::printable(found.problem);
  return found;
}

ConfirmedFacts::Found ConfirmedFacts::readObject(const Wanted& wanted) const {
  const kube::ObjectKey& key = wanted.key;
  kube::Result<std::optional<kube::Object>> object = std::nullopt;
  if (!wanted.cluster.empty()) {
    const auto other = view_.clusterNamed(wanted.cluster);
    if (!other) return {{}, other.error()};
    object = (*other)->get(key.type, key.name, limits_.deadline);
  } else {
    const auto type = live_.find(key.type);
    if (!type) return {{}, "the API server does not serve it now"};
    object = reads_.get(*type, key.name, limits_.deadline);
  }
  if (!object) return {{}, object.error().message};
  Found found;
  if (*object) found.objects.push_back(std::move(**object));
  return found;
}

ConfirmedFacts::Found ConfirmedFacts::readPage(const Wanted& wanted) const {
  const auto type = live_.find(wanted.key.type);
  if (!type) return {{}, "the API server does not serve it now"};
  Found found;
  const auto all = reads_.list(*type,
                               {type->namespaced ? wanted.key.namespaceName : "", wanted.labelSelector,
                                wanted.withContent, kPageOfObjects},
                               limits_.deadline, [&](kube::Object object) {
                                 found.objects.push_back(std::move(object));
                                 return true;
                               });
  if (!all) found.problem = all.error().why;
  return found;
}

}  // namespace lastout::server
