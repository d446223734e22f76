package io.streamtable.checkpoint;

/** This process no longer holds a checkpoint, so it must write nothing more. */
public final class CheckpointLostException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  CheckpointLostException(String reason) {
    super("CHECKPOINT_LOST " + reason); // `jvm.faults` finds the mark
  }
}
