"""A source build that lacks a library names the packages that have it."""

import pathlib
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent

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


@pytest.mark.parametrize("library", MISSING)
def test_a_missing_library(library, tmp_path):
    if not all(map(shutil.which, ("cmake", "ninja"))):
        pytest.skip("no cmake or no ninja")
    options, words = MISSING[library]
    result = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path, "-G", "Ninja", *options],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode != 0
    for word in words:
        assert word in result.stderr, result.stderr
