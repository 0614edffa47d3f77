// What is wrong with certificates and keys, before a handshake fails for it. Nothing of a key is ever said.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "client/connection.h"

namespace lastout::client {

constexpr size_t kMostPemBytes = size_t{1} << 20;  // of an authority's, a certificate's or a key's text

// Returns the problem of the text as the end of a sentence that begins with its place ("holds no PEM
// certificate"); nullopt: it has a certificate, and all of them can be read.
std::optional<std::string> certificatesProblem(std::string_view pem);

// The same for a client's key, which must be that of its certificate. An encrypted key is a problem: nobody
// is there to be asked for its passphrase.
std::optional<std::string> keyProblem(const KeyPair& pair);

}  // namespace lastout::client
