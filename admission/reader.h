// Who reads an explanation. lastout knows by its own rights what it tells; whoever asks a cluster by himself
// is told by his.
#pragma once

#include <cstdint>
#include <string_view>

#include "admission/explain.h"

namespace lastout::admission {

enum class Reader : uint8_t {
  OfLastout,  // "lastout is not allowed to list ..."
  WhoAsked,   // "you are not allowed to list ..."
};

// As explain(), in words for that reader.
Explanation explainTo(Reader reader, const graph::Graph& graph, const GuardIndex& index,
                      const KeyView& object, const Decision& decision, std::string_view detail = {});

}  // namespace lastout::admission
