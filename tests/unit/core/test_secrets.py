"""Keys with secret values, and the removal of these values."""

from __future__ import annotations

from typing import Any

import pytest

from streamtable.core.options import Given
from streamtable.core.secrets import MASK, hide, is_secret, masked, without_secrets
from streamtable.core.settings.session import SETTINGS, SessionSettings


@pytest.mark.parametrize(
    ("key", "secret"),
    {
        "openlineage.transport.auth.apiKey": True,
        "spark.hadoop.fs.azure.account.key.acc.dfs.core.windows.net": True,
        "spark.hadoop.fs.azure.sas.container.acc.blob.core.windows.net": True,
        "spark.hadoop.google.cloud.auth.service.account.private.key": True,
        "spark.hadoop.fs.s3a.encryption.key": True,
        "spark.hadoop.fs.s3a.secret.key": True,
        "spark.ssl.rpc.privateKey": True,
        "spark.io.encryption.keySizeBits": False,
        "spark.hadoop.fs.azure.account.auth.type.acc.dfs.core.windows.net": False,
        "key.format": False,
        "parallelism.default": False,
    }.items(),
)
def test_secret_keys_are_recognized(key: str, secret: bool) -> None:
    assert is_secret(key) == secret


def test_secret_settings_have_secret_keys() -> None:
    """`SET`, capsules and submissions identify a secret by its key alone."""
    secret = [option.key for option in SETTINGS.options if option.secret]
    assert secret
    assert [key for key in secret if not is_secret(key)] == []


def test_a_secret_setting_is_listed_with_a_mask() -> None:
    key = "openlineage.transport.auth.apiKey"
    settings = SessionSettings()
    settings.set(key, Given("olkey-123456"))
    assert dict(settings.listed().rows)[key] == MASK


def test_a_secret_inside_of_a_setting_is_listed_with_a_mask() -> None:
    hide("pass-4711")
    key = "spark.driver.extraJavaOptions"
    settings = SessionSettings()
    settings.set(key, Given("-Dpassword=pass-4711"))
    assert dict(settings.listed().rows)[key] == f"-Dpassword={MASK}"


#: Case -> secrets, and JSON data before and after their removal.
DATA = {
    "keys and values, at any depth": (
        ["pass-4711"],
        {"a pass-4711": [("pass-4711", {"b": "xpass-4711y"})], "c": None},
        {"a ****": [["****", {"b": "x****y"}]], "c": None},
    ),
    "characters that JSON escapes": (
        ['p"a\\ss', "pässword", "two\nlines"],
        ['p"a\\ss', "pässword", "two\nlines"],
        ["****", "****", "****"],
    ),
    "digits": (["1234"], [1234, 12345.0, "1234"], [1234, 12345.0, "****"]),
    "booleans": (["true", " FALSE\n"], [True, False, "it is true"], [True, False, "it is true"]),
    "null": (["null"], [None, "null"], [None, "****"]),
    "keys that are no texts": (["pass-4711"], {7: "pass-4711"}, {7: "****"}),
}


@pytest.mark.parametrize("case", DATA)
def test_secrets_in_data_are_masked(case: str) -> None:
    secrets, data, expected = DATA[case]
    for secret in secrets:
        hide(secret)
    assert masked(data) == expected


def test_mapping_keys_may_be_kept() -> None:
    hide("pass-4711")
    data: Any = {"pass-4711": {"pass-4711": "pass-4711"}}
    assert masked(data, keys=False) == {"pass-4711": {"pass-4711": "****"}}


def test_a_boolean_setting_of_a_secret_key_hides_nothing() -> None:
    settings = SessionSettings()
    settings.set("spark.hadoop.fs.azure.enable.delegation.token", Given("true"))
    settings.current()
    assert without_secrets('{"temporary": true}') == '{"temporary": true}'
