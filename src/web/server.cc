// The one file that meets Asio and Beast: sockets, deadlines and bounds. What is answered is
// decided in router.cc, what viewers see in live_feed.cc.
#include "web/server.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <exception>

#include "base/text.h"
#include "web/live_feed.h"
#include "web/router.h"

namespace stoker::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using boost::system::error_code;
using Parser = http::request_parser<http::empty_body>;

constexpr uint32_t kMaxHeadBytes = 16 << 10;
constexpr size_t kMaxDrainBytes = 256 << 10;
constexpr Millis kDrainTime{1000};
constexpr Millis kAcceptPause{200};
constexpr int kAcceptsATurn = 64;
constexpr std::string_view kTooManyText =
    "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n"
    "Connection: close\r\nContent-Length: 0\r\n\r\n";

auto Into(error_code& error) { return asio::redirect_error(asio::use_awaitable, error); }

Error BindError(const error_code& error, const Config& config) {
  const std::string where = fmt::format("{}:{}", config.address, config.port);
  if (error == asio::error::address_in_use) {
    return Unavailable("the port is in use by another program", where,
                       "stop that program, or choose another port with --listen");
  }
  if (error == asio::error::access_denied) {
    return Denied("this port needs more rights", where, "choose one above 1023 with --listen");
  }
  if (error.value() == EADDRNOTAVAIL) {
    return Invalid("this machine has no such address", where, "listen on 127.0.0.1, or on 0.0.0.0");
  }
  return Unavailable(fmt::format("cannot listen: {}", error.message()), where);
}

// What Beast says of a head that is no request, for the client; nullopt where nobody is there to
// tell.
std::optional<Response> HeadError(const error_code& error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return ErrorResponse(431, Invalid("the request's head is too large", "request"));
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message ||
      error.category() != http::make_error_code(http::error::bad_method).category()) {
    return std::nullopt;
  }
  return ErrorResponse(400, Invalid("not an HTTP request", "request", Printable(error.message())));
}

std::string_view View(beast::string_view text) { return {text.data(), text.size()}; }

class BeastServer final : public Server {
 public:
  BeastServer(Config config, ledger::Ledger& ledger, Logger& log, const Clock& clock)
      : config_(std::move(config)),
        context_{ledger, clock},
        log_(log),
        hosts_(config_.address, config_.names),
        feed_({config_.max_viewers, config_.max_queue_bytes, config_.live_interval}, ledger, clock),
        io_(1),
        acceptor_(io_) {}

  Status Listen();
  uint16_t port() const override { return port_; }
  void Run() override;
  void Stop() override { io_.stop(); }

 private:
  // Counts a connection while it lives.
  class Slot {
   public:
    explicit Slot(size_t& count) : count_(count) { ++count_; }
    ~Slot() { --count_; }
    Slot(const Slot&) = delete;
    Slot& operator=(const Slot&) = delete;

   private:
    size_t& count_;
  };

  asio::awaitable<void> AcceptAll();
  asio::awaitable<void> TickAll();
  asio::awaitable<void> Serve(tcp::socket socket);
  asio::awaitable<bool> ServeOne(beast::tcp_stream& stream, beast::flat_buffer& buffer);
  asio::awaitable<void> Stream(beast::tcp_stream& stream, const Request& request, unsigned version);
  asio::awaitable<bool> Send(beast::tcp_stream& stream, Response response, bool head_only,
                             unsigned version, bool keep);
  asio::awaitable<void> Drain(beast::tcp_stream& stream);
  bool AcceptOne(error_code& error);
  Response Answer(const Parser& parser, Request& request) const;

  const Config config_;
  const Context context_;
  Logger& log_;
  const HostRule hosts_;
  LiveFeed feed_;
  size_t connections_ = 0;
  uint16_t port_ = 0;
  // Below what its coroutines use: they are destroyed with it.
  asio::io_context io_;
  tcp::acceptor acceptor_;
};

Status BeastServer::Listen() {
  error_code error;
  const std::string host = config_.address == "localhost" ? "127.0.0.1" : config_.address;
  const asio::ip::address address = asio::ip::make_address(host, error);
  if (error) {
    return Invalid("not an IP address", Printable(config_.address), "listen on 127.0.0.1");
  }
  const tcp::endpoint endpoint(address, config_.port);
  // By hand: Asio's own sockets would be inherited by every job that is started.
  const int fd = ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return FromErrno(errno, "opening a socket", host);
  acceptor_.assign(endpoint.protocol(), fd, error);
  if (error) return BindError(error, config_);
  acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
  if (!error) acceptor_.bind(endpoint, error);
  if (!error) acceptor_.listen(asio::socket_base::max_listen_connections, error);
  if (!error) acceptor_.non_blocking(true, error);
  if (error) return BindError(error, config_);
  port_ = acceptor_.local_endpoint(error).port();
  asio::co_spawn(io_, AcceptAll(), asio::detached);
  asio::co_spawn(io_, TickAll(), asio::detached);
  return Ok();
}

void BeastServer::Run() {
  while (true) {
    try {
      io_.run();
      return;
    } catch (const std::exception& e) {
      log_.Error("web", "a connection failed: {}", Printable(e.what()));
    }
  }
}

// Takes one connection from the backlog; false where there is none. `error` is set where the
// system cannot give one now.
bool BeastServer::AcceptOne(error_code& error) try {
  sockaddr_storage peer;
  socklen_t size = sizeof peer;
  const int fd = ::accept4(acceptor_.native_handle(), reinterpret_cast<sockaddr*>(&peer), &size,
                           SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0) {
    if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED) {
      error.assign(errno, boost::system::system_category());
    }
    return false;
  }
  tcp::socket socket(io_);
  socket.assign(peer.ss_family == AF_INET6 ? tcp::v6() : tcp::v4(), fd, error);
  if (error) return true;
  if (connections_ >= config_.max_connections) {
    error_code ignored;  // a fresh socket's buffer is empty: this neither waits nor matters
    socket.non_blocking(true, ignored);
    socket.write_some(asio::buffer(kTooManyText.data(), kTooManyText.size()), ignored);
    return true;
  }
  asio::co_spawn(io_, Serve(std::move(socket)), asio::detached);
  return true;
} catch (const std::exception&) {
  error = asio::error::no_memory;
  return false;
}

asio::awaitable<void> BeastServer::AcceptAll() {
  asio::steady_timer pause(io_);
  while (true) {
    error_code error;
    co_await acceptor_.async_wait(tcp::acceptor::wait_read, Into(error));
    for (int i = 0; i < kAcceptsATurn && !error && AcceptOne(error); ++i) {
    }
    if (error) {
      log_.Warn("web", "cannot take a connection: {}", error.message());
      pause.expires_after(kAcceptPause);
      co_await pause.async_wait(Into(error));
    }
  }
}

asio::awaitable<void> BeastServer::TickAll() {
  asio::steady_timer timer(io_);
  auto next = std::chrono::steady_clock::now();
  while (true) {
    // On a grid, but never a burst of missed ticks.
    next = std::max(next + config_.live_interval, std::chrono::steady_clock::now());
    timer.expires_at(next);
    error_code error;
    co_await timer.async_wait(Into(error));
    if (feed_.viewers() > 0) feed_.Tick();
  }
}

asio::awaitable<void> BeastServer::Serve(tcp::socket socket) {
  const Slot slot(connections_);
  beast::tcp_stream stream(std::move(socket));
  beast::flat_buffer buffer(kMaxHeadBytes + 4096);
  bool more = true;
  while (more) more = co_await ServeOne(stream, buffer);
}

Response BeastServer::Answer(const Parser& parser, Request& request) const {
  const auto& head = parser.get();
  if (head.count(http::field::host) > 1) {
    return ErrorResponse(400, Invalid("more than one Host header", "request"));
  }
  const auto length = parser.content_length();
  request.method = View(head.method_string());
  request.target = View(head.target());
  request.host = View(head[http::field::host]);
  request.if_none_match = View(head[http::field::if_none_match]);
  request.last_event_id = View(head["Last-Event-ID"]);
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (reads && (parser.chunked() || (length && *length > 0))) {
    return ErrorResponse(413, Invalid("a body is not accepted here", "request"));
  }
  return Dispatch(request, context_, hosts_);
}

// One request and its answer; false where the connection is to end.
asio::awaitable<bool> BeastServer::ServeOne(beast::tcp_stream& stream, beast::flat_buffer& buffer) {
  Parser parser;
  parser.header_limit(kMaxHeadBytes);
  stream.expires_after(config_.request_timeout);
  error_code error;
  co_await http::async_read_header(stream, buffer, parser, Into(error));
  if (error) {
    if (std::optional<Response> told = HeadError(error)) {
      co_await Send(stream, std::move(*told), false, 11, false);
      co_await Drain(stream);
    }
    co_return false;
  }
  Request request;
  Response response = Answer(parser, request);
  const bool head_only = request.method == "HEAD";
  const unsigned version = parser.get().version();
  if (response.live && !head_only) {
    co_await Stream(stream, request, version);
    co_return false;
  }
  // What follows a request with a body cannot be trusted to be a request.
  const bool keep = parser.keep_alive() && parser.is_done();
  const bool sent = co_await Send(stream, std::move(response), head_only, version, keep);
  if (sent && !keep) co_await Drain(stream);
  co_return sent&& keep;
}

asio::awaitable<bool> BeastServer::Send(beast::tcp_stream& stream, Response response,
                                        bool head_only, unsigned version, bool keep) {
  const bool empty = head_only || response.status == 304;
  http::response<http::string_body> message(static_cast<http::status>(response.status), version);
  message.set(http::field::content_type, response.content_type);
  for (const auto& [name, value] : SecurityHeaders()) message.set(name, value);
  for (const auto& [name, value] : response.headers) message.set(name, value);
  message.keep_alive(keep);
  if (response.status != 304 && !response.live) message.content_length(response.body.size());
  if (!empty) message.body() = std::move(response.body);
  http::response_serializer<http::string_body> serializer(message);
  stream.expires_after(config_.write_timeout);
  error_code error;
  if (empty) {
    co_await http::async_write_header(stream, serializer, Into(error));
  } else {
    co_await http::async_write(stream, serializer, Into(error));
  }
  co_return !error;
}

// Lets the client read the answer: closing with unread bytes would reset the connection under it.
asio::awaitable<void> BeastServer::Drain(beast::tcp_stream& stream) {
  error_code error;
  stream.socket().shutdown(tcp::socket::shutdown_send, error);
  std::array<char, 4096> scratch;
  stream.expires_after(kDrainTime);
  for (size_t total = 0; !error && total < kMaxDrainBytes;) {
    total += co_await stream.async_read_some(asio::buffer(scratch), Into(error));
  }
}

asio::awaitable<void> BeastServer::Stream(beast::tcp_stream& stream, const Request& request,
                                          unsigned version) {
  const std::unique_ptr<LiveFeed::Viewer> viewer = feed_.Join(ParseInt(request.last_event_id));
  if (!viewer) {
    co_await Send(stream, ErrorResponse(Unavailable("too many live viewers", "/api/v1/live")),
                  false, version, false);
    co_return;
  }
  error_code error;
  if (config_.send_buffer_bytes > 0) {
    stream.socket().set_option(asio::socket_base::send_buffer_size(config_.send_buffer_bytes),
                               error);
  }
  http::response<http::empty_body> message(http::status::ok, version);
  message.set(http::field::content_type, "text/event-stream");
  message.set(http::field::cache_control, "no-store");
  for (const auto& [name, value] : SecurityHeaders()) message.set(name, value);
  message.keep_alive(false);
  http::response_serializer<http::empty_body> serializer(message);
  stream.expires_after(config_.write_timeout);
  co_await http::async_write_header(stream, serializer, Into(error));

  // The timer is the bell: a frame cancels its wait.
  asio::steady_timer bell(io_);
  viewer->OnFrame([&] {
    if (viewer->dropped()) stream.cancel();
    bell.cancel();
  });
  while (!error && !viewer->dropped()) {
    const LiveFeed::Frame frame = viewer->Pop();
    if (!frame) {
      error_code rung;
      bell.expires_after(std::chrono::hours(1));
      co_await bell.async_wait(Into(rung));
      continue;
    }
    stream.expires_after(config_.write_timeout);
    co_await asio::async_write(stream, asio::buffer(*frame), Into(error));
  }
  if (viewer->dropped()) log_.Info("web", "dropped a live viewer that read too slowly");
}

}  // namespace

Result<std::unique_ptr<Server>> Server::Bind(Config config, ledger::Ledger& ledger, Logger& log,
                                             const Clock& clock) {
  try {
    auto server = std::make_unique<BeastServer>(std::move(config), ledger, log, clock);
    STOKER_TRY(server->Listen());
    return std::unique_ptr<Server>(std::move(server));
  } catch (const std::exception& e) {
    return Internal(e.what(), "web server");
  }
}

}  // namespace stoker::web
