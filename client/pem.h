// What is wrong with certificates and keys, before a handshake fails for it. Nothing of a key is ever said.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/connection.h"

namespace lastout::client {

constexpr size_t kMostPemBytes = size_t{1} << 20;  // of an authority's, a certificate's or a key's text

// As the end of a sentence that begins with where the text stands ("holds no PEM certificate"); nothing when
// all certificates in it can be read, and there is one.
std::optional<std::string> certificatesProblem(std::string_view pem);

// The same for a client's key, which must be that of its certificate. An encrypted key is a problem: nobody
// is there to be asked for its passphrase.
std::optional<std::string> keyProblem(const KeyPair& pair);

}  // namespace lastout::client
