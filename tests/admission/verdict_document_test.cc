// docs/verdicts.md, tests/support/verdict_table.h and decide() say the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "admission/decide.h"
#include "admission/explain.h"
#include "tests/admission/world.h"
#include "tests/support/verdict_table.h"

namespace lastout::admission {
namespace {

using criticalservice::CriteriaState;
using criticalservice::DeletionIntent;
using criticalservice::ProviderState;
using criticalservice::SetOf;
using criticalservice::VerdictRow;
using criticalservice::VerdictSubject;

template <class E>
struct Word {
  std::string_view text;
  E value;
};

constexpr std::array kSubjects = {
    Word<VerdictSubject>{"CriticalService", VerdictSubject::CriticalService},
    Word<VerdictSubject>{"provider", VerdictSubject::Provider},
    Word<VerdictSubject>{"held provider", VerdictSubject::HeldProvider},
    Word<VerdictSubject>{"ancestor of the provider", VerdictSubject::ProviderAncestor},
    Word<VerdictSubject>{"dependency", VerdictSubject::Dependency}};
constexpr std::array kIntents = {
    Word<DeletionIntent>{"Ordered", DeletionIntent::Ordered},
    Word<DeletionIntent>{"BestEffortDeletion", DeletionIntent::BestEffortDeletion},
    Word<DeletionIntent>{"OrphanResources", DeletionIntent::OrphanResources}};
constexpr std::array kProviders = {Word<ProviderState>{"present", ProviderState::Present},
                                   Word<ProviderState>{"replaced", ProviderState::Replaced},
                                   Word<ProviderState>{"unknown", ProviderState::Unknown},
                                   Word<ProviderState>{"absent", ProviderState::Absent}};
constexpr std::array kCriteria = {Word<CriteriaState>{"met", CriteriaState::Met},
                                  Word<CriteriaState>{"unmet", CriteriaState::Unmet},
                                  Word<CriteriaState>{"unknown", CriteriaState::Unknown}};

struct DocumentRow {
  VerdictRow row;
  std::string reason;
  std::string text;
};

std::vector<std::string> cells(const std::string& line, char separator) {
  std::vector<std::string> found;
  std::stringstream stream(line);
  for (std::string cell; std::getline(stream, cell, separator);) {
    const size_t begin = cell.find_first_not_of(' ');
    if (begin == std::string::npos) continue;
    found.push_back(cell.substr(begin, cell.find_last_not_of(' ') - begin + 1));
  }
  return found;
}

// "present, replaced" or "any" as a set.
template <class E, size_t N>
SetOf<E> setOf(const std::string& cell, const std::array<Word<E>, N>& words) {
  SetOf<E> set;
  for (const std::string& part : cells(cell, ',')) {
    bool known = false;
    for (const Word<E>& word : words) {
      if (part != "any" && part != word.text) continue;
      known = true;
      set.bits |= SetOf<E>::of(word.value).bits;
    }
    EXPECT_TRUE(known) << part;
  }
  return set;
}

// The rows of the first table of the page that has six columns.
std::vector<DocumentRow> documentRows() {
  std::ifstream page("docs/verdicts.md");
  EXPECT_TRUE(page) << "docs/verdicts.md: run the test in the repository's top folder";
  std::vector<DocumentRow> rows;
  for (std::string line; std::getline(page, line);) {
    const std::vector<std::string> row = cells(line, '|');
    if (line.empty() || line.front() != '|' || row.size() != 6 || row[0] == "DELETE of" || row[0] == "---")
      continue;
    DocumentRow found;
    EXPECT_TRUE(std::ranges::count(kSubjects, row[0], &Word<VerdictSubject>::text) == 1) << line;
    for (const Word<VerdictSubject>& word : kSubjects) {
      if (row[0] == word.text) found.row.subject = word.value;
    }
    found.row.intent = setOf(row[1], kIntents);
    found.row.provider = setOf(row[2], kProviders);
    found.row.criteria = setOf(row[3], kCriteria);
    EXPECT_TRUE(row[4] == "ALLOW" || row[4] == "DENY") << line;
    found.row.allowed = row[4] == "ALLOW";
    found.reason = row[5];
    found.text = line;
    rows.push_back(found);
  }
  return rows;
}

TEST(VerdictDocument, HasTheRowsOfTheTableInCode) {
  const std::vector<DocumentRow> rows = documentRows();
  ASSERT_EQ(rows.size(), std::size(criticalservice::kVerdicts));
  for (size_t i = 0; i < rows.size(); ++i)
    EXPECT_EQ(rows[i].row, criticalservice::kVerdicts[i]) << rows[i].text;
}

// A cluster in which the four things are as a row wants them.
World worldOf(VerdictSubject subject, DeletionIntent intent, ProviderState provider, CriteriaState criteria) {
  const bool isHeld = subject == VerdictSubject::HeldProvider;
  const std::string group = isHeld ? "apps" : "example.com";
  const std::string resource = isHeld ? "deployments" : "engines";
  const std::string service = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: engines.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: engines, kind: Engine}
  versions: [{name: v1, served: true, storage: true}]
---
apiVersion: lastout.dev/v1alpha1
kind: CriticalService
metadata: {name: s}
spec:
  enforcement: )" + std::string(isHeld ? "Hold" : "Deny") +
                              R"(
  provider: {group: )" + group +
                              ", resource: " + resource + R"(, namespace: n, name: p}
  deletionIntent: )" + std::string(criticalservice::toString(intent)) +
                              R"(
  criteria:
  - {type: SpecificResource, specificResource: {resource: configmaps, namespace: m, name: c}}
  guard: {dependencies: [{resource: secrets, namespace: n, name: certs}]}
status: {provider: {uid: first}}
)";
  World world(service);
  const std::string uid = provider == ProviderState::Replaced ? "second" : "first";
  if (provider == ProviderState::Present || provider == ProviderState::Replaced) {
    world.apply("apiVersion: " + group + "/v1\nkind: " + (isHeld ? "Deployment" : "Engine") +
                "\nmetadata: {namespace: n, name: p, uid: " + uid + "}\n");
  }
  if (provider == ProviderState::Unknown) world.know(resource + "." + group, graph::Knowledge::Stale);
  if (criteria == CriteriaState::Unmet)
    world.apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {namespace: m, name: c}\n");
  if (criteria == CriteriaState::Unknown) world.know("configmaps", graph::Knowledge::Forbidden);
  return world;
}

std::vector<std::string> subjectsOf(VerdictSubject subject) {
  switch (subject) {
    case VerdictSubject::CriticalService:
      return {"criticalservices.lastout.dev/s", "crd/criticalservices.lastout.dev"};
    case VerdictSubject::HeldProvider:
      return {"deployments.apps/n/p"};
    case VerdictSubject::Provider:
      return {"engines.example.com/n/p"};
    case VerdictSubject::ProviderAncestor:
      return {"namespaces/n", "crd/engines.example.com"};
    case VerdictSubject::Dependency:
      return {"secrets/n/certs"};
  }
  return {};
}

TEST(VerdictDocument, IsWhatDecideSays) {
  int checked = 0;
  for (const DocumentRow& row : documentRows()) {
    for (const Word<DeletionIntent>& intent : kIntents) {
      for (const Word<ProviderState>& provider : kProviders) {
        for (const Word<CriteriaState>& criteria : kCriteria) {
          if (!row.row.covers(row.row.subject, intent.value, provider.value, criteria.value)) continue;
          const World world = worldOf(row.row.subject, intent.value, provider.value, criteria.value);
          for (const std::string& subject : subjectsOf(row.row.subject)) {
            const bool isHeld = row.row.subject == VerdictSubject::HeldProvider;
            const Verdict verdict =
                world.decide(subject, isHeld ? DeletionEffect::Held : DeletionEffect::Ending);
            EXPECT_EQ(verdict.allowed, row.row.allowed)
                << subject << ", " << intent.text << ", provider " << provider.text << ", criteria "
                << criteria.text << "\n"
                << row.text;
            EXPECT_EQ(toString(verdict.reason), row.reason) << subject << "\n" << row.text;
            ++checked;
          }
        }
      }
    }
  }
  EXPECT_EQ(checked, 3 * 4 * 3 * 7);
}

}  // namespace
}  // namespace lastout::admission
