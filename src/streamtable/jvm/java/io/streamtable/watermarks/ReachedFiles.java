package io.streamtable.watermarks;

import io.streamtable.checkpoint.BatchFiles;
import io.streamtable.checkpoint.CheckpointFolder;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The watermarks that the last two batches of a query have reached, in a folder of its checkpoint.
 *
 * <p>File N: the watermark of batch N in milliseconds, or "none" if it has not advanced, and an id
 * of the offsets at the end of the batch. It is written before an operator gets the watermark, and
 * read if the batch runs again after a failure. A sink may then skip output that it has committed,
 * so the batch must emit the same rows as before.
 */
final class ReachedFiles {
  private static final String NONE = "none";

  private final BatchFiles files;

  /** @param checkpoint the checkpoint of the query, a local path or a URI */
  ReachedFiles(String checkpoint) throws IOException {
    URI place = new org.apache.hadoop.fs.Path(checkpoint, "reached").toUri();
    boolean local = place.getScheme() == null || place.getScheme().equals("file");
    files = new BatchFiles(CheckpointFolder.open(local ? place.getPath() : place.toString()));
  }

  /**
   * Returns what an earlier execution of a batch has written; empty if its operators have not run.
   *
   * @param ends the offsets at the end of the batch, one for each scan
   */
  OptionalLong read(long batch, List<String> ends) throws IOException {
    String text = files.read(batch);
    if (text == null || !text.endsWith(id(ends))) {
      return OptionalLong.empty();
    }
    String known = text.substring(0, text.indexOf(' '));
    return OptionalLong.of(known.equals(NONE) ? ReachedWatermark.NONE : Long.parseLong(known));
  }

  /** Notes the watermark of a batch; {@link ReachedWatermark#NONE} if it has not advanced. */
  void write(long batch, List<String> ends, long watermark) throws IOException {
    String text = watermark == ReachedWatermark.NONE ? NONE : String.valueOf(watermark);
    files.write(batch, text + " " + id(ends));
  }

  private static String id(List<String> ends) {
    byte[] text = ends.toString().getBytes(StandardCharsets.UTF_8);
    return UUID.nameUUIDFromBytes(text).toString();
  }
}
