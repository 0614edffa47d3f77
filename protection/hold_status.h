// The status of a held object: shows the progress of its deletion, also to the user who has to confirm it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "kube/value.h"
#include "protection/policy.h"

namespace lastout::protection {

// The block by which a user confirms that the children go, too.
struct Confirmation {
  bool required = false;  // false: it was given
  std::string hash;
  std::vector<std::string> children;  // as childName() names them; as they were when it was given
  int64_t remainingCount = 0;         // how many of them are there still
  std::string message;
  friend bool operator==(const Confirmation&, const Confirmation&) = default;
};

// Returns the first 8 hexadecimal digits of the SHA-256 over the sorted children joined by newlines.
std::string confirmationHash(std::vector<std::string> children);

// Returns the block as it stands in the object. nullopt: there is none, or it is not of this form; it comes
// from the API server, where others may have written it.
std::optional<Confirmation> confirmationIn(const Hold& hold, const kube::Value& content);

// How the deletion of a held object stands.
struct HoldStanding {
  std::string phase;
  std::string reason;  // of the condition
  std::string message;
  std::optional<Confirmation> confirmation;
};

// The change of an object's status.
struct StatusChange {
  nlohmann::json patch;  // a JSON merge patch of the object; null: there is nothing to change
  bool isNews = false;   // the phase, the reason or the message is another one
  bool isNewReason = false;
};

// Returns the change by which the object's status shows `standing`; nullopt: nothing of a deletion any more.
// `now` in seconds since the epoch.
StatusChange statusChange(const Hold& hold, const kube::Value& content,
                          const std::optional<HoldStanding>& standing, int64_t now);

}  // namespace lastout::protection
