"""Which keys have secret values."""

from __future__ import annotations

import pytest

from streamtable.core.options import Given
from streamtable.core.secrets import MASK, is_secret
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
def test_keys(key: str, secret: bool) -> None:
    assert is_secret(key) == secret


def test_settings_that_are_secret_have_keys_of_secrets() -> None:
    """`SET`, capsules and submissions decide by the key alone."""
    secret = [option.key for option in SETTINGS.options if option.secret]
    assert secret
    assert [key for key in secret if not is_secret(key)] == []


def test_a_secret_setting_is_listed_with_a_mask() -> None:
    key = "openlineage.transport.auth.apiKey"
    settings = SessionSettings()
    settings.set(key, Given("olkey-123456"))
    assert dict(settings.listed().rows)[key] == MASK
