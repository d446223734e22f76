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

/** Records in a file, each behind four bytes of its length; and how both sides are measured. */
final class Records {
  /** One call per record; what it gives is added up, so that no work is for nothing. */
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
   * Prints `name direction records-per-second`: the best of several rounds, each of whole passes over
   * the records, after a warm-up of so many records that what is measured is compiled. Seconds are
   * those that the thread has had of a core, so that other programs on the machine weigh less.
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
