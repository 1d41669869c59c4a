"""The manifests for a cluster: valid by the JSON Schemas of Kubernetes, and as the page says."""

import copy
import json
import re

import jsonschema
import pytest
import yaml

from iogate.declare.device import load_device
from iogate.remote.connection import specification
from places import DATA, ROOT

DEFINITIONS = json.loads((DATA / "kubernetes/definitions.json").read_text())
FILES = {
    name: list(yaml.safe_load_all((ROOT / f"docs/kubernetes/{name}.yaml").read_text()))
    for name in ("clients", "job")
}
PAGE = (ROOT / "docs/kubernetes.md").read_text()
EACH = [pytest.param(item, id=f"{name}-{item['kind']}") for name, items in FILES.items() for item in items]


def mistakes(manifest):
    group, _, version = manifest["apiVersion"].rpartition("/")
    group = (group or "core").partition(".")[0]
    schema = {**DEFINITIONS, "$ref": f"#/$defs/io.k8s.api.{group}.{version}.{manifest['kind']}"}
    return [error.message for error in jsonschema.Draft202012Validator(schema).iter_errors(manifest)]


def of_kind(name, kind):
    return next(item for item in FILES[name] if item["kind"] == kind)


@pytest.mark.parametrize("manifest", EACH)
def test_it_is_valid(manifest):
    assert mistakes(manifest) == []


@pytest.mark.parametrize("manifest", EACH)
def test_the_schema_would_find_a_mistake(manifest):
    assert mistakes({**manifest, "specs": {}})
    assert mistakes({**manifest, "metadata": {"name": 7}})


@pytest.mark.parametrize("name, kind", [("clients", "StatefulSet"), ("job", "Job")])
def test_the_schema_looks_into_pods(name, kind):
    wrong = copy.deepcopy(of_kind(name, kind))
    wrong["spec"]["template"]["spec"]["containers"][0]["volumemounts"] = []
    assert mistakes(wrong)


def test_the_profile_of_the_page_names_the_pods_and_the_claim(tmp_path):
    (text,) = re.findall(r"^```yaml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    (tmp_path / "cluster").mkdir()
    (tmp_path / "cluster/device.yaml").write_text(text)
    device = load_device("cluster", tmp_path)
    clients = of_kind("clients", "StatefulSet")
    names = [f"{clients['metadata']['name']}-{number}" for number in range(clients["spec"]["replicas"])]
    assert [specification(host).python for host in device.hosts] == [
        f"kubectl exec -i {name} -- python3" for name in names
    ]
    pod = clients["spec"]["template"]["spec"]
    mounts = {mount["name"]: mount["mountPath"] for mount in pod["containers"][0]["volumeMounts"]}
    claims = {volume["name"]: volume.get("persistentVolumeClaim") for volume in pod["volumes"]}
    assert mounts["data"] == device.target
    assert claims["data"] == {"claimName": of_kind("clients", "PersistentVolumeClaim")["metadata"]["name"]}
    assert device.suites == ("shared_storage",)


def test_the_job_may_run_commands_in_pods_and_nothing_else():
    rules = of_kind("job", "Role")["rules"]
    assert {verb for rule in rules for verb in rule["verbs"]} == {"get", "create"}
    assert [rule["resources"] for rule in rules] == [["pods"], ["pods/exec"]]
    assert of_kind("job", "Job")["spec"]["backoffLimit"] == 0
