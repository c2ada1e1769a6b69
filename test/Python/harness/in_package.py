"""Runs a program with the package attune as users have it: installed by pip into an environment of its own.

The environment is made once for all tests, offline, from the wheels that utils/setup fetches, and again when the
package's sources changed; the compiler inside is kept that of the build. Frameworks are found on PYTHONPATH, in
the folders that ATTUNE_FRAMEWORKS names.
"""

import argparse
import fcntl
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[3]
SOURCES = ["pyproject.toml", "README.md", "LICENSE", "python", "runtime/include", "runtime/Common"]


def fingerprint():
    """Of all that the package is made of but the compiler."""
    digest = hashlib.sha256()
    for name in SOURCES:
        path = SOURCE / name
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and file.suffix != ".pyc":
                digest.update(str(file.relative_to(SOURCE)).encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()


def make(venv, build):
    """A fresh environment, and `pip install .` in it."""
    shutil.rmtree(venv, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(build / "python" / "wheels"),
                   "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_CACHE_DIR": "1"}
    environment.pop("PYTHONPATH", None)
    command = [str(venv / "bin" / "pip"), "install", ".",
               f"--config-settings=cmake.define.ATTUNE_COMPILER_BUILD={build}"]
    run = subprocess.run(command, cwd=SOURCE, env=environment, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"pip install . ended with {run.returncode}\n{run.stdout}\n{run.stderr}")


def refresh(package, build):
    """The build's compiler, if it is another one now."""
    for name in ("bin/attnc", "lib/libattune_rt.a"):
        built, inside = build / name, package / name
        if not inside.exists() or built.read_bytes() != inside.read_bytes():
            shutil.copy2(built, inside.with_suffix(".new"))
            os.replace(inside.with_suffix(".new"), inside)


def environment_of(build):
    """The environment's folder, up to date; tests that come at the same time wait for the first."""
    folder = build / "python"
    folder.mkdir(parents=True, exist_ok=True)
    venv, stamp, wanted = folder / "venv", folder / "venv" / "stamp", fingerprint()
    with open(folder / "lock", "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
            make(venv, build)
            stamp.write_text(wanted, encoding="utf-8")
        refresh(next(venv.glob("lib/python3*/site-packages/attune")), build)
    return venv


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--cache", type=pathlib.Path, required=True, help="folder for compiled specs")
    parser.add_argument("--frameworks", default=os.environ.get("ATTUNE_FRAMEWORKS", ""))
    parser.add_argument("program", nargs=argparse.REMAINDER)
    args = parser.parse_args()
    venv = environment_of(args.build.resolve())
    environment = {**os.environ, "ATTUNE_CACHE_DIR": str(args.cache.resolve()), "ATTUNE_TEST_SOURCE": str(SOURCE)}
    for name in ("ATTUNE_ATTNC", "ATTUNE_RUNTIME_ARCHIVE", "ATTUNE_CACHE_SIZE"):
        environment.pop(name, None)
    inputs = SOURCE / "test" / "Python" / "Inputs"
    folders = [str(inputs), str(SOURCE / "utils" / "python"), *args.frameworks.split(os.pathsep)]
    environment["PYTHONPATH"] = os.pathsep.join(folder for folder in folders if folder)
    python = str(venv / "bin" / "python")
    os.execve(python, [python, *args.program], environment)


if __name__ == "__main__":
    main()
