// The webhook configuration that names every guarded object: how large it is, and what making it takes.
#include <benchmark/benchmark.h>

#include <nlohmann/json.hpp>
#include <string>

#include "server/webhook/webhook_configuration.h"

namespace lastout::server {
namespace {

constexpr int64_t kAuthorityBytes = 1'200;  // of a certificate in PEM

// Each provider in a namespace of its own; namespace and name are of 45 characters with the slash. `needed`:
// with what a usual one needs.
WebhookConfiguration configurationOf(int64_t providers, bool needed) {
  WebhookConfiguration configuration;
  configuration.address.serviceNamespace = "lastout";
  configuration.address.serviceName = "lastout";
  configuration.address.authorities = std::string(kAuthorityBytes, 'c');
  configuration.ownNamespace = "lastout";
  ReviewedObjects& objects = configuration.objects;
  objects.providers = {{"apps", "deployments"}};
  for (int64_t i = 0; i < providers; ++i) {
    const std::string number = std::to_string(100'000 + i);
    const std::string space = "operator-system-" + number;
    const std::string name = "controller-manager-" + number.substr(3);
    objects.deleted.insert({{"", "namespaces"}, "", space});
    objects.deleted.insert({{"apps", "deployments"}, space, name});
    if (!needed) continue;
    const std::string group = "rbac.authorization.k8s.io";
    for (const char* resource : {"serviceaccounts", "secrets", "configmaps", "services"})
      objects.deleted.insert({{"", resource}, space, name});
    for (const char* resource : {"clusterroles", "clusterrolebindings"})
      objects.deleted.insert({{group, resource}, "", space + "-" + name});
  }
  return configuration;
}

void report(benchmark::State& state, const WebhookConfiguration& configuration) {
  const nlohmann::json made = toJson(configuration);
  state.counters["kB"] = static_cast<double>(made.dump().size()) / 1'000.0;
  state.counters["webhooks"] = static_cast<double>(made["webhooks"].size());
  state.counters["scope"] = static_cast<double>(makeWebhooks(configuration).scope);
}

void makeConfiguration(benchmark::State& state, bool needed) {
  const WebhookConfiguration configuration = configurationOf(state.range(0), needed);
  for (auto _ : state) benchmark::DoNotOptimize(makeWebhooks(configuration));
  report(state, configuration);
}

BENCHMARK_CAPTURE(makeConfiguration, providersAlone, false)->Arg(2'000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(makeConfiguration, withWhatTheyNeed, true)->Arg(2'000)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lastout::server
