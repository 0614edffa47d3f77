// The ValidatingWebhookConfiguration that makes the API server ask lastout: what it should say, and whether
// one says so.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "kube/object.h"
#include "kube/value.h"
#include "server/webhook/reviewed_objects.h"

namespace lastout::server {

// Reviews come here where others keep the webhook configuration; otherwise to a path below it.
inline constexpr std::string_view kReviewPath = "/review";
// Returns the secret path for reviews, so that only clients that may read the webhook configuration can send
// reviews. It is made of a private key in PEM, which the replicas share and renew, and of a seed, with which
// another path is made from the same key.
std::string reviewPathOf(std::string_view privateKey, std::string_view seed = {});

// Where the API server finds lastout: a URL, or (url empty) a Service of the cluster.
struct WebhookAddress {
  std::string url;  // "https://127.0.0.1:9443", without a path
  std::string serviceNamespace;
  std::string serviceName;
  int servicePort = 443;
  std::string authorities;  // PEM: who vouches for lastout's certificate
  std::string reviewPath = std::string(kReviewPath);
};

// What it asks about. Namespaces: where naming every object takes more than the API server would store, all
// objects of some types in some namespaces (ReviewedObjects::wider()). Types: all objects of their types, for
// API servers without matchConditions (before Kubernetes 1.28).
enum class WebhookScope : uint8_t { Objects, Namespaces, Types };

struct WebhookConfiguration {
  std::string name = "lastout";
  WebhookAddress address;
  std::string ownNamespace;  // empty: lastout runs outside the cluster
  kube::Labels labels;       // that the object is to have beside those of others
  bool auditOnly = false;    // lastout allows everything: where it does not answer, so does the API server
  WebhookScope scope = WebhookScope::Objects;  // or Types; the other follows from the objects
  ReviewedObjects objects;                     // what the cluster makes of it
};

// The parts of the object that say what it asks for.
struct DeclaredWebhooks {
  nlohmann::json webhooks;
  nlohmann::json owners;
  bool operator==(const DeclaredWebhooks&) const = default;
};
DeclaredWebhooks declaredIn(const kube::Value& object);

// The same of a configuration, whose webhooks may be of 1 MB: to be made once.
struct MadeWebhooks {
  DeclaredWebhooks declared;
  std::string fingerprint;  // a digest of all that it asks for, in hexadecimal: those that differ have others
  WebhookScope scope = WebhookScope::Objects;  // what it comes to ask about
};
MadeWebhooks makeWebhooks(const WebhookConfiguration& configuration);

// The whole object, with all that the API server would fill in, to be created, or to be merged into
// the one of that resourceVersion. Its webhooks ask about whatever is done to CriticalServices; about DELETEs
// of the objects, by a webhook for each type whose matchCondition lists their names, and for Namespaces by
// their label; and about updates of the objects whose scaling is reviewed. With WebhookScope::Types about
// DELETEs of all Namespaces and CustomResourceDefinitions, all objects of the types of providers, and of the
// other types all in the objects' namespaces. What is in kube-system, and in lastout's own namespace, is
// never reviewed. One webhook more asks about the sentinel alone, with the configuration's fingerprint in its
// path.
nlohmann::json toJson(const std::string& name, const DeclaredWebhooks& declared, const kube::Labels& labels,
                      const std::string& resourceVersion = {});
nlohmann::json toJson(const WebhookConfiguration& configuration);

// True if the object has all of these labels.
bool hasLabels(const kube::Value& object, const kube::Labels& labels);

// Whether what stands is what was made without its matchConditions: the API server does not know them.
bool lacksConditions(const DeclaredWebhooks& standing, const DeclaredWebhooks& made);

// Returns the namespace of the lastout to which the object belongs: that of its owner, or else that of the
// Service that it names. Empty: it has neither.
std::string homeOf(const kube::Value& object);

// The path at which the object has reviews asked for; empty: it has none.
std::string reviewPathIn(const kube::Value& object);
// It is one that reviewPathOf() can make.
bool isSecretPath(std::string_view path);

// Whether each webhook of the object trusts these certificates (PEM), and maybe others.
bool namesAuthorities(const kube::Value& object, const std::string& authorities);

}  // namespace lastout::server
