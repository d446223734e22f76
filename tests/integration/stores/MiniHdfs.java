import java.io.File;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.permission.FsPermission;
import org.apache.hadoop.hdfs.HdfsConfiguration;
import org.apache.hadoop.hdfs.MiniDFSCluster;

/** HDFS with one data node, until standard input ends. Prints the address of the name node. */
final class MiniHdfs {
  public static void main(String[] arguments) throws Exception {
    Configuration configuration = new HdfsConfiguration();
    configuration.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, new File(arguments[0]).getAbsolutePath());
    configuration.set("dfs.replication", "1");
    configuration.set("dfs.namenode.fs-limits.min-block-size", "0");
    MiniDFSCluster cluster =
        new MiniDFSCluster.Builder(configuration).numDataNodes(1).format(true).build();
    cluster.waitActive();
    try (FileSystem files = cluster.getNewFileSystemInstance(0)) {
      files.mkdirs(new Path("/open"));
      files.setPermission(new Path("/open"), new FsPermission((short) 0777));
      files.mkdirs(new Path("/closed"));
      files.setPermission(new Path("/closed"), new FsPermission((short) 0555));
      files.setOwner(new Path("/closed"), "somebody", "else");
    }
    System.out.println("ready " + cluster.getURI());
    while (System.in.read() >= 0) {}
    cluster.shutdown();
  }

  private MiniHdfs() {}
}
