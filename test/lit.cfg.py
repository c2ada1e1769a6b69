"""The lit suite: substitutions and features that tests may use.

Features (for `REQUIRES:`): `shared` (the oracle beside the checkout), `ptxas`, `driver` (NVIDIA's), `avx512`, `avx512_bf16`,
`sanitizers`, `zsh`, `packages` (what makes Debian's), `debootstrap` (as root, with a network; only under check-all),
`long` (sweeps, only under check-all), `history` (of git, whole), `python-package`, `torch`, `jax`, `onnx`, `onnxruntime`,
`sklearn` (its images), `chromium`.
Substitutions beside lit's own: %python, %source, %build, %shared, %cc, %cmake,
%mlir-include, %stock-mlir-opt, %plugin, %chromium, %examples.
"""

import ctypes
import glob
import importlib.util
import os
import shutil
import subprocess
import sysconfig
import urllib.request

import lit.formats

config.name = "Attune"
config.test_format = lit.formats.ShTest(True)
config.suffixes = [".mlir", ".yaml", ".test", ".py"]
config.excludes = ["CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py", "Inputs", "Unit", "Random", "Fuzz", "harness", "lit.local.cfg"]
config.test_source_root = os.path.join(config.attune_source, "test")
config.test_exec_root = os.path.join(config.attune_build, "test")

tools = os.path.join(config.attune_build, "bin")
config.environment["PATH"] = os.pathsep.join([tools, config.llvm_tools, os.environ.get("PATH", "")])
config.environment["PYTHONPATH"] = os.pathsep.join(
    os.path.join(config.attune_source, *folder) for folder in [("test", "Integration", "harness"), ("utils", "python")])
# Where utils/setup --frameworks puts PyTorch, JAX, ONNX and its runtime, or where they lie.
frameworks = os.environ.get("ATTUNE_FRAMEWORKS") or os.path.join(config.attune_build, "python", "frameworks")
config.environment["ATTUNE_FRAMEWORKS"] = frameworks
# Of folders of specs the harness takes every fourth, but for check-all.
is_long = lit_config.params.get("long") == "1"
if not is_long:
    config.environment["ATTUNE_TEST_SAMPLE"] = "4"
for name in ["CUDA_HOME", "CUDA_ROOT", "HOME", "CCACHE_DIR", "CCACHE_DEPEND", "CCACHE_SLOPPINESS", "ASAN_OPTIONS"]:
    if name in os.environ:
        config.environment[name] = os.environ[name]

# AddressSanitizer's library, to be preloaded; the folder is named by the version.
asan = next(iter(sorted(glob.glob(os.path.join(config.llvm_tools, "..", "lib", "clang", "*", "lib", "*",
                                               "libclang_rt.asan-x86_64.so")))), "")

for name, value in [
    # What repeats a line in another type, length or target.
    ("%in-check-all", "" if is_long else "echo SKIP but for check-all:"),
    ("%asan", os.path.normpath(asan)),
    ("%python", config.python),
    ("%source", config.attune_source),
    ("%build", config.attune_build),
    ("%shared", config.attune_shared),
    ("%examples", os.path.join(config.attune_source, "examples")),
    ("%harness", os.path.join(config.attune_source, "test", "Integration", "harness")),
    ("%cmake", config.cmake),
    ("%cc", shutil.which("cc") or config.c_compiler),
    ("%mlir-include", os.path.normpath(os.path.join(config.llvm_tools, "..", "include"))),
    ("%stock-mlir-opt", os.path.join(config.llvm_tools, "mlir-opt")),
    ("%chromium", shutil.which("chromium") or "chromium"),
    ("%plugin", os.path.join(config.attune_build, "lib", "AttunePlugin.so")),
]:
    config.substitutions.append((name + r"\b", value))


def has_ptxas():
    roots = [os.environ.get("CUDA_ROOT", ""), os.environ.get("CUDA_HOME", "")]
    found = any(os.access(os.path.join(root, "bin", "ptxas"), os.X_OK) for root in roots if root)
    return found or shutil.which("ptxas") is not None


def has_flag(flag):
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        return flag in file.read()


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def has_history():
    """Commits that tables name: not in an archive, nor in a shallow clone."""
    command = ["git", "-C", config.attune_source, "rev-parse", "--is-shallow-repository"]
    return bool(shutil.which("git")) and subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip() == "false"


def can_make_root():
    """As root, and Debian's archive answers."""
    if os.geteuid() != 0 or not shutil.which("debootstrap") or lit_config.params.get("long") != "1":
        return False
    try:
        urllib.request.urlopen("http://deb.debian.org/debian/dists/bookworm/InRelease", timeout=10).close()
    except OSError:
        return False
    return True


def can_install_package():
    """Python's headers, venv, and the wheels that utils/setup fetches."""
    header = os.path.join(sysconfig.get_paths()["include"], "Python.h")
    wheels = glob.glob(os.path.join(config.attune_build, "python", "wheels", "nanobind-*.whl"))
    return bool(wheels) and os.path.exists(header) and importlib.util.find_spec("ensurepip") is not None


def has_framework(name):
    return any(os.path.isdir(os.path.join(folder, name)) for folder in frameworks.split(os.pathsep))


for name, present in [
    ("python-package", can_install_package()),
    ("torch", has_framework("torch")),
    ("jax", has_framework("jax")),
    ("onnx", has_framework("onnx")),
    ("onnxruntime", has_framework("onnxruntime")),
    ("sklearn", has_framework("sklearn")),
    ("chromium", shutil.which("chromium") is not None),
    ("driver", has_driver()),
    ("history", has_history()),
    ("shared", os.path.exists(os.path.join(config.attune_shared, "reference", "oracle.py"))),
    ("ptxas", has_ptxas()),
    ("zsh", shutil.which("zsh") is not None),
    ("packages", all(map(shutil.which, ["cpack", "dpkg-shlibdeps", "fakeroot"]))),
    ("debootstrap", can_make_root()),
    ("avx512", has_flag("avx512f")),
    ("avx512_bf16", has_flag("avx512_bf16")),
    ("sanitizers", config.attune_sanitize == "ON"),
    ("address-sanitizer", bool(asan and shutil.which("clang-22"))),
    ("long", is_long),
]:
    if present:
        config.available_features.add(name)
