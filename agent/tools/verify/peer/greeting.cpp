// SPDX-License-Identifier: GPL-2.0-or-later
#include "agent/tools/verify/peer/greeting.hpp"

#include <linux/if_alg.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "agent/tools/verify/peer/reception.hpp"

namespace pvrdma::verify {

namespace {

constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kNonceBytes = 16;

Result<std::string> make_nonce() {
  std::array<unsigned char, kNonceBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(errno, "asking for", "random numbers");
  return hexadecimal(bytes);
}

// Compares in constant time, which does not tell where the texts differ.
bool are_equal(const std::string& left, const std::string& right) {
  if (left.size() != right.size()) return false;
  unsigned difference = 0;
  for (std::size_t at = 0; at < left.size(); ++at)
    difference |= static_cast<unsigned>(left[at] ^ right[at]);
  return difference == 0;
}

bool has_ended_early(const Error& error) {
  return error.code == ECONNRESET || error.code == EPIPE || error.code == ETIMEDOUT;
}

bool is_a_strangers(const Error& error) {
  return error.code == EBADMSG || error.code == EMSGSIZE || has_ended_early(error);
}

// Proves that one side knows the token. The sides' proofs differ, so a peer cannot send ours back.
Result<std::string> proof(const std::string& token, Side of, const std::string& own,
                          const std::string& others) {
  return hmac(token, (of == Side::Client ? "client " : "listener ") + own + " " + others);
}

}  // namespace

Result<std::string> read_token(int fd) {
  std::array<char, 256> text{};
  const ssize_t size = ::read(fd, text.data(), text.size());
  if (size < 0) return fail(errno, "reading", "the token");
  std::string token{text.data(), static_cast<std::size_t>(size)};
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  return token;
}

Error hmac_error(int code, std::size_t key_bytes) {
  constexpr std::size_t kLeastBytes = 14;  // Linux crypto/hmac.c, in FIPS mode
  std::string what = "an HMAC by AF_ALG, for the token";
  if (code == EINVAL && key_bytes < kLeastBytes)
    what += "; in FIPS mode the token needs at least " + std::to_string(kLeastBytes) + " bytes";
  return {code, "computing", std::move(what)};
}

Result<std::string> hmac(const std::string& key, const std::string& text) {
  sockaddr_alg address{};
  address.salg_family = AF_ALG;
  std::memcpy(address.salg_type, "hash", 5);
  std::memcpy(address.salg_name, "hmac(sha256)", 13);
  const Fd algorithm{::socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  if (!algorithm ||
      ::bind(algorithm.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::setsockopt(algorithm.get(), SOL_ALG, ALG_SET_KEY, key.data(),
                   static_cast<socklen_t>(key.size())) != 0)
    return fail(hmac_error(errno, key.size()));
  const Fd operation{::accept4(algorithm.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  std::array<unsigned char, kDigestBytes> digest{};
  if (!operation ||
      ::send(operation.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::recv(operation.get(), digest.data(), digest.size(), 0) !=
          static_cast<ssize_t>(digest.size()))
    return fail(hmac_error(errno, key.size()));
  return hexadecimal(digest);
}

Result<Greeting> Greeting::begin(Side side, const std::string& token) {
  auto nonce = make_nonce();
  if (!nonce) return fail(std::move(nonce.error()));
  return Greeting{side, token, std::move(*nonce)};
}

Json Greeting::hello() const {
  return {{"pvrdma_verify", kProtocolVersion}, {"nonce", nonce_}, {"token", !token_.empty()}};
}

Result<void> Greeting::take_proof(const Json& came, Control& from, BootTime deadline) {
  const bool is_right = are_equal(text_in(came, "proof"), expected_);
  // A stranger could try guesses on the listener's proof, so only a peer that has proved the token
  // gets it. An empty one tells a peer with another token the reason; the mere end would have it
  // come again.
  if (side_ == Side::Listener)
    if (auto sent = from.send({{"proof", is_right ? proof_ : ""}}, deadline); !sent && is_right)
      return sent;
  if (!is_right)
    return fail(EACCES, "checking", "the peer's token: it differs from this machine's");
  is_over_ = true;
  return {};
}

Result<void> Greeting::take(const Json& came, Control& from, BootTime deadline) {
  if (!expected_.empty()) return take_proof(came, from, deadline);
  const auto version = came.find("pvrdma_verify");
  if (version == came.end() || !version->is_number_integer())
    return fail(EBADMSG, "greeting", "the peer: it does not run pvrdma-agentctl verify");
  if (*version != kProtocolVersion)
    return fail(EPROTO, "greeting",
                "the peer: it speaks version " + version->dump() +
                    " of the protocol, this is version " + std::to_string(kProtocolVersion) +
                    ": install the same package on both");
  const auto has_token = came.find("token");
  if (has_token == came.end() || !has_token->is_boolean() || *has_token != !token_.empty())
    return fail(EACCES, "greeting",
                token_.empty() ? "the peer: it wants a token, and this side has none"
                               : "the peer: it was given no token");
  const std::string others = text_in(came, "nonce");
  if (others.size() != 2 * kNonceBytes || others == nonce_)
    return fail(EBADMSG, "greeting", "the peer");
  is_over_ = token_.empty();
  if (is_over_) return {};
  const Side other = side_ == Side::Client ? Side::Listener : Side::Client;
  auto mine = proof(token_, side_, nonce_, others);
  auto expected = proof(token_, other, others, nonce_);
  if (!mine || !expected) return fail(!mine ? mine.error() : expected.error());
  proof_ = std::move(*mine);
  expected_ = std::move(*expected);
  return side_ == Side::Client ? from.send({{"proof", proof_}}, deadline) : Result<void>{};
}

Result<void> greet(Control& control, Side side, const std::string& token, BootTime deadline) {
  auto greeting = Greeting::begin(side, token);
  if (!greeting) return fail(greeting.error());
  if (auto sent = control.send(greeting->hello(), deadline); !sent) return sent;
  while (!greeting->is_over()) {
    const auto came = control.receive(deadline);
    if (!came) return fail(came.error());
    if (auto taken = greeting->take(*came, control, deadline); !taken) return taken;
  }
  return {};
}

Result<Control> reach(const std::string& host, int port, const std::string& token, BootTime until,
                      Milliseconds greet_within) {
  constexpr Milliseconds kPause{100};
  constexpr Milliseconds kToComeAgain{3000};  // a listener that has ended is not waited for
  auto control = Control::connect(host, port, until);
  if (!control) return control;
  // Another address of a name may refuse at once where no listener is. A connection that was
  // closed already does not tell its peer.
  const std::string peer = control->peer();
  const std::string& answered = peer == "?" ? host : peer;
  std::optional<Error> first;
  for (;;) {
    auto greeted = greet(*control, Side::Client, token, BootClock::now() + greet_within);
    if (greeted) return control;
    const bool comes_again = has_ended_early(greeted.error()) && BootClock::now() < until;
    if (!comes_again) return fail(std::move(greeted.error()));
    if (!first) first = std::move(greeted.error());
    static_cast<void>(poll_until(-1, 0, std::min(until, BootClock::now() + kPause)));
    // A listener whose queue is full drops what comes, so a time-out does not show that it has
    // ended.
    do {
      control = Control::connect(answered, port, std::min(until, BootClock::now() + kToComeAgain));
    } while (!control && control.error().code == ETIMEDOUT && BootClock::now() < until);
    if (!control) return fail(std::move(*first));
  }
}

Result<Control> await_peer(const std::string& address, int port, const std::string& token,
                           BootTime deadline) {
  const auto listener = Listener::open(address, port, Reception::kQueue);
  if (!listener) return fail(listener.error());
  Reception reception{&*listener, token, false};
  std::string refused;
  for (;;) {
    auto guest = reception.next(deadline);
    if (!guest) guest.error().what += refused;
    if (!guest) return fail(std::move(guest.error()));
    if (!guest->refused) return std::move(guest->control);
    const Error& why = *guest->refused;
    // A peer without the right token is refused, but cannot end the wait for one that has it.
    if (!token.empty() && (why.code == EACCES || why.code == EPROTO))
      refused = " (one was refused: " + why.message() + ")";
    else if (!is_a_strangers(why))
      return fail(why);
  }
}

}  // namespace pvrdma::verify
