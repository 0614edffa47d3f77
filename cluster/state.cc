#include "cluster/state.h"

namespace lastout::cluster {

namespace {

uint32_t wordsFor(size_t items, unsigned bits) {
  const size_t perWord = 64 / bits;
  return static_cast<uint32_t>((items + perWord - 1) / perWord);
}

}  // namespace

Layout::Layout(const Model& model) {
  works = objects + static_cast<uint32_t>(model.slots.size());
  steps = works + wordsFor(model.works.size(), detail::kWorkBits);
  links = steps + wordsFor(model.steps.size(), detail::kStepBits);
  words = links + wordsFor(model.links.size(), detail::kLinkBits);
}

}  // namespace lastout::cluster
