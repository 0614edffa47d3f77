#include "cluster/state.h"

namespace lastout::cluster {

namespace {

uint32_t wordsFor(size_t items, unsigned bits) {
  const size_t perWord = 64 / bits;
  return static_cast<uint32_t>((items + perWord - 1) / perWord);
}

}  // namespace

Layout::Layout(const Counts& counts) {
  works = objects + counts.slots;
  steps = works + wordsFor(counts.works, detail::kWorkBits);
  links = steps + wordsFor(counts.steps, detail::kStepBits);
  words = links + wordsFor(counts.links, detail::kLinkBits);
}

Layout::Layout(const Model& model)
    : Layout(Counts{.slots = static_cast<uint32_t>(model.slots.size()),
                    .works = static_cast<uint32_t>(model.works.size()),
                    .steps = static_cast<uint32_t>(model.steps.size()),
                    .links = static_cast<uint32_t>(model.links.size())}) {}

}  // namespace lastout::cluster
