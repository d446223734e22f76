"""A rescale of a checkpoint, without Spark: its description, its files and its refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamtable.core.errors import Condition, StreamtableError
from streamtable.jvm.streaming.planned_batches import END_WATERMARK_MS
from streamtable.runtime.checkpoint.checkpoint import open_checkpoint
from streamtable.runtime.checkpoint.rescale import open_rescale, parallelism_notice
from streamtable.runtime.checkpoint.storage.lock import locked


def _offsets(query: Path, batch: int, partitions: int, watermark: int = 0) -> None:
    conf = {"spark.sql.shuffle.partitions": str(partitions)}
    lines = ["v1", json.dumps({"batchWatermarkMs": watermark, "conf": conf}), "{}"]
    (query / "offsets").mkdir(parents=True, exist_ok=True)
    (query / "offsets" / str(batch)).write_text("\n".join(lines))


def _commit(query: Path, batch: int) -> None:
    (query / "commits").mkdir(parents=True, exist_ok=True)
    (query / "commits" / str(batch)).write_text('v1\n{"nextBatchWatermarkMs":0}')


def _checkpoint(folder: Path, *, stateful: bool = True, names: tuple[str, ...] = ("o",)) -> Path:
    """Write a checkpoint whose queries have committed batch 3 in two state partitions.

    Return the directory of the first query.
    """
    for name in names:
        query = folder / name
        for batch in (2, 3):
            _offsets(query, batch, 2)
            _commit(query, batch)
        if stateful:
            (query / "state" / "0").mkdir(parents=True)
    (folder / "streamtable.json").write_text(json.dumps({"queries": {name: {} for name in names}}))
    return folder / names[0]


def _described(folder: Path, to: int) -> list[str]:
    with open_rescale(str(folder), to, lambda _: None) as rescale:
        return list(rescale.described())


def _refusal(folder: Path, to: int) -> StreamtableError:
    with pytest.raises(StreamtableError) as refused, open_rescale(str(folder), to, lambda _: None):
        pass
    assert "\n" not in str(refused.value)
    return refused.value


def _rescaled(directory: str, to: int) -> None:
    """Write one more batch, as Spark does; its offset entry has the new number of partitions."""
    query = Path(directory)
    _offsets(query, 4, to)
    _commit(query, 4)


def test_a_rescale_is_described_before_any_change(tmp_path: Path) -> None:
    _checkpoint(tmp_path)
    before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
    [line] = _described(tmp_path, 5)
    assert line == "o: 2 -> 5 state partitions, as of batch 3, in a new batch 4 without rows"
    assert _described(tmp_path, 2) == ["o: has 2 state partitions already"]
    assert {p: p.read_bytes() for p in before} == before
    assert {p.name for p in tmp_path.iterdir()} == {"o", "streamtable.json", "lock"}


def test_a_query_without_state_is_not_rescaled(tmp_path: Path) -> None:
    _checkpoint(tmp_path, stateful=False)
    assert _described(tmp_path, 5) == ["o: no state, starts with any parallelism"]


def test_end_offsets_of_the_sink_move_to_the_new_batch(tmp_path: Path) -> None:
    """A start reads the end offsets of the newest commit to roll the topic back."""
    query = _checkpoint(tmp_path)
    (query / "sinks").mkdir()
    (query / "sinks" / "3").write_text("ends")
    with open_rescale(str(tmp_path), 5, lambda _: None) as rescale:
        rescale.run(_rescaled, lambda _: None)
    assert (query / "sinks" / "4").read_text() == "ends"
    assert not (tmp_path / "rescale.json").exists()
    assert _described(tmp_path, 5) == ["o: has 5 state partitions already"]


@pytest.mark.parametrize("done", [0, 1])
def test_an_interrupted_rescale_blocks_the_job_until_complete(tmp_path: Path, done: int) -> None:
    _checkpoint(tmp_path, names=("o", "p"))
    left = [done]

    def killed(directory: str, to: int) -> None:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        _rescaled(directory, to)

    with (
        pytest.raises(KeyboardInterrupt),
        open_rescale(str(tmp_path), 5, lambda _: None) as rescale,
    ):
        rescale.run(killed, lambda _: None)

    command = f"streamtable rescale --checkpoint {tmp_path} --to 5"
    other = _refusal(tmp_path, 3)
    assert other.condition is Condition.CHECKPOINT_NOT_RESCALED
    assert command in str(other)
    (tmp_path / "streamtable.json").write_text(json.dumps({"layout": 3, "queries": {}}))
    with pytest.raises(StreamtableError) as refused:
        open_checkpoint(str(tmp_path), {})
    assert command in str(refused.value)
    (tmp_path / "streamtable.json").write_text(json.dumps({"queries": {"o": {}, "p": {}}}))

    with open_rescale(str(tmp_path), 5, lambda _: None) as rescale:
        assert len(rescale.due) == 2 - done
        rescale.run(_rescaled, lambda _: None)
    assert _described(tmp_path, 5) == [
        "o: has 5 state partitions already",
        "p: has 5 state partitions already",
    ]
    assert not (tmp_path / "rescale.json").exists()


def test_a_batch_that_is_not_committed_is_refused(tmp_path: Path) -> None:
    _offsets(_checkpoint(tmp_path), 4, 2)
    refused = _refusal(tmp_path, 5)
    assert refused.condition is Condition.CHECKPOINT_NOT_RESCALED
    assert "batch 4 of o is planned and not committed" in str(refused)
    assert not (tmp_path / "rescale.json").exists()


def test_a_job_whose_input_has_ended_is_refused(tmp_path: Path) -> None:
    query = _checkpoint(tmp_path)
    _offsets(query, 4, 2, END_WATERMARK_MS)
    _commit(query, 4)
    assert _refusal(tmp_path, 5).condition is Condition.CHECKPOINT_ENDED


def test_an_empty_directory_is_refused_and_stays_empty(tmp_path: Path) -> None:
    assert _refusal(tmp_path, 5).condition is Condition.CHECKPOINT_UNREADABLE
    assert not list(tmp_path.iterdir())


def test_a_running_job_is_refused(tmp_path: Path) -> None:
    _checkpoint(tmp_path)
    with locked(str(tmp_path), None):
        assert _refusal(tmp_path, 5).condition is Condition.CHECKPOINT_BUSY


def test_another_parallelism_is_reported_with_the_command(tmp_path: Path) -> None:
    _checkpoint(tmp_path)
    folders = [tmp_path / "o", tmp_path / "new"]
    assert not list(parallelism_notice(tmp_path, folders, 2))
    [line] = parallelism_notice(tmp_path, folders, 4)
    assert "2 state partitions" in line
    assert f"streamtable rescale --checkpoint {tmp_path} --to 4" in line
