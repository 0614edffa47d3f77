// Writes tests/admission/explain.golden anew, when a person asks for it: review the difference before
// committing it.
#include <fstream>
#include <iostream>
#include <string_view>

#include "tests/admission/explain_cases.h"

int main(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[1]) != "--write") {
    std::cerr << "usage: write_explain_golden --write, in the repository's top folder\n";
    return 2;
  }
  std::ofstream file("tests/admission/explain.golden");
  file << lastout::admission::explainCases();
  file.close();
  return file ? 0 : 1;
}
