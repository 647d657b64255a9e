# How HiGHS is compiled in this repository: twenty of its files at a time, so that they share the work on headers and
# templates. Its own build does so on macOS, with eight.
if(NOT CMAKE_HOST_WIN32)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 20)
  # Compiled in 135 s of processor time where -O2 takes 299 (sixteen files at a time); a placement takes 1.06 times as long (unused_time).
  # Packages get -O2: with -O3 it takes 3.5 % less processor time, and programs are 0.2 MB larger.
  set(noisy_highs_level "-Og")
  if(DEFINED ENV{NOISY_HIGHS_LEVEL})
    set(noisy_highs_level "$ENV{NOISY_HIGHS_LEVEL}")
  endif()
  set(CMAKE_C_FLAGS_RELEASE "${noisy_highs_level} -DNDEBUG" CACHE STRING "")
  # What runs at the start of each program is kept together (-O2 does that by itself).
  set(CMAKE_CXX_FLAGS_RELEASE "${noisy_highs_level} -freorder-functions -DNDEBUG" CACHE STRING "")
endif()
