#include "agent/tools/verify/peer/greeting.hpp"

#include <linux/if_alg.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace pvrdma::verify {

namespace {

constexpr std::size_t kDigestBytes = 32;
constexpr std::size_t kNonceBytes = 16;
constexpr Milliseconds kPatience{3000};  // for a greeting

Result<std::string> make_nonce() {
  std::array<unsigned char, kNonceBytes> bytes{};
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
    return fail(errno, "asking for", "random numbers");
  return hexadecimal(bytes);
}

// In a time that does not tell where they differ.
bool are_equal(const std::string& left, const std::string& right) {
  if (left.size() != right.size()) return false;
  unsigned difference = 0;
  for (std::size_t at = 0; at < left.size(); ++at)
    difference |= static_cast<unsigned>(left[at] ^ right[at]);
  return difference == 0;
}

bool is_a_strangers(const Error& error) {
  return error.code == EBADMSG || error.code == EMSGSIZE || error.code == ECONNRESET ||
         error.code == EPIPE || error.code == ETIMEDOUT;
}

// Of one side's knowledge of the token: no answer to one side is one of the other's.
Result<std::string> proof(const std::string& token, Side of, const std::string& own,
                          const std::string& others) {
  return hmac(token, (of == Side::Client ? "client " : "listener ") + own + " " + others);
}

Result<void> prove(Control& control, Side side, const std::string& token, const std::string& own,
                   const std::string& others, BootTime deadline) {
  const Side other = side == Side::Client ? Side::Listener : Side::Client;
  const auto mine = proof(token, side, own, others);
  const auto expected = proof(token, other, others, own);
  if (!mine || !expected) return fail(!mine ? mine.error() : expected.error());
  if (auto sent = control.send({{"proof", *mine}}, deadline); !sent) return sent;
  const auto came = control.receive(deadline);
  if (!came) return fail(came.error());
  if (!are_equal(text_in(*came, "proof"), *expected))
    return fail(EACCES, "checking", "the peer's token: it is another one");
  return {};
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

Result<std::string> hmac(const std::string& key, const std::string& text) {
  constexpr const char* kDoing = "computing";
  constexpr const char* kWhat = "an HMAC by AF_ALG, for the token";
  sockaddr_alg address{};
  address.salg_family = AF_ALG;
  std::memcpy(address.salg_type, "hash", 5);
  std::memcpy(address.salg_name, "hmac(sha256)", 13);
  const Fd algorithm{::socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  if (!algorithm ||
      ::bind(algorithm.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::setsockopt(algorithm.get(), SOL_ALG, ALG_SET_KEY, key.data(),
                   static_cast<socklen_t>(key.size())) != 0)
    return fail(errno, kDoing, kWhat);
  const Fd operation{::accept4(algorithm.get(), nullptr, nullptr, SOCK_CLOEXEC)};
  std::array<unsigned char, kDigestBytes> digest{};
  if (!operation ||
      ::send(operation.get(), text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()) ||
      ::recv(operation.get(), digest.data(), digest.size(), 0) !=
          static_cast<ssize_t>(digest.size()))
    return fail(errno, kDoing, kWhat);
  return hexadecimal(digest);
}

Result<void> greet(Control& control, Side side, const std::string& token, BootTime deadline) {
  const auto nonce = make_nonce();
  if (!nonce) return fail(nonce.error());
  const Json hello{
      {"pvrdma_verify", kProtocolVersion}, {"nonce", *nonce}, {"token", !token.empty()}};
  if (auto sent = control.send(hello, deadline); !sent) return sent;
  const auto came = control.receive(deadline);
  if (!came) return fail(came.error());
  const auto version = came->find("pvrdma_verify");
  if (version == came->end() || !version->is_number_integer())
    return fail(EBADMSG, "greeting", "the peer: it is no pvrdma-agentctl verify");
  if (*version != kProtocolVersion)
    return fail(EPROTO, "greeting",
                "the peer: it speaks version " + version->dump() +
                    " of the protocol, this is version " + std::to_string(kProtocolVersion) +
                    ": install the same package on both");
  const auto has_token = came->find("token");
  if (has_token == came->end() || !has_token->is_boolean() || *has_token != !token.empty())
    return fail(EACCES, "greeting",
                token.empty() ? "the peer: it wants a token, and none is given here"
                              : "the peer: it was given no token");
  const std::string others = text_in(*came, "nonce");
  if (others.size() != 2 * kNonceBytes || others == *nonce)
    return fail(EBADMSG, "greeting", "the peer");
  if (token.empty()) return {};
  return prove(control, side, token, *nonce, others, deadline);
}

Result<Control> await_peer(const std::string& address, int port, const std::string& token,
                           BootTime deadline) {
  const auto listener = Listener::open(address, port, 1);
  if (!listener) return fail(listener.error());
  std::string refused;
  for (;;) {
    auto control = listener->accept(deadline);
    if (!control) control.error().what += refused;
    if (!control) return control;
    const auto greeted = greet(*control, Side::Listener, token, BootClock::now() + kPatience);
    if (greeted) return control;
    const Error& why = greeted.error();
    // Whoever does not know the token cannot end the waiting for one who does.
    if (!token.empty() && (why.code == EACCES || why.code == EPROTO))
      refused = " (one was refused: " + why.message() + ")";
    else if (!is_a_strangers(why))
      return fail(why);
  }
}

}  // namespace pvrdma::verify
