#include "base/units.h"

#include <gtest/gtest.h>

#include <type_traits>

#include "base/reading.h"

namespace stoker {
namespace {

TEST(UnitsTest, WattsTimesSecondsAreJoules) {
  const Joules energy = WattsFromMilliwatts(415'000) * Seconds(2);
  EXPECT_DOUBLE_EQ(energy.value, 830);
  EXPECT_DOUBLE_EQ((energy / Seconds(4)).value, 207.5);
  EXPECT_DOUBLE_EQ(RatioFromPercent(86).value, 0.86);
  EXPECT_LT(Watts(1), Watts(2));
}

template <typename A, typename B>
concept Addable = requires(A a, B b) {
  a + b;
};

TEST(UnitsTest, UnlikeUnitsDoNotAdd) {
  EXPECT_TRUE((Addable<Watts, Watts>));
  EXPECT_FALSE((Addable<Watts, Joules>));
  EXPECT_FALSE((std::is_convertible_v<double, Watts>));
}

TEST(ReadingTest, IsAValueOrAReason) {
  const Reading<Watts> value = Watts(5);
  ASSERT_TRUE(value);
  EXPECT_EQ(value.absence(), Absence::kNone);
  const Reading<Watts> lost = Absence::kLost;
  EXPECT_FALSE(lost);
  EXPECT_EQ(AbsenceName(lost.absence()), "lost");
  EXPECT_EQ(Reading<Watts>().absence(), Absence::kNotYet);
}

}  // namespace
}  // namespace stoker
