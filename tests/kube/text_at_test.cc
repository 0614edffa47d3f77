#include <gtest/gtest.h>

#include "kube/value.h"
#include "tests/kube/reading.h"

namespace lastout::kube {
namespace {

TEST(TextAt, IsTheStringThatStandsThere) {
  const Value document = yaml("metadata: {name: web, labels: {app: shop}}");
  EXPECT_EQ(textAt(document, {"metadata", "name"}), "web");
  EXPECT_EQ(textAt(document, {"metadata", "labels", "app"}), "shop");
  EXPECT_EQ(textAt(*document.find("metadata"), {"name"}), "web");
  EXPECT_EQ(textAt(*document.at({"metadata", "name"}), {}), "web");
}

TEST(TextAt, IsEmptyWhereNoStringStands) {
  const Value document = yaml("metadata: {name: web, generation: 3, finalizers: [a], labels: ~}");
  EXPECT_EQ(textAt(document, {"metadata", "uid"}), "");
  EXPECT_EQ(textAt(document, {"metadata", "generation"}), "");
  EXPECT_EQ(textAt(document, {"metadata", "finalizers"}), "");
  EXPECT_EQ(textAt(document, {"metadata", "labels"}), "");
  EXPECT_EQ(textAt(document, {"metadata", "name", "deeper"}), "");
  EXPECT_EQ(textAt(document, {}), "");
}

}  // namespace
}  // namespace lastout::kube
