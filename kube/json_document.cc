#include "kube/json_document.h"

#include <algorithm>

namespace lastout::kube {
namespace {

std::string jsonProblem(simdjson::error_code code, size_t deepest) {
  switch (code) {
    case simdjson::EMPTY:
      return "it is empty";
    case simdjson::DEPTH_ERROR:
      return "lists and maps are nested more than " + std::to_string(deepest) + " deep";
    case simdjson::UTF8_ERROR:
      return "it is not UTF-8";
    default:
      return simdjson::error_message(code);
  }
}

}  // namespace

struct JsonDocument::Usual {
  simdjson::dom::parser parser;
  bool isTaken = false;
};

JsonDocument::JsonDocument(std::string_view text, size_t deepest) {
  thread_local Usual usual;
  if (text.size() <= kUsualBytes && !usual.isTaken) {
    usual_ = &usual;
    usual.isTaken = true;
  } else {
    larger_ = std::make_unique<simdjson::dom::parser>();
  }
  simdjson::dom::parser& parser = usual_ != nullptr ? usual_->parser : *larger_;
  simdjson::error_code failed = simdjson::SUCCESS;
  const size_t maxDepth = deepest + 1;  // which is never reached
  if (parser.capacity() < text.size() || parser.max_depth() != maxDepth)
    failed = parser.allocate(usual_ != nullptr ? kUsualBytes : text.size(), maxDepth);
  if (failed == simdjson::SUCCESS) failed = parser.parse(text.data(), text.size()).get(root_);
  if (failed != simdjson::SUCCESS) problem_ = jsonProblem(failed, deepest);
}

JsonDocument::~JsonDocument() {
  if (usual_ != nullptr) usual_->isTaken = false;
}

}  // namespace lastout::kube
