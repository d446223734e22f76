"""Settings of Flink: each key is honoured, accepted with a notice, or refused with its reason."""

from __future__ import annotations

import pytest

from streamtable.core.errors import Condition, Span, StreamtableError
from streamtable.core.options import Given
from streamtable.core.settings.declared import SETTINGS
from streamtable.core.settings.execution import CHECKPOINT_DIRECTORY
from streamtable.core.settings.flink import (
    FREE_PREFIXES,
    NO_EFFECT,
    REFUSED,
    RENAMED,
    flink_setting,
    flink_settings,
    no_effect,
)
from streamtable.core.settings.job import PARALLELISM
from streamtable.core.settings.session import SessionSettings

AT = Span("job.sql", 3, 5)
_OURS = {key for option in SETTINGS.options for key in (option.key, *option.fallback_keys)}
_OTHERS = [setting for setting in flink_settings() if setting.key not in _OURS]


def _set(key: str, value: str) -> SessionSettings:
    settings = SessionSettings()
    settings.set(key, Given(value, AT), AT)
    return settings


def test_the_list_has_all_flink_settings() -> None:
    assert len(flink_settings()) > 900
    assert {"table.exec.mini-batch.size", "table.sql-dialect"} <= {s.key for s in _OTHERS}


@pytest.mark.parametrize("key", [s.key for s in _OTHERS if s.key not in REFUSED])
def test_settings_without_effect_are_accepted_with_a_notice(key: str) -> None:
    (line,) = _set(key, "x").notices()
    assert line == f"job.sql:3:5: setting '{key}' has no effect here: {no_effect(key)}"


@pytest.mark.parametrize("key", REFUSED)
def test_settings_that_change_results_are_refused(key: str) -> None:
    with pytest.raises(StreamtableError) as refused:
        _set(key, "something else")
    assert refused.value.condition is Condition.OPTION_NOT_SETTABLE
    assert refused.value.at == AT
    assert REFUSED[key] in str(refused.value)
    found = flink_setting(key)
    assert found is not None
    assert list(_set(key, found.default.upper()).notices()) == []


@pytest.mark.parametrize(
    "older", [key for s in flink_settings() for key in s.older if s.key not in REFUSED]
)
def test_deprecated_keys_are_known(older: str) -> None:
    found = flink_setting(older)
    assert found is not None
    if found.key not in _OURS:
        assert len(list(_set(older, "x").notices())) == 1
    else:
        assert older in _OURS


def test_a_setting_with_a_deprecated_key_applies() -> None:
    assert _set("state.checkpoints.dir", "/c").current()[CHECKPOINT_DIRECTORY] == "/c"
    settings = SessionSettings({"table.exec.resource.default-parallelism": Given("3")})
    settings.set("parallelism.default", Given("5"))
    assert settings.current()[PARALLELISM] == 3


@pytest.mark.parametrize("prefix", FREE_PREFIXES)
def test_keys_with_a_user_defined_suffix_are_accepted(prefix: str) -> None:
    assert len(list(_set(f"{prefix}of.the.user", "x").notices())) == 1


@pytest.mark.parametrize(("old", "new"), RENAMED.items())
def test_a_removed_key_is_refused_with_the_new_key(old: str, new: str) -> None:
    assert flink_setting(new)
    with pytest.raises(StreamtableError, match=f"Flink calls it '{new}'") as refused:
        _set(old, "x")
    assert refused.value.condition is Condition.UNKNOWN_SETTING


def test_a_misspelt_flink_key_is_refused_with_the_nearest_key() -> None:
    with pytest.raises(StreamtableError, match=r"did you mean 'table\.exec\.mini-batch\.size'"):
        _set("table.exec.minibatch.size", "1")


def test_every_key_with_a_reason_exists_in_flink() -> None:
    keys = [setting.key for setting in flink_settings()]
    for begin in (*NO_EFFECT, *REFUSED):
        assert begin in FREE_PREFIXES or any(key.startswith(begin) for key in keys), begin


def test_a_reset_removes_the_notice() -> None:
    settings = _set("pipeline.jars", "x.jar")
    settings.reset("pipeline.jars")
    assert list(settings.notices()) == []
    settings.reset("table.exec.mini-batch.enabled")
