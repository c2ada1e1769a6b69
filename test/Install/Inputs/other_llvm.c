/* Preloaded: to its plugins the program is one of another LLVM, or of one that does not say which. */
void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
  *major = MAJOR;
  *minor = MINOR;
  *patch = 0;
}
