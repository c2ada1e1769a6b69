"""Takes bin/ptxas out of the nvidia-cuda-nvcc wheel that lies in a folder, and removes the wheel."""
import pathlib
import sys
import zipfile


def main(folder):
    wheels = sorted(folder.glob("nvidia_cuda_nvcc-*.whl"))
    if not wheels:
        sys.exit(f"expected an nvidia_cuda_nvcc wheel in {folder}, but got none")
    with zipfile.ZipFile(wheels[-1]) as wheel:
        names = [name for name in wheel.namelist() if name.endswith("/bin/ptxas")]
        if not names:
            sys.exit(f"expected bin/ptxas in {wheels[-1].name}, but got none")
        program = folder / "bin" / "ptxas"
        program.parent.mkdir(exist_ok=True)
        program.write_bytes(wheel.read(names[0]))
    program.chmod(0o755)
    for wheel in wheels:
        wheel.unlink()


main(pathlib.Path(sys.argv[1]))
