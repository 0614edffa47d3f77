// lastout policy: deletion policies, and the profiles of other systems: shown, applied, taken away.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <filesystem>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "client/access.h"
#include "client/discovery.h"
#include "cmd/commands.h"
#include "cmd/paths.h"
#include "cmd/policy_rights.h"
#include "cmd/policy_sources.h"
#include "cmd/policy_writer.h"
#include "cmd/source.h"
#include "cmd/usage.h"
#include "kube/messages.h"
#include "kube/value.h"
#include "kube/yaml_text.h"
#include "protection/cel.h"
#include "protection/describe.h"
#include "protection/placement.h"
#include "protection/profiles.h"
#include "server/check/shipped_objects.h"
#include "server/watch/policy_types.h"

namespace lastout::cmd {
namespace {

using kube::OrderedJson;

constexpr size_t kMostNamed = 5;  // policies in a line

constexpr const char* kPolicyExamples = R"(Examples:
  lastout policy list                                the profiles: policies of other systems
  lastout policy show karmada                        what it protects, and where each part runs
  lastout policy apply karmada --kubeconfig lastout.kubeconfig

Each of its commands has its own --help with more examples.
Exit codes: 0 done; 1 the cluster refused something, or does not answer; 2 bad input.)";

constexpr const char* kListExamples = R"(Examples:
  lastout policy list

Exit codes: 0 done.)";

constexpr const char* kShowExamples = R"(Examples:
  lastout policy show karmada                        what it protects, and where each part runs
  lastout policy show orkestra --policies webhook    the same where the API server evaluates nothing
  lastout policy show kruise -o yaml                 the policies, to be edited and applied
  lastout policy show karmada --admission-policies   what kubectl apply takes, without any lastout
  lastout policy show my-policies.yaml --kubeconfig lastout.kubeconfig   does the cluster have the types and fields?

Of a katalog of Orkestra's it says how each CRD is protected.
Exit codes: 0 done; 2 bad input.)";

constexpr const char* kApplyExamples = R"(Examples:
  lastout policy apply karmada                       into the cluster of KUBECONFIG
  lastout policy apply karmada kruise --dry-run      the API server says what it would do
  lastout policy apply my-policies.yaml --kubeconfig lastout.kubeconfig
  lastout policy apply appcat --ancestor-cluster control-plane
  lastout policy apply karmada --wait                until API servers go by it
  lastout policy apply katalog.yaml                  and deletes those that the katalog no longer has

First it says which rights lastout needs for them, and which of these its accounts lack.
Exit codes: 0 done; 1 the cluster refused something, or does not answer; 2 bad input.)";

constexpr const char* kRemoveExamples = R"(Examples:
  lastout policy remove karmada                      its policies, in the cluster of KUBECONFIG
  lastout policy remove karmada --dry-run
  lastout policy remove katalog.yaml                 all that were ever applied of a katalog

Exit codes: 0 done; 1 the cluster refused something, or does not answer; 2 bad input.)";

constexpr const char* kImportExamples = R"(Examples:
  lastout policy import katalog.yaml                 the policies that say the same, in YAML
  lastout policy import katalog.yaml --crd app=apps.security.orkestra.io
  lastout policy import katalog.yaml | lastout policy apply -

Read are security.deletionProtection {enabled, strictMode, failurePolicy, cleanupOnShutdown} and of each CRD of spec.crds
its deletionProtection {protectCRD, protectCRs, strictMode} and apiTypes {group, plural}.
Exit codes: 0 done; 2 bad input.)";

struct PolicyChoice {
  std::vector<std::string> words;
  std::string file;
  std::vector<std::string> crds;
  std::string output = "text";
  std::string policies = "apiserver";
  bool admissionPolicies = false;
  std::string kubeconfig;
  std::string context;
  bool dryRun = false;
  bool wait = false;
  std::string timeout = "1m";
  std::string namespaceName = server::kInstalledNamespace;
  std::string ancestorCluster;
};

tl::expected<std::vector<PolicySource>, kube::Errors> sourcesOf(const PolicyChoice& choice) {
  auto sources = readPolicySources(choice.words);
  if (!sources || choice.ancestorCluster.empty()) return sources;
  if (auto set = setAncestorCluster(*sources, choice.ancestorCluster); !set)
    return tl::unexpected(std::move(set.error()));
  return sources;
}

void addAncestorCluster(CLI::App& command, PolicyChoice& choice) {
  command.add_option(
      "--ancestor-cluster", choice.ancestorCluster,
      "Their ancestors are on another cluster, of this name: as serve --policy-cluster names it");
}

int runList() {
  size_t width = 0;
  for (const protection::Profile& one : protection::profiles()) width = std::max(width, one.name.size());
  for (const protection::Profile& one : protection::profiles())
    std::cout << one.name << std::string(width + 2 - one.name.size(), ' ') << one.summary << "\n";
  return kOk;
}

void printDocuments(const std::vector<OrderedJson>& documents, bool asJson) {
  if (asJson) {
    std::cout << OrderedJson{{"apiVersion", "v1"}, {"kind", "List"}, {"items", documents}}.dump(2) << "\n";
    return;
  }
  for (size_t i = 0; i < documents.size(); ++i)
    std::cout << (i == 0 ? "" : "---\n") << kube::toYaml(documents[i]);
}

void printText(const std::vector<PolicySource>& sources, protection::PolicyMode mode) {
  bool isFirst = true;
  for (const PolicySource& source : sources) {
    if (source.settings) std::cout << source.name << ": " << protection::describe(*source.settings);
    for (const protection::PolicyManifest& one : source.policies) {
      std::cout << (isFirst && !source.settings ? "" : "\n") << protection::describe(one.policy, mode);
      isFirst = false;
    }
  }
}

// Warns of the types and fields that the policies name and the cluster does not have, and of those that
// cannot be compared with it.
void warnOfUnknown(const std::shared_ptr<client::Access>& access, const client::Discovery& discovery,
                   const std::vector<PolicySource>& sources) {
  const server::PolicyReads reads(access);
  kube::Errors warnings;
  for (const PolicySource& source : sources) {
    for (const protection::PolicyManifest& one : source.policies) {
      const server::ComparedTypes compared = server::compareTypes(reads, discovery, one.policy);
      const auto warn = [&](const std::string& text) {
        warnings.push_back({one.policy.meta.name + ": " + text, source.name, {}});
      };
      if (!compared.unknown.empty()) warn(compared.unknown);
      for (const std::string& unclear : compared.unclear) warn(unclear);
    }
  }
  printWarnings(warnings);
}

// Tells which part of the policy its ValidatingAdmissionPolicies leave out.
void tellWhatIsLeftOut(const protection::DeletionPolicy& policy) {
  const auto apiServer = protection::PolicyMode::ApiServer;
  if (!protection::runsAt(policy, apiServer, protection::EnforcementPoint::Webhook) &&
      !protection::runsAt(policy, apiServer, protection::EnforcementPoint::Controller))
    return;
  const bool isNothing = protection::admissionPoliciesOf(policy).empty();
  std::cerr << "deletion policy " << policy.meta.name << ": API servers can evaluate "
            << (isNothing ? "nothing of it" : "a part of it alone")
            << "; for the rest run lastout serve (lastout policy show says which part runs where)\n";
}

int runShow(const PolicyChoice& choice) {
  const auto sources = sourcesOf(choice);
  if (!sources) return badInput(sources.error());
  if (!choice.kubeconfig.empty() || !choice.context.empty()) {
    const auto access = openCluster(choice.kubeconfig, choice.context);
    if (!access) return badInput(access.error());
    const auto discovery = client::discover(*(*access)->newServer());
    if (!discovery) return badInput(discovery.error());
    warnOfUnknown(*access, *discovery, *sources);
  }
  std::vector<OrderedJson> documents;
  for (const PolicySource& source : *sources) {
    for (const protection::PolicyManifest& one : source.policies) {
      if (!choice.admissionPolicies) {
        documents.push_back(kube::toJson(one.object.content));
        continue;
      }
      tellWhatIsLeftOut(one.policy);
      for (OrderedJson& made : protection::admissionPoliciesOf(one.policy))
        documents.push_back(std::move(made));
    }
  }
  if (choice.admissionPolicies || choice.output == "json") {
    printDocuments(documents, choice.output == "json");
  } else if (choice.output == "text") {
    printText(*sources, choice.policies == "webhook" ? protection::PolicyMode::Webhook
                                                     : protection::PolicyMode::ApiServer);
  } else {
    for (size_t i = 0; i < sources->size(); ++i) std::cout << (i == 0 ? "" : "---\n") << (*sources)[i].text;
  }
  return kOk;
}

int inCluster(
    const PolicyChoice& choice,
    const std::function<void(const std::shared_ptr<client::Access>& access, PolicyWriter& writer)>& write) {
  const auto access = openCluster(choice.kubeconfig, choice.context);
  if (!access) return badInput(access.error());
  const auto server = (*access)->newServer();
  PolicyWriter writer(*server, choice.dryRun);
  write(*access, writer);
  return writer.exitCode();
}

// Tells that a DELETE leaves behind what held objects represent outside the cluster.
void tellOfOutside(const PolicySource& source) {
  std::vector<std::string> names;
  for (const protection::PolicyManifest& one : source.policies)
    if (one.policy.hold && !one.policy.hold->hasExternalStep()) names.push_back(one.policy.meta.name);
  if (names.empty()) return;
  std::cerr << source.name << ": " << protection::kNothingOutside << " with the objects of "
            << kube::listed(names, kMostNamed) << ", as spec.hold.external.reportedBy is not set\n";
}

bool isOfKatalog(const PolicySource& source) { return source.settings.has_value(); }

int runApply(const PolicyChoice& choice) {
  const auto sources = sourcesOf(choice);
  if (!sources) return badInput(sources.error());
  const auto timeout = durationOf("--timeout", choice.timeout);
  if (!timeout) return badInput(timeout.error());
  return inCluster(choice, [&](const auto& access, PolicyWriter& writer) {
    if (const auto discovery = client::discover(*access->newServer())) {
      tellRights(access, *discovery, *sources, choice.namespaceName);
      warnOfUnknown(access, *discovery, *sources);
    } else {
      std::cerr << "which rights lastout needs is not known: " << toString(discovery.error()) << "\n";
    }
    for (const PolicySource& source : *sources) {
      writer.apply(source);
      tellOfOutside(source);
    }
    if (std::ranges::any_of(*sources, isOfKatalog)) writer.removeFormer(*sources);
    if (choice.wait) writer.waitUntilEnforced(*sources, *timeout);
  });
}

// Neither a profile nor a file: the name of a policy, as one may think.
bool isOnePolicy(const std::string& word) {
  std::error_code unknown;
  return word != kStandardInput && !protection::findProfile(word) && !std::filesystem::exists(word, unknown);
}

int runRemove(const PolicyChoice& choice) {
  const auto sources = readPolicySources(choice.words);
  if (!sources) {
    kube::Errors errors = sources.error();
    if (std::ranges::any_of(choice.words, isOnePolicy))
      errors.push_back(
          {"one policy is deleted by its name with: kubectl delete deletionpolicy NAME", {}, {}});
    return badInput(errors);
  }
  return inCluster(choice, [&](const auto& /*access*/, PolicyWriter& writer) {
    for (const PolicySource& source : *sources) writer.remove(source);
  });
}

// "app=apps.security.orkestra.io".
kube::Result<std::map<std::string, kube::GroupResource>> crdTypesOf(const std::vector<std::string>& texts) {
  std::map<std::string, kube::GroupResource> types;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    const size_t dot = text.find('.', equals == std::string::npos ? 0 : equals);
    if (equals == std::string::npos || equals == 0 || dot == std::string::npos || dot == equals + 1 ||
        dot + 1 == text.size())
      return tl::unexpected(
          kube::Error{"--crd: write it as NAME=PLURAL.GROUP, not " + kube::inQuotes(text), {}, {}});
    types[text.substr(0, equals)] = {text.substr(dot + 1), text.substr(equals + 1, dot - equals - 1)};
  }
  return types;
}

int runImport(const PolicyChoice& choice) {
  const auto types = crdTypesOf(choice.crds);
  if (!types) return badInput(types.error());
  const auto source = readOrkestra(choice.file, *types);
  if (!source) return badInput(source.error());
  if (source->policies.empty())
    printWarnings({{"deletion protection is not enabled in it, so there are no policies", choice.file, {}}});
  std::cout << source->text;
  return kOk;
}

void addCluster(CLI::App& command, PolicyChoice& choice) {
  addKubeconfig(command, choice.kubeconfig, choice.context);
  command.add_flag("--dry-run", choice.dryRun, "The API server says what it would do, and changes nothing");
}

void addShow(CLI::App& policy, const std::shared_ptr<PolicyChoice>& choice, int& exitCode) {
  CLI::App* show = policy.add_subcommand("show", "Say what policies protect, and where each part runs");
  show->footer(kShowExamples);
  show->add_option("NAME", choice->words,
                   "Profiles, and files or folders of policies; - is the standard input")
      ->required();
  show->add_option("-o,--output", choice->output, "text, yaml or json")
      ->check(CLI::IsMember({"text", "yaml", "json"}))
      ->capture_default_str();
  show->add_option("--policies", choice->policies,
                   "Where they are to run: in the API server as far as possible, or all in the webhook")
      ->check(eitherOf("apiserver", "webhook"))
      ->capture_default_str();
  show->add_flag("--admission-policies", choice->admissionPolicies,
                 "The ValidatingAdmissionPolicies that are made of them, with their bindings");
  addAncestorCluster(*show, *choice);
  show->add_option("--kubeconfig", choice->kubeconfig,
                   "A cluster; warns of types and fields that the policies name and it does not have");
  show->add_option("--context", choice->context, "A context of the kubeconfig, for the same");
  show->callback([choice, &exitCode] { exitCode = runShow(*choice); });
}

void addApply(CLI::App& policy, const std::shared_ptr<PolicyChoice>& choice, int& exitCode) {
  CLI::App* apply = policy.add_subcommand("apply", "Create the policies in a cluster, or update them");
  apply->footer(kApplyExamples);
  apply
      ->add_option("NAME", choice->words,
                   "Profiles, and files or folders of policies; - is the standard input")
      ->required();
  addAncestorCluster(*apply, *choice);
  addCluster(*apply, *choice);
  apply->add_option("-n,--namespace", choice->namespaceName, "Where lastout is installed")
      ->capture_default_str();
  CLI::Option* wait = apply->add_flag("--wait", choice->wait, "Wait until API servers go by the policies");
  wait->excludes("--dry-run");
  apply->add_option("--timeout", choice->timeout, "How long to wait")->needs(wait)->capture_default_str();
  apply->callback([choice, &exitCode] { exitCode = runApply(*choice); });
}

void addRemove(CLI::App& policy, const std::shared_ptr<PolicyChoice>& choice, int& exitCode) {
  CLI::App* remove = policy.add_subcommand("remove", "Delete the policies in a cluster");
  remove->footer(kRemoveExamples);
  remove
      ->add_option("NAME", choice->words,
                   "Profiles, and files or folders of policies; - is the standard input")
      ->required();
  addCluster(*remove, *choice);
  remove->callback([choice, &exitCode] { exitCode = runRemove(*choice); });
}

void addImport(CLI::App& policy, const std::shared_ptr<PolicyChoice>& choice, int& exitCode) {
  CLI::App* import = policy.add_subcommand("import", "Print the policies of an Orkestra katalog");
  import->footer(kImportExamples);
  import->add_option("FILE", choice->file, "The katalog; - is the standard input")->required();
  import->add_option("--crd", choice->crds,
                     "The type of a CRD that the katalog does not say: NAME=PLURAL.GROUP");
  import->callback([choice, &exitCode] { exitCode = runImport(*choice);
});
}  // namespace

}  // namespace lastout::cmd

void addPolicy(CLI::App& app, int& exitCode) {
  const auto choice = std::make_shared<PolicyChoice>();
  CLI::App* policy = app.add_subcommand("policy", "Deletion policies, and the profiles of other systems");
  policy->footer(kPolicyExamples);
  policy->require_subcommand(1);
  CLI::App* list = policy->add_subcommand("list", "List the profiles");
  list->footer(kListExamples);
  list->callback([&exitCode] { exitCode = runList(); });
  addShow(*policy, choice, exitCode);
  addApply(*policy, choice, exitCode);
  addRemove(*policy, choice, exitCode);
  addImport(*policy, choice, exitCode);
}

}  // namespace lastout::cmd
