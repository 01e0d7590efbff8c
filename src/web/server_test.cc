#include "web/server.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <nlohmann/json.hpp>

#include "base/fd.h"
#include "base/json.h"
#include "base/text.h"
#include "base/thread.h"
#include "web/test_box.h"

namespace stoker::web {
namespace {

struct Answer {
  int status = 0;  // 0: the server closed without one
  std::string head;
  std::string body;
};

// A client that can be as rude as the test needs. A read that takes 20 s has hung: it gives
// nothing.
class Client {
 public:
  explicit Client(uint16_t port) : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const timeval limit{20, 0};
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    connected_ = ::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }

  bool connected() const { return connected_; }
  void SmallBuffer() {
    const int size = 4096;
    ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
  }
  // False where the server is gone; a broken pipe is no signal here.
  bool Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t n = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  bool Get(std::string_view target, std::string_view method = "GET") {
    return Send(fmt::format("{} {} HTTP/1.1\r\nHost: localhost\r\n\r\n", method, target));
  }
  // True when `word` is in what came so far; false at the end of the stream.
  bool ReadUntil(std::string_view word) {
    while (got_.find(word) == std::string::npos) {
      if (!ReadMore()) return false;
    }
    return true;
  }
  std::string ReadToEnd() {
    while (ReadMore()) {
    }
    return got_;
  }
  void Consume(std::string_view word) { got_.erase(0, got_.find(word) + word.size()); }

  Answer Read(bool has_body = true) {
    Answer answer;
    if (!ReadUntil("\r\n\r\n")) return answer;
    answer.head = got_.substr(0, got_.find("\r\n\r\n") + 4);
    got_.erase(0, answer.head.size());
    answer.status = static_cast<int>(ParseInt(answer.head.substr(9, 3)).value_or(0));
    const size_t at = answer.head.find("Content-Length: ");
    if (!has_body || at == std::string::npos) return answer;
    const auto size = static_cast<size_t>(std::stoul(answer.head.substr(at + 16)));
    while (got_.size() < size && ReadMore()) {
    }
    answer.body = got_.substr(0, size);
    got_.erase(0, size);
    return answer;
  }

 private:
  bool ReadMore() {
    char buffer[4096];
    const auto n = ReadSome(fd_, buffer, sizeof buffer, "test");
    if (!n || *n == 0) return false;
    got_.append(buffer, *n);
    return true;
  }

  Fd fd_;
  bool connected_ = false;
  std::string got_;
};

class ServerTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(box_.filled()) << box_.filled().error().Line(); }
  void TearDown() override {
    if (server_) server_->Stop();
    thread_.reset();
  }

  void Start(Config config = {}) {
    config.port = 0;
    auto server = Server::Bind(config, box_.ledger(), log_, box_.clock);
    ASSERT_TRUE(server) << server.error().Line();
    server_ = std::move(*server);
    thread_ = std::make_unique<NamedThread>("web", [this](StopSignal&) { server_->Run(); });
  }
  Client Connect() { return Client(server_->port()); }
  // Whatever happened before, the next visitor is served.
  void ExpectAlive() {
    Client client = Connect();
    ASSERT_TRUE(client.Get("/healthz"));
    const Answer answer = client.Read();
    EXPECT_EQ(answer.status, 200) << answer.body;
  }

  TestBox box_;
  MemoryLogger log_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<NamedThread> thread_;
};

TEST_F(ServerTest, ServesPagesAndJsonOverOneConnection) {
  Start();
  Client client = Connect();
  ASSERT_TRUE(client.Get("/"));
  const Answer page = client.Read();
  EXPECT_EQ(page.status, 200);
  EXPECT_NE(page.head.find("Content-Security-Policy: default-src 'self';"), std::string::npos);
  EXPECT_NE(page.head.find("frame-ancestors 'none'"), std::string::npos);
  EXPECT_NE(page.head.find("X-Content-Type-Options: nosniff"), std::string::npos);
  EXPECT_NE(page.head.find("Referrer-Policy: no-referrer"), std::string::npos);
  EXPECT_NE(page.body.find("</html>"), std::string::npos);

  ASSERT_TRUE(client.Get("/api/v1/now"));
  const Answer now = client.Read();
  EXPECT_EQ(now.status, 200);
  EXPECT_NE(now.head.find("Content-Type: application/json"), std::string::npos);
  EXPECT_NE(now.head.find("Cache-Control: no-store"), std::string::npos);
  EXPECT_TRUE(ParseJson(now.body)) << now.body;

  ASSERT_TRUE(client.Get("/metrics"));
  EXPECT_NE(client.Read().body.find("stoker_power_w{gpu=\"0\",uuid=\"GPU-0\"} 412.5"),
            std::string::npos);
}

TEST_F(ServerTest, HeadSaysTheSameWithoutTheBody) {
  Start();
  Client client = Connect();
  ASSERT_TRUE(client.Get("/app.css", "GET"));
  const Answer whole = client.Read();
  ASSERT_TRUE(client.Get("/app.css", "HEAD"));
  const Answer head = client.Read(false);
  EXPECT_EQ(head.head, whole.head);
  ASSERT_TRUE(client.Get("/api/v1/live", "HEAD"));
  EXPECT_NE(client.Read(false).head.find("text/event-stream"), std::string::npos);
  ASSERT_TRUE(client.Get("/healthz"));
  EXPECT_EQ(client.Read().status, 200) << "no body was left in between";
}

TEST_F(ServerTest, PageThatIsKnownIsNotSentAgain) {
  Start();
  Client client = Connect();
  ASSERT_TRUE(client.Get("/app.js"));
  const Answer first = client.Read();
  const size_t at = first.head.find("ETag: ") + 6;
  const std::string etag = first.head.substr(at, first.head.find("\r\n", at) - at);
  ASSERT_TRUE(client.Send("GET /app.js HTTP/1.1\r\nHost: localhost\r\nIf-None-Match: " + etag +
                          "\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  EXPECT_EQ(client.Read(false).status, 304);
  EXPECT_EQ(client.Read().status, 200);
}

TEST_F(ServerTest, PipelinedRequestsAreAnsweredInOrder) {
  Start();
  Client client = Connect();
  std::string many;
  for (int i = 1; i <= 50; ++i) {
    many += fmt::format("GET /api/v1/jobs?limit={} HTTP/1.1\r\nHost: localhost\r\n\r\n", i % 2);
  }
  ASSERT_TRUE(client.Send(many));
  for (int i = 1; i <= 50; ++i) EXPECT_EQ(client.Read().status, i % 2 == 1 ? 200 : 400) << i;
}

TEST_F(ServerTest, GarbageIsRefusedAndTheServerLives) {
  Start();
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x00\x01", 6), std::string("hello\r\n\r\n"),
        std::string("GET\r\n\r\n"), std::string("GET / HTTP/9.9\r\n\r\n"), std::string(300, '\0'),
        std::string("GET /\x01 HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\nHost: localhost\r\n: empty\r\n\r\n")}) {
    Client client = Connect();
    ASSERT_TRUE(client.Send(garbage));
    const Answer answer = client.Read();
    EXPECT_EQ(answer.status, 400) << Printable(garbage) << answer.head;
    EXPECT_NE(answer.head.find("Connection: close"), std::string::npos);
    EXPECT_NE(answer.body.find("\"error\""), std::string::npos);
  }
  ExpectAlive();
}

TEST_F(ServerTest, HugeHeadsAreRefused) {
  Start();
  Client headers = Connect();
  headers.Send("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(64 << 10, 'x') +
               "\r\n\r\n");
  EXPECT_EQ(headers.Read().status, 431);
  Client target = Connect();
  target.Send("GET /" + std::string(64 << 10, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(target.Read().status, 431);
  Client longish = Connect();
  longish.Send("GET /" + std::string(8000, 'x') + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(longish.Read().status, 400);
  ExpectAlive();
}

TEST_F(ServerTest, BodiesAndOtherMethodsAreRefused) {
  Start();
  Client post = Connect();
  ASSERT_TRUE(
      post.Send("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000"
                "\r\n\r\n" +
                std::string(100000, 'x')));
  const Answer refused = post.Read();
  EXPECT_EQ(refused.status, 405);
  EXPECT_NE(refused.head.find("Allow: GET, HEAD"), std::string::npos);
  for (const char* body : {"Content-Length: 3\r\n\r\nabc",
                           "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"}) {
    Client get = Connect();
    ASSERT_TRUE(get.Send(fmt::format("GET / HTTP/1.1\r\nHost: localhost\r\n{}", body)));
    EXPECT_EQ(get.Read().status, 413);
    EXPECT_EQ(get.Read().status, 0) << "what follows a body is not read as a request";
  }
  Client smuggler = Connect();
  ASSERT_TRUE(smuggler.Send("GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n"));
  EXPECT_EQ(smuggler.Read().status, 400);
  Client rebound = Connect();
  ASSERT_TRUE(rebound.Send("GET /api/v1/now HTTP/1.1\r\nHost: evil.example\r\n\r\n"));
  EXPECT_EQ(rebound.Read().status, 421);
  Client nameless = Connect();
  ASSERT_TRUE(nameless.Send("GET /api/v1/now HTTP/1.1\r\n\r\n"));
  EXPECT_EQ(nameless.Read().status, 421);
}

TEST_F(ServerTest, ClientThatNeverFinishesItsRequestIsLetGo) {
  Start({.request_timeout = Millis(50)});
  Client slow = Connect();
  ASSERT_TRUE(slow.Send("GET / HT"));
  Client silent = Connect();
  EXPECT_EQ(slow.ReadToEnd(), "");
  EXPECT_EQ(silent.ReadToEnd(), "");
  ExpectAlive();
}

TEST_F(ServerTest, OneConnectionTooManyIsToldSo) {
  Start({.max_connections = 2});
  Client first = Connect();
  Client second = Connect();
  for (Client* client : {&first, &second}) {
    ASSERT_TRUE(client->Get("/healthz"));
    EXPECT_EQ(client->Read().status, 200);
  }
  Client third = Connect();
  EXPECT_EQ(third.Read().status, 503);
  ASSERT_TRUE(first.Get("/healthz"));
  EXPECT_EQ(first.Read().status, 200) << "those inside are not disturbed";
}

TEST_F(ServerTest, LiveViewersSeeReadingsAndNewEvents) {
  Start({.live_interval = Millis(5)});
  Client one = Connect();
  Client two = Connect();
  for (Client* client : {&one, &two}) {
    ASSERT_TRUE(client->Get("/api/v1/live"));
    ASSERT_TRUE(client->ReadUntil("Content-Type: text/event-stream"));
    ASSERT_TRUE(client->ReadUntil("event: now\ndata: {\"schema_version\":1"));
  }
  ASSERT_TRUE(box_.AddEvent("the first of two"));
  ASSERT_TRUE(box_.AddEvent("the second of two"));
  for (Client* client : {&one, &two}) {
    EXPECT_TRUE(client->ReadUntil("the first of two"));
    EXPECT_TRUE(client->ReadUntil("the second of two"));
    client->Consume("the second of two");
    EXPECT_TRUE(client->ReadUntil("event: now\n")) << "and it goes on";
  }
  ExpectAlive();
}

TEST_F(ServerTest, LiveViewersAreBounded) {
  Start({.max_viewers = 1});
  Client one = Connect();
  ASSERT_TRUE(one.Get("/api/v1/live"));
  ASSERT_TRUE(one.ReadUntil("event: now\n"));
  Client two = Connect();
  ASSERT_TRUE(two.Get("/api/v1/live"));
  const Answer answer = two.Read();
  EXPECT_EQ(answer.status, 503);
  EXPECT_NE(answer.body.find("too many live viewers"), std::string::npos);
}

// The slow one is dropped while the quick one, which sets the pace of this test, goes on.
TEST_F(ServerTest, SlowLiveViewerIsDropped) {
  Start({.max_queue_bytes = 16 << 10, .send_buffer_bytes = 4096, .live_interval = Millis(1)});
  Client slow = Connect();
  slow.SmallBuffer();
  ASSERT_TRUE(slow.Get("/api/v1/live"));
  Client quick = Connect();
  ASSERT_TRUE(quick.Get("/api/v1/live"));
  const auto dropped = [&] {
    const auto lines = log_.lines();
    return std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("dropped a live viewer") != std::string::npos;
    });
  };
  for (int i = 0; i < 20'000 && !dropped(); ++i) {
    ASSERT_TRUE(quick.ReadUntil("event: now\n"));
    quick.Consume("event: now\n");
  }
  EXPECT_TRUE(dropped());
  slow.ReadToEnd();  // returns: the stream has an end
  EXPECT_TRUE(quick.ReadUntil("event: now\n"));
}

TEST_F(ServerTest, DamagedLedgerGivesOneClearLine) {
  Start({.live_interval = Millis(5)});
  Client live = Connect();
  ASSERT_TRUE(live.Get("/api/v1/live"));
  ASSERT_TRUE(live.ReadUntil("event: now\n"));
  box_.ledger().broken = true;
  Client client = Connect();
  ASSERT_TRUE(client.Get("/healthz"));
  const Answer answer = client.Read();
  EXPECT_EQ(answer.status, 500);
  EXPECT_NE(answer.body.find("a page of the ledger is damaged"), std::string::npos);
  EXPECT_TRUE(live.ReadUntil("event: fault\n"));
  box_.ledger().broken = false;
  live.Consume("event: fault\n");
  EXPECT_TRUE(live.ReadUntil("event: now\n"));
  ExpectAlive();
}

TEST_F(ServerTest, BindSaysWhatIsWrong) {
  Start();
  Config config;
  config.port = server_->port();
  const auto taken = Server::Bind(config, box_.ledger(), log_, box_.clock);
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code, Code::kUnavailable);
  EXPECT_NE(taken.error().Line().find(std::to_string(config.port)), std::string::npos);
  config.address = "no address";
  EXPECT_EQ(Server::Bind(config, box_.ledger(), log_, box_.clock).error().code, Code::kInvalid);
  config.address = "203.0.113.7";
  EXPECT_EQ(Server::Bind(config, box_.ledger(), log_, box_.clock).error().code, Code::kInvalid);
}

TEST_F(ServerTest, StopsWithConnectionsOpenAndBeforeItRuns) {
  Start();
  Client idle = Connect();
  Client live = Connect();
  ASSERT_TRUE(live.Get("/api/v1/live"));
  ASSERT_TRUE(live.ReadUntil("event: now\n"));
  server_->Stop();
  thread_.reset();
  server_.reset();
  EXPECT_EQ(idle.ReadToEnd(), "");
  live.ReadToEnd();

  auto never = Server::Bind({.port = 0}, box_.ledger(), log_, box_.clock);
  ASSERT_TRUE(never);
  (*never)->Stop();
  (*never)->Run();  // returns at once
}

}  // namespace
}  // namespace stoker::web
