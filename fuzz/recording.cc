// Any text as a recording: what is read has its place in the file, and what is refused says its line.
#include "replay/recording.h"

#include <cstdint>
#include <sstream>

#include "fuzz/check.h"

using lastout::fuzz::check;
namespace replay = lastout::replay;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  replay::RecordingReader reader("recording", std::make_unique<std::istringstream>(std::move(text)),
                                 {.bytes = 4096, .depth = 64, .values = 1000});
  uint32_t line = 0;
  while (true) {
    const auto event = reader.next();
    if (!event) {
      check(!event.error().empty() && !event.error().front().message.empty(), "a refusal says why");
      check(event.error().front().position.line > line, "a refusal says where");
      return 0;
    }
    if (!*event) return 0;
    check((*event)->line > line, "lines are read in their order");
    line = (*event)->line;
  }
}
