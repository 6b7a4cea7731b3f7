"""A source build that lacks a library names the packages that have it, and a
project that builds Parlance as a part of itself gets the library only."""

import os
import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What hides a library from CMake, and what the error then has to name.
MISSING = {
    "PCRE2": (
        [
            "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF",
            "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON",
        ],
        ["libpcre2-dev", "pcre2-devel", "brew install pcre2", "10.42"],
    ),
    "CLI11": (
        ["-DCMAKE_DISABLE_FIND_PACKAGE_CLI11=ON"],
        ["libcli11-dev", "-DPARLANCE_BUILD_CLI=OFF"],
    ),
    "GTest": (
        ["-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON"],
        ["libgtest-dev", "-DPARLANCE_BUILD_TESTS=OFF"],
    ),
}


def configure(source, build, *options, **environment):
    if not all(map(shutil.which, ("cmake", "ninja"))):
        pytest.skip("no cmake or no ninja")
    return subprocess.run(
        ["cmake", "-S", source, "-B", build, "-G", "Ninja", *options],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.parametrize("library", MISSING)
def test_a_missing_library(library, tmp_path):
    options, words = MISSING[library]
    result = configure(ROOT, tmp_path, *options)
    assert result.returncode != 0
    for word in words:
        assert word in result.stderr, result.stderr


def test_a_missing_compiler(tmp_path):
    """What pip shows where no wheel fits."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("cmake", "ninja"):
        if shutil.which(name) is None:
            pytest.skip(f"no {name}")
        (programs / name).symlink_to(shutil.which(name))
    options = ["-DSKBUILD=ON", "-DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF"]
    result = configure(ROOT, tmp_path / "build", *options, PATH=str(programs))
    assert result.returncode != 0
    for word in ("No wheel", "apt-get install g++", "GCC 12"):
        assert word in result.stderr, result.stderr


def test_a_project_that_fetches_parlance(tmp_path):
    """Configured here, built by scripts/test fetch."""
    result = configure(
        ROOT / "docs" / "examples" / "fetch",
        tmp_path,
        f"-DFETCHCONTENT_SOURCE_DIR_PARLANCE={ROOT}",
    )
    assert result.returncode == 0, result.stderr
    built = (tmp_path / "build.ninja").read_text()
    assert "libparlance.a" in built
    for target in ("parlance_cli", "parlance_python", "json_test"):
        assert target not in built
    script = tmp_path / "_deps" / "parlance-build" / "cmake_install.cmake"
    assert "file(INSTALL" not in script.read_text()
