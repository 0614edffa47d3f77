#include "criticalservice/provider_types.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lastout::criticalservice {
namespace {

using ::testing::HasSubstr;

TEST(ProviderTypes, WorkloadsAndCustomResourcesCanBeProviders) {
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  for (const kube::GroupResource& type : {kube::GroupResource{"apps", "deployments"},
                                          {"apps", "statefulsets"},
                                          {"apps", "daemonsets"},
                                          {"apps", "replicasets"},
                                          {"batch", "jobs"},
                                          {"batch", "cronjobs"},
                                          {"", "replicationcontrollers"},
                                          {"postgresql.example.com", "clusters"},
                                          {"work.open-cluster-management.io", "manifestworks"}}) {
    EXPECT_EQ(whyNoProvider(type, types), std::nullopt) << kube::toString(type);
  }
}

TEST(ProviderTypes, WhatRunsNothingCannot) {
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  const auto why = [&](const kube::GroupResource& type) { return whyNoProvider(type, types).value_or(""); };
  EXPECT_THAT(why({"", "pods"}), HasSubstr("name the workload that owns the Pod"));
  EXPECT_THAT(why({"", "namespaces"}), HasSubstr("name the workload in the namespace"));
  EXPECT_THAT(why({"lastout.dev", "criticalservices"}), HasSubstr("run nothing"));
  EXPECT_THAT(why({"apiextensions.k8s.io", "customresourcedefinitions"}), HasSubstr("run nothing"));
  EXPECT_THAT(why({"admissionregistration.k8s.io", "validatingwebhookconfigurations"}),
              HasSubstr("exempt from admission webhooks"));
  EXPECT_THAT(why({"", "services"}), HasSubstr("run nothing"));
}

TEST(DependencyTypes, AreThoseThatAProviderMayNeed) {
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  for (const kube::GroupResource& type : {kube::GroupResource{"apps", "deployments"},
                                          {"apps", "statefulsets"},
                                          {"apps", "daemonsets"},
                                          {"apps", "replicasets"},
                                          {"batch", "jobs"},
                                          {"batch", "cronjobs"},
                                          {"", "replicationcontrollers"},
                                          {"", "serviceaccounts"},
                                          {"", "secrets"},
                                          {"", "configmaps"},
                                          {"", "persistentvolumeclaims"},
                                          {"", "services"},
                                          {"rbac.authorization.k8s.io", "roles"},
                                          {"rbac.authorization.k8s.io", "rolebindings"},
                                          {"rbac.authorization.k8s.io", "clusterroles"},
                                          {"rbac.authorization.k8s.io", "clusterrolebindings"},
                                          {"apiregistration.k8s.io", "apiservices"},
                                          {"apiextensions.k8s.io", "customresourcedefinitions"},
                                          {"cert-manager.io", "certificates"},
                                          {"gateway.networking.k8s.io", "gateways"},
                                          {"work.open-cluster-management.io", "manifestworks"}})
    EXPECT_EQ(whyNoDependency(type, types), std::nullopt) << kube::toString(type);
}

// The last ones are of API servers that are newer than this.
TEST(DependencyTypes, AreNoneThatTheClusterMakesAndTakesAwayByItself) {
  const kube::ResourceMap& types = kube::ResourceMap::builtIn();
  for (const kube::GroupResource& type : {kube::GroupResource{"", "pods"},
                                          {"", "nodes"},
                                          {"", "events"},
                                          {"events.k8s.io", "events"},
                                          {"coordination.k8s.io", "leases"},
                                          {"", "endpoints"},
                                          {"discovery.k8s.io", "endpointslices"},
                                          {"storage.k8s.io", "volumeattachments"},
                                          {"certificates.k8s.io", "certificatesigningrequests"},
                                          {"", "namespaces"},
                                          {"", "persistentvolumes"},
                                          {"apps", "controllerrevisions"},
                                          {"networking.k8s.io", "networkpolicies"},
                                          {"storage.k8s.io", "volumeattributesclasses"},
                                          {"resource.k8s.io", "resourceclaims"},
                                          {"", "things"},
                                          {"extensions", "ingresses"}})
    EXPECT_THAT(whyNoDependency(type, types).value_or(""), HasSubstr("of built-in types only workloads"))
        << kube::toString(type);
  for (const char* const resource :
       {"validatingwebhookconfigurations", "mutatingwebhookconfigurations", "validatingadmissionpolicies"})
    EXPECT_THAT(whyNoDependency({"admissionregistration.k8s.io", resource}, types).value_or(""),
                HasSubstr("asks no webhook"));
}

TEST(ProviderTypes, ThoseWhosePodsOutliveTheirTerminationCanBeHeld) {
  for (const char* const resource : {"deployments", "statefulsets", "daemonsets"})
    EXPECT_TRUE(canBeHeld({"apps", resource})) << resource;
  for (const kube::GroupResource& type : {kube::GroupResource{"apps", "replicasets"},
                                          {"batch", "jobs"},
                                          {"", "replicationcontrollers"},
                                          {"", "deployments"},
                                          {"apps.example.com", "deployments"}})
    EXPECT_FALSE(canBeHeld(type)) << kube::toString(type);
}

}  // namespace
}  // namespace lastout::criticalservice
