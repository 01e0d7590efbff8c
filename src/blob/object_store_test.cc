// One contract for every store.
#include "blob/object_store.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/durable_file.h"
#include "base/file.h"
#include "blob/dir/dir_store.h"
#include "blob/faulty/faulty_store.h"
#include "blob/mem/mem_store.h"

namespace stoker::blob {
namespace {

struct Made {
  std::shared_ptr<TempDir> folder;
  std::unique_ptr<ObjectStore> store;
  std::unique_ptr<ObjectStore> outer;  // a decorator over `store`
  ObjectStore& get() { return outer ? *outer : *store; }
};

struct Kind {
  const char* name;
  std::function<Made()> make;
};

Made MakeDir() {
  Made made;
  made.folder = std::make_shared<TempDir>(std::move(*TempDir::Make()));
  made.store = std::move(*OpenDirStore(made.folder->path() + "/store"));
  return made;
}
Made MakeMem() {
  Made made;
  made.store = std::make_unique<MemStore>();
  return made;
}
Made MakeFaulty() {
  Made made = MakeMem();
  made.outer = std::make_unique<FaultyStore>(*made.store);
  return made;
}

class StoreContract : public testing::TestWithParam<Kind> {
 protected:
  StoreContract() : made_(GetParam().make()), store_(made_.get()) {}
  Made made_;
  ObjectStore& store_;
};

TEST_P(StoreContract, AnObjectComesBackAsItWentIn) {
  std::string bytes(700'000, '\0');  // more than one piece of any store
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i * 31 + i / 777);
  ASSERT_TRUE(PutBytes(store_, "sha256/ab/cd=1@2-x", bytes));
  EXPECT_EQ(*GetBytes(store_, "sha256/ab/cd=1@2-x", 1 << 20), bytes);
  EXPECT_EQ(store_.Head("sha256/ab/cd=1@2-x")->bytes, 700'000);
}

TEST_P(StoreContract, AnEmptyObjectIsAnObject) {
  ASSERT_TRUE(PutBytes(store_, "empty", ""));
  EXPECT_EQ(store_.Head("empty")->bytes, 0);
  EXPECT_EQ(*GetBytes(store_, "empty", 10), "");
}

TEST_P(StoreContract, PuttingAgainReplaces) {
  ASSERT_TRUE(PutBytes(store_, "k", "a longer first version"));
  ASSERT_TRUE(PutBytes(store_, "k", "second"));
  EXPECT_EQ(*GetBytes(store_, "k", 100), "second");
}

TEST_P(StoreContract, AbsentIsNotFoundAndDeletingItIsFine) {
  EXPECT_EQ(store_.Head("no/such").error().code, Code::kNotFound);
  EXPECT_EQ(GetBytes(store_, "no/such", 100).error().code, Code::kNotFound);
  EXPECT_TRUE(store_.Delete("no/such"));
  ASSERT_TRUE(PutBytes(store_, "no/such", "x"));
  EXPECT_EQ(store_.Head("no").error().code, Code::kNotFound) << "a folder is no object";
  ASSERT_TRUE(store_.Delete("no/such"));
  EXPECT_EQ(store_.Head("no/such").error().code, Code::kNotFound);
}

TEST_P(StoreContract, AFailedSourceLeavesWhatWasThere) {
  ASSERT_TRUE(PutBytes(store_, "k", "old"));
  int calls = 0;
  const Source failing = [&]() -> Result<std::string_view> {
    if (++calls == 1) return std::string_view("half of the new");
    return Unavailable("the reader failed", "source");
  };
  EXPECT_EQ(store_.Put("k", failing).error().what, "the reader failed");
  EXPECT_EQ(*GetBytes(store_, "k", 100), "old");
  calls = 0;
  EXPECT_FALSE(store_.Put("fresh", failing));
  EXPECT_EQ(store_.Head("fresh").error().code, Code::kNotFound);
  EXPECT_EQ(store_.List("")->size(), 1u);
}

TEST_P(StoreContract, ASinkThatFailsEndsTheGet) {
  ASSERT_TRUE(PutBytes(store_, "k", std::string(600'000, 'x')));
  int calls = 0;
  const Status got = store_.Get("k", [&](std::string_view) -> Status {
    ++calls;
    return Unavailable("the disk is full", "sink");
  });
  EXPECT_EQ(got.error().what, "the disk is full");
  EXPECT_EQ(calls, 1);
}

TEST_P(StoreContract, ListsByPrefixInOrder) {
  for (const char* key : {"b", "a/1", "a/2", "a.b/3", "ab/x/y"}) {
    ASSERT_TRUE(PutBytes(store_, key, key));
  }
  const auto keys = [&](const std::string& prefix) {
    std::vector<std::string> out;
    const auto objects = store_.List(prefix);
    for (const ObjectInfo& object : *objects) out.push_back(object.key);
    return out;
  };
  EXPECT_EQ(keys(""), (std::vector<std::string>{"a.b/3", "a/1", "a/2", "ab/x/y", "b"}));
  EXPECT_EQ(keys("a/"), (std::vector<std::string>{"a/1", "a/2"}));
  EXPECT_EQ(keys("ab"), (std::vector<std::string>{"ab/x/y"}));
  EXPECT_EQ(keys("ab/x/y"), (std::vector<std::string>{"ab/x/y"}));
  EXPECT_TRUE(keys("c").empty());
}

TEST_P(StoreContract, RefusesKeysThatCouldEscape) {
  for (const std::string& key :
       {std::string(), std::string("/etc/passwd"), std::string("../x"), std::string("a/../b"),
        std::string("a//b"), std::string("a/"), std::string("./a"), std::string(".hidden"),
        std::string("a/.x.partial"), std::string("a b"), std::string("a\\b"),
        std::string("a\0b", 3), std::string("\xc3\xa4"), std::string(513, 'k'),
        std::string(201, 'k')}) {
    EXPECT_EQ(PutBytes(store_, key, "x").error().code, Code::kInvalid) << key;
    EXPECT_EQ(store_.Head(key).error().code, Code::kInvalid) << key;
    EXPECT_EQ(GetBytes(store_, key, 10).error().code, Code::kInvalid) << key;
    EXPECT_EQ(store_.Delete(key).error().code, Code::kInvalid) << key;
  }
}

INSTANTIATE_TEST_SUITE_P(Stores, StoreContract,
                         testing::Values(Kind{"dir", MakeDir}, Kind{"mem", MakeMem},
                                         Kind{"faulty", MakeFaulty}),
                         [](const auto& info) { return info.param.name; });

TEST(DirStore, CleansWhatKilledPutsLeft) {
  const auto dir = TempDir::Make();
  const auto store = OpenDirStore(dir->path());
  ASSERT_TRUE(PutBytes(**store, "sha256/ab/abc", "whole"));
  ASSERT_TRUE(WriteDurably(dir->path() + "/sha256/ab/.abd.0011.partial", "half"));
  EXPECT_EQ((*store)->List("")->size(), 1u);
  ASSERT_TRUE((*store)->CleanLeftovers());
  EXPECT_EQ(ListDir(dir->path() + "/sha256/ab")->size(), 1u);
  EXPECT_EQ(*GetBytes(**store, "sha256/ab/abc", 10), "whole");
}

TEST(DirStore, AVanishedRootIsUnavailableAndNotMadeAgain) {
  const auto dir = TempDir::Make();
  const std::string root = dir->path() + "/disk";
  const auto store = OpenDirStore(root);
  ASSERT_TRUE(RemoveTree(root));
  EXPECT_EQ(PutBytes(**store, "k", "x").error().code, Code::kUnavailable);
  EXPECT_EQ((*store)->Head("k").error().code, Code::kUnavailable);
  EXPECT_FALSE(FileExists(root));
}

TEST(FaultyStore, DoesWhatWasAskedOnce) {
  MemStore inner;
  FaultyStore store(inner);
  store.CorruptNextPut();
  ASSERT_TRUE(PutBytes(store, "k", "abc"));
  EXPECT_EQ(*GetBytes(inner, "k", 10), "`bc");
  ASSERT_TRUE(PutBytes(store, "k", "abc"));
  store.CorruptNextGet();
  EXPECT_EQ(*GetBytes(store, "k", 10), "`bc");
  EXPECT_EQ(*GetBytes(store, "k", 10), "abc");

  store.CutPuts(1, 1, Unavailable("the disk is full", "k"));
  EXPECT_FALSE(PutBytes(store, "cut", "abc"));
  EXPECT_FALSE(inner.Head("cut"));
  store.LoseNextAnswer(Timeout("no answer", "k"));
  EXPECT_EQ(PutBytes(store, "lost", "abc").error().code, Code::kTimeout);
  EXPECT_TRUE(inner.Head("lost"));

  store.SetDown(Unavailable("gone", "store"));
  EXPECT_EQ(store.List("").error().code, Code::kUnavailable);
  store.SetDown(std::nullopt);
  EXPECT_EQ(store.puts(), 4);
}

}  // namespace
}  // namespace stoker::blob
