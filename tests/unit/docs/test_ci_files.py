"""The files for GitHub Actions and GitLab: valid by their published schemas, and the page shows them."""

import re
import subprocess
import sys

import pytest

from places import ROOT

FILES = {"github": "vendor.github-workflows", "gitlab": "vendor.gitlab-ci"}


def checked(file, schema):
    argv = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, str(file)]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("name", FILES)
def test_it_is_valid(name):
    done = checked(ROOT / f"docs/ci/{name}.yml", FILES[name])
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize("name, key", [("github", "runs-on"), ("gitlab", "script")])
def test_the_schema_would_find_a_mistake(tmp_path, name, key):
    file = tmp_path / "ci.yml"
    file.write_text((ROOT / f"docs/ci/{name}.yml").read_text().replace(f"{key}:", f"{key}s:"))
    assert checked(file, FILES[name]).returncode == 1


def test_the_page_shows_the_files_themselves():
    page = (ROOT / "docs/ci.md").read_text()
    shown = re.findall(r"^```yaml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert shown == [(ROOT / f"docs/ci/{name}.yml").read_text() for name in FILES]


@pytest.mark.parametrize("script", ["bisect.sh", "take.sh"])
def test_the_page_shows_the_scripts(script):
    assert f"```sh\n{(ROOT / 'docs/ci' / script).read_text()}```" in (ROOT / "docs/ci.md").read_text()


def test_tox_passes_on_what_a_job_says_in_its_environment():
    argv = [sys.executable, "-m", "tox", "config", "-e", "suites", "-k", "pass_env"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    needed = {"CI_PROJECT_DIR", "GITHUB_STEP_SUMMARY", "PYTEST_ADDOPTS", "XDG_CACHE_HOME", "XDG_STATE_HOME"}
    assert needed - set(done.stdout.split()) == set()
