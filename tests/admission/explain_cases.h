// Every kind of verdict in words: the cases of tests/admission/explain.golden.
#pragma once

#include <string>

namespace lastout::admission {

// What the golden file has to hold: each case's title, the message and the causes.
std::string explainCases();

}  // namespace lastout::admission
