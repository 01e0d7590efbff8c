#include "bans.h"

#include <gtest/gtest.h>

namespace stoker::house {
namespace {

// The finding's lines, joined; empty where the file is clean.
std::string Found(const std::string& path, const std::string& text) {
  std::string all;
  for (const Finding& finding : CheckBans(Tree({File{path, text}}))) all += finding.Line() + "\n";
  return all;
}

TEST(Bans, RefuseWordsOutsideTheirFolders) {
  const std::vector<std::string> bad = {"auto x = std::getenv(\"A\");",
                                        "setenv(\"A\", \"B\", 1);",
                                        "int r = system(\"ls\");",
                                        "FILE* f = popen(\"ls\", \"r\");",
                                        "std::cout << 1;",
                                        "printf(\"x\");",
                                        "auto now = std::chrono::system_clock::now();",
                                        "std::this_thread::sleep_for(1s);",
                                        "usleep(3);",
                                        "auto* p = new Foo;",
                                        "box.Add(new Foo);",
                                        "delete p;",
                                        "int fd = ::open(path, 0);",
                                        "  close(fd);",
                                        "if (fork() == 0) {}",
                                        "return kill(pid, 9);",
                                        "(void)::unlink(p);",
                                        "using namespace std;"};
  for (const std::string& line : bad) {
    const std::string found = Found("src/jobs/a.cc", "\n" + line + "\n");
    EXPECT_TRUE(found.starts_with("src/jobs/a.cc:2: ")) << line << " gave " << found;
  }
}

TEST(Bans, LetNamesakesPass) {
  const std::string good =
      "  Foo(const Foo&) = delete;\n"
      "  void* operator new(size_t) = delete;\n"
      "  Status kill(int signal);\n"
      "  Result<Fd> open(const std::string& path);\n"
      "  file.close();\n"
      "  stream->open(path);\n"
      "  fs::rename(a, b);\n"
      "  jobs::fork(x);\n"
      "  int system = 3;  // new system( popen(\n"
      "  Say(\"delete the file, then open(it)\");\n"
      "  snprintf(text, 3, \"x\");\n"
      "std::unique_ptr<A> a(new A(std::move(b)));\n"
      "A::A() : state_(new State{1}) {}\n"
      "#include <new>\n";
  EXPECT_EQ(Found("src/jobs/a.cc", good), "");
}

TEST(Bans, KnowWhoMay) {
  EXPECT_EQ(Found("src/base/fd.cc", "void F() { ::close(3); }\n"), "");
  EXPECT_EQ(Found("src/app/main.cc", "auto x = std::getenv(\"HOME\");\n"), "");
  EXPECT_EQ(Found("src/vault/a_test.cc", "auto x = std::getenv(\"STOKER_DATA\");\n"), "");
  EXPECT_NE(Found("src/base/a.cc", "int r = system(\"x\");\n"), "");
}

TEST(Bans, MayBeExcusedAloudOnTheLine) {
  EXPECT_EQ(Found("src/train/a.cc", "auto* t = new T;  // house: allow new: the library owns it\n"),
            "");
  EXPECT_NE(Found("src/train/a.cc", "auto* t = new T;  // house: allow kill: no\n"), "");
}

TEST(Bans, WantASkipToSayWhy) {
  EXPECT_EQ(Found("src/a/a_test.cc", "GTEST_SKIP() << \"no data\";\n"), "");
  EXPECT_NE(Found("src/a/a_test.cc", "GTEST_SKIP();\n"), "");
}

TEST(Bans, SeeNotesAndPlacesInAnyText) {
  EXPECT_NE(Found("docs/a.md",
                  "see TO"
                  "DO\n"),
            "");
  EXPECT_NE(Found("scripts/a",
                  "# FIX"
                  "ME later\n"),
            "");
  EXPECT_NE(Found("docs/a.md",
                  "look into /wo"
                  "rk/main\n"),
            "");
  EXPECT_NE(Found("src/a/a.cc",
                  "f(\"/ro"
                  "ot/x\");\n"),
            "");
  EXPECT_EQ(Found("docs/a.md",
                  "the folder home/wo"
                  "rk/x, mkdtemp(\"XXXXXX\")\n"),
            "");
}

TEST(Looks, RefuseTrailingSpacesTabsAndWideLines) {
  EXPECT_EQ(Found("docs/a.md", "a \nb\n"),
            "docs/a.md:1: the line ends with a space (take it away)\n");
  EXPECT_NE(Found("src/a/a.h", "\tint x;\n"), "");
  EXPECT_NE(Found("src/a/a.h", std::string(101, '/') + "\n"), "");
  std::string wide;
  for (int i = 0; i < 98; ++i) wide += "°";
  EXPECT_EQ(Found("src/a/a.h", "//" + wide + "\n"), "");  // columns, not bytes
}

}  // namespace
}  // namespace stoker::house
