package io.streamtable.watermarks;

import io.streamtable.checkpoint.CheckpointFolder;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
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

  private final CheckpointFolder folder;
  private final Set<Long> kept = new HashSet<>();

  /** @param checkpoint the checkpoint of the query, a local path or a URI */
  ReachedFiles(String checkpoint) throws IOException {
    URI place = new org.apache.hadoop.fs.Path(checkpoint, "reached").toUri();
    boolean local = place.getScheme() == null || place.getScheme().equals("file");
    folder = CheckpointFolder.open(local ? place.getPath() : place.toString());
    for (String name : folder.list()) {
      if (name.matches("\\d+")) {
        kept.add(Long.valueOf(name));
      }
    }
  }

  /**
   * Returns what an earlier execution of a batch has written; empty if its operators have not run.
   *
   * @param ends the offsets at the end of the batch, by source
   */
  OptionalLong read(long batch, Map<String, String> ends) throws IOException {
    String text = folder.read(String.valueOf(batch));
    if (text == null || !text.endsWith(id(ends))) {
      return OptionalLong.empty();
    }
    String known = text.substring(0, text.indexOf(' '));
    return OptionalLong.of(known.equals(NONE) ? ReachedWatermark.NONE : Long.parseLong(known));
  }

  /** Keeps the watermark of a batch, and of the batch before, whose commit may not be durable. */
  void write(long batch, Map<String, String> ends, long watermark) throws IOException {
    String text = watermark == ReachedWatermark.NONE ? NONE : String.valueOf(watermark);
    folder.write(String.valueOf(batch), text + " " + id(ends));
    kept.add(batch);
    for (Iterator<Long> other = kept.iterator(); other.hasNext(); ) {
      long number = other.next();
      if (number != batch && number != batch - 1) {
        folder.delete(String.valueOf(number));
        other.remove();
      }
    }
  }

  private static String id(Map<String, String> ends) {
    byte[] text = new TreeMap<>(ends).toString().getBytes(StandardCharsets.UTF_8);
    return UUID.nameUUIDFromBytes(text).toString();
  }
}
