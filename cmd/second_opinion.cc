#include "cmd/second_opinion.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "cmd/commands.h"
#include "cmd/terminal.h"
#include "kube/parse.h"
#include "prove/certificate.h"
#include "prove/murphi.h"

namespace lastout::cmd {

namespace {

kube::Errors one(std::string message) { return {{std::move(message), {}, {}}}; }

void tell(const replay::Ready& ready, uint64_t states, const std::optional<std::string>& problem) {
  const std::string what = problem ? "REFUSED  " : "CHECKED  ";
  std::cout << what << ready.scenario.name << "  " << withSeparators(states) << " states";
  std::cout << (problem ? ": " + *problem : ", from each of which the goal can be reached") << "\n";
}

void tellJson(const replay::Ready& ready, uint64_t states, const std::optional<std::string>& problem) {
  nlohmann::ordered_json json = {
      {"file", ready.scenario.file}, {"name", ready.scenario.name}, {"states", states}, {"holds", !problem}};
  json["problem"] = problem ? nlohmann::ordered_json(*problem) : nlohmann::ordered_json();
  std::cout << json.dump(2) << "\n";
}

tl::expected<void, kube::Errors> finish(OutputFile& file, const std::string& text) {
  if (auto written = file.finish(text); !written) return tl::unexpected(kube::Errors{written.error()});
  return {};
}

}  // namespace

tl::expected<const replay::Ready*, kube::Errors> onlyScenario(const Scenarios& all, const std::string& flag) {
  if (all.size() == 1) return all.front().get();
  return tl::unexpected(
      one(flag + " is about one scenario, and here are " + std::to_string(all.size()) + ": name one file"));
}

tl::expected<void, kube::Errors> writeMurphi(std::optional<OutputFile>& file, const Scenarios& all,
                                             const prove::ProofScope& scope) {
  if (!file) return {};
  const auto ready = onlyScenario(all, "--murphi");
  if (!ready) return tl::unexpected(ready.error());
  auto model = prove::toMurphi((*ready)->compiled, scope);
  if (model) return finish(*file, *model);
  for (kube::Error& error : model.error()) error.file = (*ready)->scenario.file;
  return tl::unexpected(std::move(model.error()));
}

tl::expected<void, kube::Errors> writeCertificate(std::optional<OutputFile>& file,
                                                  const prove::Proof& proof) {
  if (!file) return {};
  if (!proof.certificate) {
    std::cerr << "--certificate: only what is PROVEN has a certificate; no file is written\n";
    return {};
  }
  return finish(*file, toText(*proof.certificate));
}

int checkCertificate(const Scenarios& all, const std::string& file, bool asJson) {
  const auto ready = onlyScenario(all, "--check");
  if (!ready) return badInput(ready.error());
  const auto text = kube::readFile(file, {.bytes = prove::kLongestCertificate});
  if (!text) return badInput(text.error());
  const auto certificate = prove::parseCertificate(*text, file);
  if (!certificate) return badInput(certificate.error());
  const bool orders = (*ready)->scenario.expect.ends != replay::Ending::Stuck;
  const std::optional<std::string> problem = prove::problemOf(*certificate, (*ready)->compiled, orders);
  (asJson ? tellJson : tell)(**ready, certificate->ranks.size(), problem);
  return problem ? kFailed : kOk;
}

}  // namespace lastout::cmd
