// The lastout program: reads the command line and runs one subcommand.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <exception>
#include <iostream>
#include <new>

#include "cmd/commands.h"
#include "cmd/usage.h"

namespace {

using namespace lastout::cmd;  // NOLINT(google-build-using-namespace): this is their main()

constexpr const char* kExamples = R"(Examples:
  lastout replay scenarios/story-three-works.yaml   a deletion, told from beginning to end
  lastout prove scenarios/story-three-works.yaml    is there an order in which it gets stuck?
  lastout graph scenarios/story-three-works.yaml    what goes after what, and what may go now
  lastout up --load scenarios/story-three-works.yaml        a cluster to try it on, with kubectl
  lastout serve                                     decides deletions in a real cluster
  lastout why deployment/web -n shop                what keeps it from being deleted there
  lastout deferred                                  the deletions that it runs later there
  lastout policy show karmada                       what a deletion policy protects, and where it runs
  lastout check                                     is all of it there, as installed, and in force?
  lastout uninstall --dry-run                       what would be taken away before lastout itself is

Exit codes: 0 all is well; 1 an expectation failed, or something gets stuck; 2 bad input; 3 a proof met a bound.
Every command has its own --help with more examples.)";

int run(int argc, char** argv) {
  int exitCode = kOk;
  CLI::App app("Deletion ordering for Kubernetes: the provider is the last one out.", "lastout");
  app.set_version_flag("--version", "lastout " LASTOUT_VERSION, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.footer(kExamples);
  addCheck(app, exitCode);
  addDeferred(app, exitCode);
  addGraph(app, exitCode);
  addPolicy(app, exitCode);
  addProve(app, exitCode);
  addReplay(app, exitCode);
  addServe(app, exitCode);
  addUninstall(app, exitCode);
  addUp(app, exitCode);
  addWhy(app, exitCode);

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    return app.exit(asked);  // --help, --version
  } catch (const CLI::ParseError& error) {
    std::cerr << usageMessage(app, error);
    return kBadInput;
  }
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "lastout: cannot write to the standard output\n";
    return kBadInput;
  }
  return exitCode;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::bad_alloc&) {
    std::cerr << "lastout: out of memory\n";
  } catch (const std::exception& error) {
    std::cerr << "lastout: an error that should not happen; please report it: " << error.what() << "\n";
  }
  return kBadInput;
}
