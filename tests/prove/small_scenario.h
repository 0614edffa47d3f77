// A small scenario for tests of prove.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "replay/batch.h"
#include "tests/prove/small_operator.h"
#include "tests/support/manifests.h"

namespace lastout::prove {

// `spec` is indented by two. Ends the test when it is no scenario.
inline std::unique_ptr<const replay::Ready> smallScenario(const std::string& spec,
                                                          const std::string& documents) {
  const std::string text =
      "apiVersion: lastout.dev/v1alpha1\nkind: Scenario\nmetadata: {name: small}\nspec:\n"
      "  controllers:\n    - name: cleanup\n      runsIn: deployments.apps/operator/operator\n"
      "      removes: {finalizer: example.com/cleanup, from: widgets.example.com}\n" +
      spec + documents;
  auto scenario = replay::parse(text, "small.yaml");
  if (!scenario) {
    ADD_FAILURE() << testing::lines(scenario.error());
    std::abort();
  }
  auto compiled = compile(*scenario);
  if (!compiled) {
    ADD_FAILURE() << testing::lines(compiled.error());
    std::abort();
  }
  return std::make_unique<const replay::Ready>(replay::Ready{std::move(*scenario), std::move(*compiled)});
}

}  // namespace lastout::prove
