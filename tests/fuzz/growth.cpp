// SPDX-License-Identifier: GPL-2.0-or-later
// growth [WORD]: gives each reader (those with WORD in their name) 64 KB of repetition. It must use
// at most 64 MB of memory and ten seconds, and its time must grow with the size, not with its
// square. Memory is counted as it is allocated. Time is the process's own CPU time, so other
// processes do not count. The bound for growth is generous: twice the text takes twice the time
// where the time grows with the size, and four times where it grows with its square. Below
// kTooShort the ratio tells nothing.
#include "tests/fuzz/growth.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <new>
#include <string_view>

namespace {

std::size_t allocated = 0;
std::size_t peak = 0;

void* counted(std::size_t bytes) noexcept {
  void* const memory = std::malloc(bytes);
  allocated += ::malloc_usable_size(memory);
  peak = std::max(peak, allocated);
  return memory;
}

void* counted_or_thrown(std::size_t bytes) {
  if (void* const memory = counted(bytes)) return memory;
  throw std::bad_alloc{};
}

void release(void* memory) noexcept {
  allocated -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted_or_thrown(bytes); }
void* operator new[](std::size_t bytes) { return counted_or_thrown(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete[](void* memory) noexcept { release(memory); }
void operator delete(void* memory, std::size_t) noexcept { release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { release(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { release(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { release(memory); }

namespace pvrdma::fuzz {

namespace {

constexpr std::size_t kBytes = 64U << 10U;
constexpr std::size_t kMostMemory = 64U << 20U;
constexpr double kMostRatio = 3.2;
constexpr int kRounds = 4;
// Seconds. Without optimization the slowest reader takes 0.9 s on an idle machine; the bound must
// hold for slower machines, other compilers and the sanitizers.
constexpr double kTooShort = 0.02;
constexpr double kMostTime = 10;

double seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double time_of(const Repetition& one, const std::string& text) {
  const double start = seconds();
  one.read(text);
  return seconds() - start;
}

struct Figures {
  double whole = 0, half = 0;  // seconds; half is 0 where the ratio tells nothing
  std::size_t memory = 0;
};

bool grows_too_fast(const Figures& figures) { return figures.whole > kMostRatio * figures.half; }

// The best of several rounds, because a disturbance makes a round longer.
Figures figures_of(const Repetition& one) {
  const std::string text = one.make(kBytes);
  const std::size_t before = allocated;
  peak = before;
  Figures figures;
  figures.whole = time_of(one, text);
  figures.memory = peak - before;
  if (figures.whole < kTooShort || one.growth == Growth::BySquare) return figures;
  const std::string half = one.make(kBytes / 2);
  figures.half = time_of(one, half);
  for (int round = 1; round < kRounds && grows_too_fast(figures); ++round) {
    figures.whole = std::min(figures.whole, time_of(one, text));
    figures.half = std::min(figures.half, time_of(one, half));
  }
  return figures;
}

bool is_good(const Repetition& one) {
  const Figures figures = figures_of(one);
  const bool good = figures.memory <= kMostMemory && figures.whole <= kMostTime &&
                    (figures.half == 0 || !grows_too_fast(figures));
  std::printf("%s %-44s %7.3f s, %5.1f MB", good ? "    " : "BAD ", one.name, figures.whole,
              static_cast<double>(figures.memory) / (1U << 20U));
  if (figures.half > 0) std::printf(", %.1f times the half", figures.whole / figures.half);
  std::printf("\n");
  std::fflush(stdout);
  return good;
}

}  // namespace

}  // namespace pvrdma::fuzz

int main(int count, char** words) {
  using namespace pvrdma::fuzz;
  const std::string_view wanted = count > 1 ? words[1] : "";
  bool good = true;
  for (const Repetition& one : repetitions())
    if (std::string_view{one.name}.find(wanted) != std::string_view::npos)
      good = is_good(one) && good;
  std::printf("%.1f s in all\n", seconds());
  return good ? 0 : 1;
}
