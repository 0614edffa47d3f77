#include "tests/support/verdict_table.h"

#include <gtest/gtest.h>

namespace lastout::criticalservice {
namespace {

TEST(VerdictTable, CoversEveryCombinationOnce) {
  for (const VerdictSubject subject :
       {VerdictSubject::CriticalService, VerdictSubject::Provider, VerdictSubject::HeldProvider,
        VerdictSubject::ProviderAncestor, VerdictSubject::Dependency}) {
    for (const DeletionIntent intent :
         {DeletionIntent::Ordered, DeletionIntent::BestEffortDeletion, DeletionIntent::OrphanResources}) {
      for (const ProviderState provider :
           {ProviderState::Present, ProviderState::Replaced, ProviderState::Unknown, ProviderState::Absent}) {
        for (const CriteriaState criteria :
             {CriteriaState::Met, CriteriaState::Unmet, CriteriaState::Unknown}) {
          int rows = 0;
          for (const VerdictRow& row : kVerdicts)
            rows += row.covers(subject, intent, provider, criteria) ? 1 : 0;
          EXPECT_EQ(rows, 1) << static_cast<int>(subject) << " " << toString(intent) << " "
                             << static_cast<int>(provider) << " " << static_cast<int>(criteria);
        }
      }
    }
  }
}

}  // namespace
}  // namespace lastout::criticalservice
