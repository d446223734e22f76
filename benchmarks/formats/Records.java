import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Reads files of records, each after its length in four bytes, and measures both sides. */
final class Records {
  /** Processes one record; the results are summed so that the JIT cannot remove the work. */
  interface Work {
    long run(int record) throws Exception;
  }

  private Records() {}

  static List<byte[]> read(Path file) throws IOException {
    List<byte[]> records = new ArrayList<>();
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      while (true) {
        byte[] record = new byte[in.readInt()];
        in.readFully(record);
        records.add(record);
      }
    } catch (EOFException e) {
      return records;
    }
  }

  private static final int WARM = 200_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /**
   * Prints `name direction records-per-second`: the best of several rounds after a warm-up. A round
   * consists of whole passes over the records. The warm-up has enough records for the JIT to
   * compile the measured code. Seconds are CPU time of the thread, so that other programs on the
   * machine affect the result less.
   */
  static void measure(String name, String direction, int records, double seconds, Work work)
      throws Exception {
    for (int done = 0; done < WARM; done += records) {
      round(records, 0, work);
    }
    round(records, seconds, work);
    double best = 0;
    for (int i = 0; i < 3; i++) {
      best = Math.max(best, round(records, seconds / 2, work));
    }
    System.out.println(name + "\t" + direction + "\t" + Math.round(best));
  }

  private static double round(int records, double seconds, Work work) throws Exception {
    long begin = THREADS.getCurrentThreadCpuTime();
    long end = begin + (long) (seconds * 1e9);
    long done = 0;
    long sum = 0;
    do {
      for (int i = 0; i < records; i++) {
        sum += work.run(i);
      }
      done += records;
    } while (THREADS.getCurrentThreadCpuTime() < end);
    double rate = done * 1e9 / (THREADS.getCurrentThreadCpuTime() - begin);
    if (sum == 0) {
      throw new IllegalStateException("nothing came out");
    }
    return rate;
  }
}
