// OpenSSL's errors as words. OpenSSL keeps those of each thread in a queue, from the first to the last.
#pragma once

#include <string>

namespace lastout::tls {

// Returns the reason of the first error in this thread's queue, as "no start line", and empties the queue;
// "": there is none.
std::string takeError();

}  // namespace lastout::tls
