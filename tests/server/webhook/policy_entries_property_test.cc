// What judge() denies by its part in the webhook, API servers ask the webhook about: on random policies,
// objects and requests, by what the embedded API server makes of the entries.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "kube/well_known.h"
#include "protection/evaluate.h"
#include "protection/implied.h"
#include "server/webhook/policy_entries.h"
#include "server/webhook/webhook_configuration.h"
#include "simulator/webhooks.h"
#include "tests/protection/plain_policy.h"
#include "tests/protection/told_index.h"
#include "tests/support/seed.h"

namespace lastout::server {
namespace {

using lastout::testing::Dice;
using lastout::testing::PlainObject;
using lastout::testing::PlainRequest;
using nlohmann::json;
using protection::DeletionPolicy;
using protection::PolicyMode;

using Names = std::vector<std::string>;
const Names kUnasked{"kube-system", "lastout"};
const Names kOwnerKeys{"example.com/protect", "example.com/allow", "it", "in"};  // as of PlainObject

bool isUnasked(const std::string& space) { return std::ranges::find(kUnasked, space) != kUnasked.end(); }

// --- what is drawn

constexpr const char* kChildrenAlone = "  - {children: [{resource: pods, ownerReference: true}]}\n";

std::string drawRemoteCase(Dice& dice) {
  std::string text = "  - {";
  if (dice.oneIn(3)) text += "label: it, ";
  if (dice.oneIn(3)) return text + "children: [{resource: pods, ownerReference: true}]}\n";
  return text +
         "ancestor: {groupLabel: example.com/protect, versionLabel: example.com/allow, kindLabel: it, " +
         "nameLabel: in, orOfNamespace: " + (dice.oneIn(2) ? "true" : "false") +
         ", field: {path: spec.on}}}\n";
}

constexpr const char* kListedBy = R"(  listedBy:
    group: example.com
    resource: lists
    selectors: spec
    apiVersion: apiVersion
    kind: kind
    namespace: namespace
    name: name
    matchLabels: labels
    in: )";

// The text of a policy, some of whose cases need other objects.
std::string drawSpec(Dice& dice) {
  lastout::testing::PlainPolicy plain = lastout::testing::drawPolicy(dice);
  const bool isListed = !plain.hold && dice.oneIn(3);
  if (isListed) plain.objects.clear();
  std::string spec = plain.spec();
  const std::string cases = "  when:\n";
  if (const size_t at = spec.find(cases); at != std::string::npos && !dice.oneIn(3))
    spec.insert(at + cases.size(), plain.hold ? kChildrenAlone : drawRemoteCase(dice));
  if (isListed) spec += kListedBy + dice.pick(Names{"AnyNamespace", "OwnNamespace", "OwnUnlessNamed"}) + "\n";
  if (dice.oneIn(4)) spec += "  code: 409\n";
  if (dice.oneIn(4)) spec += "  namespaces: Ignore\n  crds: Ignore\n";
  return spec;
}

std::string drawLister(Dice& dice, int number) {
  const std::string space = dice.pick(Names{"shop", "o-ne", "kube-system"});
  std::string text = "apiVersion: example.com/v1\nkind: Listing\nmetadata: {name: l" +
                     std::to_string(number) + ", namespace: " + space + ", uid: u" + std::to_string(number) +
                     "}\nspec:\n";
  for (uint32_t i = 1 + dice.below(3); i > 0; --i) {
    text += dice.pick(Names{"- {apiVersion: v1, kind: ConfigMap", "- {apiVersion: apps/v1, kind: Deployment",
                            "- {apiVersion: v1, kind: Namespace", "- {kind: Widget"});
    if (dice.oneIn(2)) text += ", namespace: " + dice.pick(Names{"shop", "o-ne", "lastout"});
    if (dice.oneIn(3)) text += ", name: " + dice.pick(Names{"web", "db"});
    if (dice.oneIn(3)) text += ", labels: {it: x}";
    text += "}\n";
  }
  return text;
}

PlainRequest drawRequestAnywhere(Dice& dice) {
  PlainRequest request = lastout::testing::drawRequest(dice);
  const std::string unasked = dice.oneIn(8) ? dice.pick(kUnasked) : "";
  for (PlainObject* object : {&request.before, &request.after}) {
    const bool isNamespace = object->resource == "namespaces";
    if (!unasked.empty()) (isNamespace ? object->name : object->namespaceName) = unasked;
    if (isNamespace) object->labels[kube::kNamespaceNameLabel] = object->name;  // as API servers have it
  }
  return request;
}

kube::Labels drawNamespaceLabels(Dice& dice, const std::string& space) {
  kube::Labels labels{{kube::kNamespaceNameLabel, space}};
  for (const std::string& key : kOwnerKeys)
    if (dice.oneIn(6)) labels.emplace(key, "x");
  return labels;
}

// --- what is judged, and asked about

// Each doubt protects: whatever the webhook may have to deny, it denies.
class Protecting : public protection::Facts {
 public:
  Protecting(const protection::FactIndex& index, const kube::Labels& namespaceLabels)
      : index_(index), namespaceLabels_(namespaceLabels) {}

  protection::AncestorState ancestor(const protection::AncestorTest& test,
                                     const protection::Request& request) const override {
    const bool isIn = test.orOfNamespace && !request.object.namespaceName.empty();
    const auto hasAny = [](const kube::Labels& labels) {
      return std::ranges::any_of(kOwnerKeys, [&](const std::string& key) { return labels.contains(key); });
    };
    using Kind = protection::AncestorState::Kind;
    const bool isManaged = hasAny(request.meta->labels) || (isIn && hasAny(namespaceLabels_));
    return {isManaged ? Kind::Protects : Kind::NotManaged, "x"};
  }
  protection::Count children(const protection::ChildrenTest& /*test*/,
                             const protection::Request& /*request*/) const override {
    return {1, "Pod/a", {}};
  }
  protection::Count active(protection::Activity /*activity*/,
                           const protection::Request& /*request*/) const override {
    return {1, "Pod/a", {}};
  }
  protection::Listers listers(const protection::ListedBy& listedBy,
                              const protection::Request& request) const override {
    return index_.listers(listedBy, request);
  }

 private:
  const protection::FactIndex& index_;
  const kube::Labels& namespaceLabels_;
};

class PolicyEntriesProperty : public ::testing::Test {
 public:
  PolicyEntriesProperty() {
    told.types.add({{"example.com", "widgets"}, "Widget", "v1", "widget", {}, true, false});
  }

  void follow(Dice& dice) {
    told.index.setPolicies({policy});
    told.knowAll();
    for (int i = 0; i < 3; ++i) told.tell(drawLister(dice, i));
  }
  void makeWebhooksOf(PolicyMode mode) {
    WebhookConfiguration configuration;
    configuration.address.url = "https://127.0.0.1:9443";
    configuration.ownNamespace = "lastout";
    configuration.objects.policies = policyEntries({policy}, mode, told.types, told.index, "lastout");
    auto read = simulator::checkConfiguration(toJson(configuration));
    ASSERT_TRUE(read) << read.error().message;
    webhooks = std::move(*read);
  }
  bool isAsked(const simulator::ReviewRequest& request) const {
    return std::ranges::any_of(webhooks, [&](const simulator::Webhook& webhook) {
      return isNameForPolicies(webhook.name) && isToBeAsked(webhook, request).value();
    });
  }
  // A DELETE of what holds a protected object.
  bool isHolderAsked(const kube::ObjectKey& holder) const {
    simulator::Json object = {{"metadata", {{"name", holder.name}}}};
    if (holder.type.resource == "namespaces")
      object["metadata"]["labels"][kube::kNamespaceNameLabel] = holder.name;
    simulator::ReviewRequest request;
    request.operation = "DELETE";
    request.type = holder.type;
    request.version = "v1";
    request.name = holder.name;
    request.oldObject = &object;
    return isAsked(request);
  }

  protection::ToldIndex told{protection::definitionText("example.com", "lists", "Listing", true)};
  DeletionPolicy policy;
  std::vector<simulator::Webhook> webhooks;
};

struct Drawn {
  kube::Object before;
  kube::Object after;
  simulator::Json beforeJson;
  simulator::Json afterJson;
  protection::Request judged;
  simulator::ReviewRequest asked;

  Drawn(const PlainRequest& plain, kube::ResourceMap& types, const kube::Labels& namespaceLabels)
      : before(lastout::testing::object(plain.before.yaml(), types)),
        after(lastout::testing::object(plain.after.yaml(), types)),
        beforeJson(kube::toJson(before.content)),
        afterJson(kube::toJson(after.content)),
        judged(protection::deletionOf(before)) {
    judged.user = plain.user;
    judged.groups = plain.groups;
    judged.orphans = plain.orphans;
    asked.operation = plain.isUpdate ? "UPDATE" : "DELETE";
    asked.type = before.key.type;
    asked.version = "v1";
    asked.namespaceName = before.key.namespaceName;
    asked.name = before.key.name;
    asked.oldObject = &beforeJson;
    asked.namespaceLabels = namespaceLabels;
    if (!plain.isUpdate) return;
    judged.operation = protection::PolicyOperation::Update;
    judged.newMeta = &after.meta;
    asked.object = &afterJson;
  }
  Drawn(const Drawn&) = delete;
  Drawn& operator=(const Drawn&) = delete;
};

#ifdef LASTOUT_SANITIZED
constexpr int kDrawnPolicies = 200;
#else
constexpr int kDrawnPolicies = 2'000;
#endif

TEST_F(PolicyEntriesProperty, WhatTheWebhookWouldDenyItIsAskedAbout) {
  const uint32_t seed = lastout::testing::seed();
  SCOPED_TRACE(lastout::testing::howToRepeat(seed));
  Dice dice(seed);
  int denied = 0;
  int implied = 0;
  for (int i = 0; i < kDrawnPolicies; ++i) {
    const std::string spec = drawSpec(dice);
    policy = protection::policyOf(spec);
    const PolicyMode mode = dice.oneIn(2) ? PolicyMode::Webhook : PolicyMode::ApiServer;
    follow(dice);
    makeWebhooksOf(mode);
    for (int j = 0; j < 8; ++j) {
      const PlainRequest plain = drawRequestAnywhere(dice);
      const kube::Labels namespaceLabels = drawNamespaceLabels(dice, plain.before.namespaceName);
      Drawn drawn(plain, told.types, namespaceLabels);
      if (plain.isUpdate && dice.oneIn(3)) drawn.asked.subresource = "status";
      const Protecting facts(told.index, namespaceLabels);
      const std::string all = spec + "---\n" + plain.before.yaml() + (plain.isUpdate ? "--- updated\n" : "");
      if (isUnasked(simulator::namespaceOf(drawn.asked))) {
        ASSERT_FALSE(isAsked(drawn.asked)) << all;
        continue;
      }
      if (protection::judge(policy, drawn.judged, facts, webhookPartOf(policy, mode))) {
        ++denied;
        ASSERT_TRUE(isAsked(drawn.asked)) << all;
      }
      if (plain.isUpdate || !protection::judge(policy, drawn.judged, facts)) continue;
      const kube::ObjectKey space{{"", "namespaces"}, "", drawn.before.key.namespaceName};
      if (!space.name.empty() && protection::implies(policy, space.type)) {
        ++implied;
        ASSERT_TRUE(isHolderAsked(space)) << all;
      }
      if (drawn.before.key.type.group == "example.com" &&
          protection::implies(policy, kube::kCustomResourceDefinitions)) {
        ASSERT_TRUE(isHolderAsked(kube::crdKey(drawn.before.key.type))) << all;
      }
    }
  }
  EXPECT_GT(denied, kDrawnPolicies / 4) << "the generator draws too little that the webhook denies";
  EXPECT_GT(implied, kDrawnPolicies / 8);
}

}  // namespace
}  // namespace lastout::server
