import java.io.File;
import java.io.FileOutputStream;
import java.io.OutputStream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/** Runs a YARN cluster of one node until standard input ends. Writes yarn-site.xml to a folder. */
final class MiniYarn {
  private static final String[][] SETTINGS = {
    // Accept the node even if its disk is nearly full.
    {"yarn.nodemanager.disk-health-checker.max-disk-utilization-per-disk-percentage", "100.0"},
    {"yarn.nodemanager.vmem-check-enabled", "false"},
    {"yarn.nodemanager.pmem-check-enabled", "false"},
    {"yarn.nodemanager.resource.memory-mb", "4096"},
    {"yarn.nodemanager.resource.cpu-vcores", "8"},
    {"yarn.scheduler.minimum-allocation-mb", "64"},
    {"yarn.scheduler.capacity.maximum-am-resource-percent", "1.0"},
    {"yarn.scheduler.capacity.root.queues", "default"},
    {"yarn.scheduler.capacity.root.default.capacity", "100"},
    {"yarn.application.classpath", ""},
  };

  public static void main(String[] arguments) throws Exception {
    YarnConfiguration configuration = new YarnConfiguration();
    for (String[] setting : SETTINGS) {
      configuration.set(setting[0], setting[1]);
    }
    MiniYARNCluster cluster = new MiniYARNCluster("yarn", 1, 1, 1);
    cluster.init(configuration);
    cluster.start();
    Configuration found = cluster.getConfig();
    try (OutputStream out = new FileOutputStream(new File(arguments[0], "yarn-site.xml"))) {
      found.writeXml(out);
    }
    System.out.println("ready");
    while (System.in.read() >= 0) {}
    cluster.stop();
  }

  private MiniYarn() {}
}
