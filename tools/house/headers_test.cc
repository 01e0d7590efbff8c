#include "headers.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace stoker::house {
namespace {

namespace fs = std::filesystem;

TEST(Headers, AreProvedByTheSourceThatIncludesThemFirst) {
  const Tree tree({{"src/a/x.h", ""},
                   {"src/a/x.cc", "#include \"a/x.h\"\n#include \"a/y.h\"\n"},
                   {"src/a/y.h", ""},
                   {"src/a/y.cc", "#include <map>\n#include \"a/y.h\"\n"},
                   {"src/a/t.h", "#include \"a/u.h\"\n"},
                   {"src/a/u.h", "#include <torch/torch.h>\n"}});
  EXPECT_EQ(LooseHeaders(tree, false), std::vector<std::string>{"src/a/y.h"});
  EXPECT_EQ(LooseHeaders(tree, true),
            (std::vector<std::string>{"src/a/t.h", "src/a/u.h", "src/a/y.h"}));
}

TEST(Headers, GetANewKeyWhenOneBelowThemChanges) {
  const HeaderOptions options;
  const File top{"src/a/x.h", "#include \"b/y.h\"\n"};
  const std::string before = HeaderKey(Tree({top, {"src/b/y.h", "1"}}), top.path, options);
  EXPECT_EQ(before,
            HeaderKey(Tree({top, {"src/b/y.h", "1"}, {"src/b/z.h", "9"}}), top.path, options));
  EXPECT_NE(before, HeaderKey(Tree({top, {"src/b/y.h", "2"}}), top.path, options));
}

TEST(Headers, AreCompiledOnceAndTheBadOneIsNamed) {
  std::string name = (fs::temp_directory_path() / "houseXXXXXX").string();
  ASSERT_NE(::mkdtemp(name.data()), nullptr);
  const auto put = [&](const std::string& path, const std::string& text) {
    fs::create_directories(fs::path(name + "/" + path).parent_path());
    std::ofstream(name + "/" + path) << text;
  };
  put("src/a/good.h", "#pragma once\n#include <string>\ninline std::string F() { return {}; }\n");
  put("src/a/bad.h", "#pragma once\ninline std::string F() { return {}; }\n");
  HeaderOptions options;
  options.root = name;
  options.cache = name + "/cache";
  const auto findings = CheckHeaders(Tree::Read(name), options);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(findings[0].Line().starts_with("src/a/bad.h:1: does not compile alone: "))
      << findings[0].Line();
  EXPECT_EQ(std::distance(fs::directory_iterator(options.cache), {}), 1);  // only the good one
  put("src/a/bad.h", "#pragma once\n");
  EXPECT_TRUE(CheckHeaders(Tree::Read(name), options).empty());
  fs::remove_all(name);
}

}  // namespace
}  // namespace stoker::house
