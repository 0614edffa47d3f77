// How pages are read, so that a page that shows something wrong cannot pass unseen.
#include "tests/docs/console_blocks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lastout::docs {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* kPage = R"(# A page

Text.

```console
$ lastout graph a.yaml
one
two
$ echo $?
0
```

```yaml
- $ lastout in another kind of block
```

```console
$ scripts/demo
$ build/release/lastout --version
lastout 1
```
)";

TEST(ConsoleBlocks, AreReadWithTheirOutputAndPlace) {
  const std::vector<Shown> shown = shownIn(kPage);
  ASSERT_EQ(shown.size(), 4u);
  EXPECT_EQ(shown[0].command, "lastout graph a.yaml");
  EXPECT_THAT(shown[0].output, ElementsAre("one", "two"));
  EXPECT_EQ(shown[0].line, 6u);
  EXPECT_EQ(shown[0].block, 0u);
  EXPECT_EQ(shown[1].command, "echo $?");
  EXPECT_THAT(shown[1].output, ElementsAre("0"));
  EXPECT_EQ(shown[2].command, "scripts/demo");
  EXPECT_THAT(shown[2].output, IsEmpty());
  EXPECT_EQ(shown[3].block, 1u);
}

TEST(ConsoleBlocks, OfTheProgramAreRun) {
  EXPECT_TRUE(isRun("lastout graph a"));
  EXPECT_TRUE(isRun("build/release/lastout graph a"));
  EXPECT_TRUE(isRun("echo $?"));
  EXPECT_FALSE(isRun("scripts/demo"));
  EXPECT_FALSE(isRun("echo hello"));
}

TEST(ConsoleBlocks, CommandsElsewhereAreFound) {
  EXPECT_THAT(commandsElsewhere(
                  "    lastout graph a\n```sh\nlastout prove b\n$ build/x/lastout c\n```\nlastout is a\n"),
              ElementsAre("    lastout graph a", "lastout prove b", "$ build/x/lastout c"));
  EXPECT_THAT(commandsElsewhere("1. So:\n\n   ```sh\n   docker push x\n   ```\n```sh\nhelm install y\n```\n"
                                "```yaml\nkubectl: z\n```\n```sh\nkubectl get z\n```\n"),
              ElementsAre("   docker push x", "helm install y", "kubectl get z"));
  EXPECT_THAT(commandsElsewhere("- So:\n\n  ```console\n  $ lastout a\n  ```\n"),
              ElementsAre("  $ lastout a"))
      << "such a block is not run";
  EXPECT_THAT(commandsElsewhere(kPage), IsEmpty());
}

TEST(ConsoleBlocks, MatchLineByLine) {
  EXPECT_TRUE(matches({}, {}));
  EXPECT_TRUE(matches({"a", "b"}, {"a", "b"}));
  EXPECT_FALSE(matches({"a"}, {"a", "b"}));
  EXPECT_FALSE(matches({"a", "b"}, {"a"}));
  EXPECT_FALSE(matches({"a"}, {"b"}));
}

TEST(ConsoleBlocks, ElideLines) {
  EXPECT_TRUE(matches({"a", "…", "d"}, {"a", "b", "c", "d"}));
  EXPECT_TRUE(matches({"a", "…", "d"}, {"a", "d"}));
  EXPECT_TRUE(matches({"…"}, {}));
  EXPECT_FALSE(matches({"a", "…", "d"}, {"a", "b", "c"}));
  EXPECT_FALSE(matches({"…", "c", "…", "a"}, {"a", "b", "c"}));
}

TEST(ConsoleBlocks, TimesOfThisMachineCountAsEqual) {
  EXPECT_TRUE(matches({"proven in 0.31 s, 12 states"}, {"proven in 12 ms, 12 states"}));
  EXPECT_FALSE(matches({"proven in 0.31 s, 12 states"}, {"proven in 12 ms, 13 states"}));
  EXPECT_FALSE(matches({"+1.2 s gone"}, {"+1.3 s gone"}));
  EXPECT_TRUE(matches({"cr   0s"}, {"cr   2m5s"}));
  EXPECT_FALSE(matches({"cr   0s"}, {"crd   0s"}));
}

TEST(ConsoleBlocks, WordsOfAnyKubectlCountAsEqual) {
  EXPECT_TRUE(
      matches({"deployment.apps \"web\" deleted"}, {"deployment.apps \"web\" deleted from shop namespace"}));
  EXPECT_TRUE(matches({"pod \"web\" deleted from shop namespace"}, {"pod \"web\" deleted"}));
  EXPECT_TRUE(matches({"pod \"web\" force deleted"}, {"pod \"web\" force deleted from shop namespace"}));
  EXPECT_TRUE(
      matches({"pod \"web\" deleted (dry run)"}, {"pod \"web\" deleted from shop namespace (dry run)"}));
  EXPECT_FALSE(matches({"pod \"web\" deleted"}, {"pod \"other\" deleted from shop namespace"}));
  EXPECT_FALSE(matches({"what was deleted"}, {"what was deleted from shop namespace"}));
}

TEST(ConsoleBlocks, AreUpdatedWhereTheyDiffer) {
  const auto run = [](const Shown& shown) {
    return shown.command == "echo $?" ? std::vector<std::string>{"0"} : std::vector<std::string>{"new"};
  };
  const std::string page = "```console\n$ lastout a\nold\nold\n$ echo $?\n…\n$ ls\nkept\n```\nText\n";
  EXPECT_EQ(updated(page, run), "```console\n$ lastout a\nnew\n$ echo $?\n…\n$ ls\nkept\n```\nText\n");
}

TEST(ConsoleBlocks, PathsAreFoundInBackticks) {
  EXPECT_THAT(pathsIn("`kube/yaml.cc` and `tests/a/b.golden`, not kube/x.cc, `kube/`, `a.cc`, `kube/*.h`, "
                      "`build/x/y.txt`"),
              ElementsAre("kube/yaml.cc", "tests/a/b.golden"));
}

TEST(ConsoleBlocks, LinksAreFoundOutsideOfCode) {
  EXPECT_THAT(linksIn("[a](b.md) and [c](d/e.md#f), [w](https://x.y/z)\n```\n[n](o.md)\n```\n[g](#h)\n"),
              ElementsAre("b.md", "d/e.md"));
}

}  // namespace
}  // namespace lastout::docs
