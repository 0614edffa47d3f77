#include "cmd/lease_options.h"

#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>

#include "kube/messages.h"
#include "kube/names.h"

namespace lastout::cmd {
namespace {

constexpr size_t kLongestIdentity = 253;  // bytes

std::string madeIdentity(const client::RandomFraction& random) {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0 || host[0] == '\0')
    host = {'l', 'a', 's', 't', 'o', 'u', 't'};
  const auto number32 = [&] { return static_cast<uint32_t>(random() * 0x1p32); };
  std::array<char, 20> number{};
  std::snprintf(number.data(), number.size(), "_%08x%08x", number32(), number32());
  return std::string(host.data()).substr(0, kLongestIdentity - number.size()) + number.data();
}

kube::Error badOption(const char* option, const std::string& value, const char* what) {
  return {std::string(option) + ": " + kube::inQuotes(value) + " is no " + what, {}, {}};
}

}  // namespace

kube::Result<server::LeaseHolderOptions> leaseOf(const LeaseChoice& choice,
                                                 const client::RandomFraction& random) {
  server::LeaseHolderOptions options;
  if (!choice.ownNamespace.empty()) options.namespaceName = choice.ownNamespace;
  if (!choice.namespaceName.empty()) options.namespaceName = choice.namespaceName;
  options.name = choice.name;
  options.identity = choice.identity.empty() ? madeIdentity(random) : choice.identity;
  if (!kube::isDnsLabel(options.namespaceName))
    return tl::unexpected(badOption("--lease-namespace", options.namespaceName, "name of a namespace"));
  if (!kube::isDnsSubdomain(options.name))
    return tl::unexpected(badOption("--lease-name", options.name, "name of an object"));
  if (options.identity.size() > kLongestIdentity || kube::printable(options.identity) != options.identity)
    return tl::unexpected(badOption("--identity", options.identity, "identity: up to 253 printable bytes"));
  return options;
}

void addLeases(CLI::App& command, LeaseChoice& choice) {
  command.add_option(
      "--lease-namespace", choice.namespaceName,
      "Where the Lease of a lastout serve is; without it, where lastout is installed, and default");
  command.add_option("--lease-name", choice.name, "The name of that Lease")->capture_default_str();
}

kube::Result<std::vector<server::LeaseName>> leasesOf(const LeaseChoice& choice) {
  const auto options = leaseOf(choice, [] { return 0.0; });
  if (!options) return tl::unexpected(options.error());
  std::vector<server::LeaseName> leases{{options->namespaceName, options->name}};
  if (choice.namespaceName.empty()) leases.push_back({"default", options->name});
  return leases;
}

}  // namespace lastout::cmd
