// The owner of the precompiled header that the unit tests share; CMakeLists.txt lists what is in it.
