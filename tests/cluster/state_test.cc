// The packed state gives back what was put in, and nothing leaks from one field into another.
#include "cluster/state.h"

#include <gtest/gtest.h>

#include <random>

namespace lastout::cluster {
namespace {

Flight randomFlight(std::mt19937& random) {
  return {.phase = static_cast<Flight::Phase>(random() % 3),
          .touched = random() % 2 == 0,
          .stale = random() % 2 == 0,
          .criteriaWereMet = random() % 2 == 0};
}

bool same(const Flight& a, const Flight& b) {
  return a.phase == b.phase && a.touched == b.touched && a.stale == b.stale &&
         a.criteriaWereMet == b.criteriaWereMet;
}

TEST(State, AnObjectsWordKeepsEveryField) {
  std::mt19937 random(1);
  for (int i = 0; i < 10'000; ++i) {
    ObjectState state;
    state.presence = static_cast<Presence>(random() % 3);
    state.finalizers = static_cast<uint16_t>(random());
    state.owners = static_cast<uint16_t>(random());
    state.value = static_cast<uint8_t>(random());
    state.form = static_cast<uint8_t>(random() % kMaxForms);
    state.collector = randomFlight(random);
    state.lifecycle = randomFlight(random);
    state.lastout = randomFlight(random);
    if (const auto policy = random() % 4; policy < 3)
      state.deferredDeletion = {static_cast<PropagationPolicy>(policy), random() % 2 == 0};
    const ObjectState back = unpack(pack(state));
    EXPECT_EQ(back.presence, state.presence);
    EXPECT_EQ(back.finalizers, state.finalizers);
    EXPECT_EQ(back.owners, state.owners);
    EXPECT_EQ(back.value, state.value);
    EXPECT_EQ(back.form, state.form);
    EXPECT_TRUE(same(back.collector, state.collector));
    EXPECT_TRUE(same(back.lifecycle, state.lifecycle));
    EXPECT_TRUE(same(back.lastout, state.lastout));
    EXPECT_EQ(back.deferredDeletion, state.deferredDeletion);
  }
}

TEST(State, ItsPartsDoNotOverlap) {
  Model model;
  model.slots.resize(3);
  model.works.resize(9);
  model.steps.resize(17);
  model.links.resize(70);
  const Layout layout(model);
  std::vector<uint64_t> words(layout.words, 0);
  StateRef state(words.data(), layout);
  std::mt19937 random(2);
  std::vector<WorkState> works(model.works.size());
  std::vector<StepState> steps(model.steps.size());
  std::vector<LinkState> links(model.links.size());
  for (int i = 0; i < 5'000; ++i) {
    const uint32_t work = random() % works.size();
    works[work] = {.deleting = random() % 2 == 0,
                   .next = static_cast<uint8_t>(random() % kMaxLinks),
                   .flight = randomFlight(random)};
    state.setWork(work, works[work]);
    const uint32_t step = random() % steps.size();
    steps[step] = {.sent = random() % 2 == 0, .done = random() % 2 == 0, .flight = randomFlight(random)};
    state.setStep(step, steps[step]);
    const uint32_t link = random() % links.size();
    links[link] = {.recorded = random() % 2 == 0, .stale = random() % 2 == 0};
    state.setLink(link, links[link]);
  }
  for (uint32_t i = 0; i < works.size(); ++i) {
    EXPECT_EQ(state.work(i).next, works[i].next);
    EXPECT_EQ(state.work(i).deleting, works[i].deleting);
    EXPECT_TRUE(same(state.work(i).flight, works[i].flight));
  }
  for (uint32_t i = 0; i < steps.size(); ++i) {
    EXPECT_EQ(state.step(i).sent, steps[i].sent);
    EXPECT_EQ(state.step(i).done, steps[i].done);
    EXPECT_TRUE(same(state.step(i).flight, steps[i].flight));
  }
  for (uint32_t i = 0; i < links.size(); ++i) {
    EXPECT_EQ(state.link(i).recorded, links[i].recorded);
    EXPECT_EQ(state.link(i).stale, links[i].stale);
  }
  EXPECT_EQ(state.monitors(), 0U);
  EXPECT_EQ(state.presence(2), Presence::Absent);
}

}  // namespace
}  // namespace lastout::cluster
