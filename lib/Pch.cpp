// The owner of the precompiled header that all of Attune's libraries share; CMakeLists.txt lists what is in it.
