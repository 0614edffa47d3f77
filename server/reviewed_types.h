// ReviewedTypes: which deletions lastout is to be asked about, as the CriticalServices that there are make
// it.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "admission/guards.h"
#include "criticalservice/critical_service.h"
#include "kube/object_key.h"

namespace lastout::server {

// What is reviewed besides Namespaces, CustomResourceDefinitions and CriticalServices, and whose the webhook
// configuration is.
struct ReviewedTypes {
  std::set<kube::GroupResource> providers;  // the types that CriticalServices name as providers
  std::set<kube::GroupResource> scaled;     // those of them whose scaling is guarded, too
  std::string ownNamespaceUid = {};  // of lastout's Namespace, which owns the configuration; empty: none does
  // What providers need is of these types, and is in these namespaces, or in none.
  std::set<kube::GroupResource> needed = {};
  std::set<std::string> neededIn = {};
  bool operator==(const ReviewedTypes&) const = default;

  // What one CriticalService has reviewed, whose provider needs that. Nothing is in kube-system, nor in
  // lastout's own namespace (empty: it runs outside the cluster).
  void add(const criticalservice::CriticalService& service, const admission::Dependencies& dependencies,
           std::string_view ownNamespace);
  // The types of which all is reviewed, but for these two namespaces.
  std::set<kube::GroupResource> everywhere() const;
  // Whoever asks for this asks for what is `wanted`; scaling apart.
  bool covers(const ReviewedTypes& wanted) const;
  // What both ask for, as far as can be told by types and namespaces alone.
  ReviewedTypes common(const ReviewedTypes& other) const;
  // "deployments.apps", or with what providers need.
  std::string toString() const;
};

}  // namespace lastout::server
