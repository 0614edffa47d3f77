#include "kube/result.h"

namespace lastout::kube {

std::string toString(const Error& error) {
  std::string text = error.file;
  if (error.position.line != 0) {
    text += text.empty() ? "line " : ":";
    text += std::to_string(error.position.line);
    text += ":";
    text += std::to_string(error.position.column);
  }
  if (!text.empty()) text += ": ";
  return text + error.message;
}

}  // namespace lastout::kube
