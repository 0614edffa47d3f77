// Files, read whole within bounds.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "kube/parse.h"

namespace lastout::kube {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

Error fileError(const std::string& path, std::string message) { return {std::move(message), path, {}}; }

Error systemError(const std::string& path, int code) {
  return fileError(path, "cannot be read: " + std::generic_category().message(code));
}

}  // namespace

Result<std::string> readFile(const std::string& path, const ParseLimits& limits) {
  // Not blocking: opening a pipe that nobody writes to would wait forever.
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.number() < 0) return tl::unexpected(systemError(path, errno));
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) return tl::unexpected(systemError(path, errno));
  if (S_ISDIR(status.st_mode)) return tl::unexpected(fileError(path, "is a folder, not a file"));
  if (!S_ISREG(status.st_mode)) return tl::unexpected(fileError(path, "is no regular file"));
  const auto tooLarge = [&](const std::string& size) {
    const std::string message =
        "has " + size + " bytes; at most " + std::to_string(limits.bytes) + " are read";
    return tl::unexpected(fileError(path, message));
  };
  const auto size = static_cast<size_t>(status.st_size);
  if (size > limits.bytes) return tooLarge(std::to_string(size));

  // One byte more than it had: a file that grows meanwhile is read to its end, or found too large.
  std::string bytes;
  for (;;) {
    const size_t begin = bytes.size();
    bytes.resize(std::max(begin + 4096, size + 1));
    const ssize_t count = ::read(file.number(), bytes.data() + begin, bytes.size() - begin);
    if (count < 0 && errno == EINTR) {
      bytes.resize(begin);
      continue;
    }
    if (count < 0) return tl::unexpected(systemError(path, errno));
    bytes.resize(begin + static_cast<size_t>(count));
    if (bytes.size() > limits.bytes) return tooLarge("more than " + std::to_string(limits.bytes));
    if (count == 0) return bytes;
  }
}

}  // namespace lastout::kube
