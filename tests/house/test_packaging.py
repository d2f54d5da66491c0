"""The installed package: it is complete, imports fast, and works the same from a wheel as from the checkout."""

import ast
import os
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import silbo

ROOT = Path(__file__).parents[2]
FOLDERS = ("context", "matching", "streaming", "hw")

project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def python_files():
    inside = [path.relative_to(ROOT) for path in ROOT.rglob("*.py")]
    results = {"build", "dist", "out"}
    return [
        ROOT / path
        for path in inside
        if path.parts[0] not in results and not any(part.startswith(".") for part in path.parts)
    ]


def test_the_list_of_packages_is_complete():
    found = {
        ".".join(Path(folder).relative_to(ROOT).parts)
        for folder, _, files in os.walk(ROOT / "silbo", followlinks=True)
        if "__init__.py" in files
    }
    assert set(project["tool"]["setuptools"]["packages"]) == found


def test_no_file_imports_a_folder_under_its_bare_name():
    wrong = [
        f"{path}:{node.lineno}"
        for path in python_files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in imported(node)
        if name.partition(".")[0] in FOLDERS
    ]
    assert wrong == []


def imported(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module]
    return []


def test_a_top_level_import_fails_the_whole_run(tmp_path):
    """The check at the end of every run (conftest.py) finds a module that was imported under its bare name."""
    test = tmp_path / "test_by_accident.py"
    test.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT)!r})\nimport matching\ndef test_nothing(): assert matching\n"
    )
    (tmp_path / "conftest.py").write_text((ROOT / "tests" / "conftest.py").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", test],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert "imported as top-level modules: matching" in done.stdout
    assert done.returncode == 1


def test_all_names_are_there_and_sorted():
    assert sorted(silbo.__all__) == silbo.__all__
    for name in silbo.__all__:
        assert getattr(silbo, name) is not None


def test_the_version_is_the_projects():
    assert silbo.__version__ == project["project"]["version"]


def test_import_silbo_loads_nothing_heavy():
    code = "import sys, silbo; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "shapely", "numba", "pyarrow", "pyspark", "asyncio", "hypothesis", "lark"} & set(loaded)


def test_the_oracle_is_short_and_imports_only_the_tree():
    text = (ROOT / "matching" / "oracle.py").read_text(encoding="utf-8")
    assert len(text.splitlines()) < 300
    modules = {name.partition(".")[0] for node in ast.walk(ast.parse(text)) for name in imported(node)}
    assert modules - set(sys.stdlib_module_names) == {"silbo", "shapely"}
    ours = [
        node
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module.startswith("silbo")
    ]
    assert [(node.module, [alias.name for alias in node.names]) for node in ours] == [("silbo.language", ["tree"])]


def test_the_wheel_has_no_page_about_a_room(wheel):
    """A page about a room is for readers of the sources; the page about a board says how to install silbo there."""
    pages = [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith("README.md")]
    assert pages == ["silbo/hw/boards/pynq-z2/README.md"]


def test_the_wheel_installs_nothing_but_silbo(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names} == {"silbo", f"silbo-{silbo.__version__}.dist-info"}
    for needed in (
        "silbo/py.typed",
        "silbo/context/table.py",
        "silbo/hw/build/simulation.py",
        "silbo/hw/rtl/pmu/crt.v",
        "silbo/hw/rtl/x2cbbr.v",
        "silbo/hw/sim/x2cbbr_sim.cpp",
        "silbo/language/grammar.lark",
        "silbo/matching/oracle.py",
    ):
        assert needed in names


def declared(name, seen):
    """The names of a distribution and of all that it requires without extras."""
    if name not in seen:
        seen.add(name)
        for text in metadata.requires(name) or ():
            needed = Requirement(text)
            if needed.marker is None or needed.marker.evaluate({"extra": ""}):
                declared(canonicalize_name(needed.name), seen)
    return seen


def link_dependencies(site):
    """Link silbo's declared dependencies, and nothing else, into an environment instead of installing them again."""
    for name in declared("silbo", set()) - {"silbo"}:
        distribution = metadata.distribution(name)
        for top in {file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")}:
            link = site / top
            if not link.exists():
                link.symlink_to(distribution.locate_file(top))


def test_the_quickstart_runs_with_the_installed_wheel(wheel, tmp_path):
    venv.create(tmp_path / "venv", with_pip=False)
    python = tmp_path / "venv" / "bin" / "python"
    (site,) = (tmp_path / "venv" / "lib").glob("python*/site-packages")
    link_dependencies(site)
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, "install", *options, wheel], check=True)
    # with the plain index: compiling the kernels again takes twenty seconds, and other tests cover it
    plain = {**os.environ, "SILBO_INDEX": "plain"}
    done = subprocess.run(
        [python, ROOT / "examples" / "quickstart.py"],
        cwd=tmp_path,
        env=plain,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "camera-7#1 to car-1/s1" in done.stdout
    where = subprocess.run(
        [python, "-c", "import silbo.matching.fast.index; print(silbo.matching.fast.index.__file__)"],
        cwd=tmp_path, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert str(tmp_path) in where.stdout
    version = subprocess.run([python.with_name("silbo"), "--version"], capture_output=True, text=True, check=True)
    assert version.stdout == f"silbo {silbo.__version__}\n"
