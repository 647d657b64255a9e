# How HiGHS is compiled in this repository: sixteen of its files at a time, so that they share the work on headers and
# templates. Its own build does so on macOS, with eight.
if(NOT CMAKE_HOST_WIN32)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
  # With -O3 it takes 3.5 % less processor time, and programs are 0.2 MB larger.
  set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
  set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG" CACHE STRING "")
endif()
