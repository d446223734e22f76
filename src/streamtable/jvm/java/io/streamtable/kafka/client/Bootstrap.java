package io.streamtable.kafka.client;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.utils.Utils;

/**
 * Checks whether a bootstrap server accepts a connection before a Kafka client is created. Without
 * a server, the client would log one warning per attempt until its timeout.
 */
public final class Bootstrap {
  private static final int PAUSE_MS = 200;

  private Bootstrap() {}

  /** Returns when a server accepts a connection. Throws a KafkaFault after the timeout. */
  public static void await(Map<String, String> properties, long timeoutMs) {
    String servers = properties.getOrDefault("bootstrap.servers", "");
    List<InetSocketAddress> addresses = addresses(servers);
    long end = System.nanoTime() + timeoutMs * 1_000_000L;
    String reason = "no address in '" + servers + "' resolves";
    while (!addresses.isEmpty()) {
      for (InetSocketAddress address : addresses) {
        long leftMs = (end - System.nanoTime()) / 1_000_000L;
        try (Socket socket = new Socket()) {
          socket.connect(address, (int) Math.max(1, Math.min(leftMs, Integer.MAX_VALUE)));
          return;
        } catch (IOException e) {
          reason = address.getHostString() + ":" + address.getPort() + ": " + e.getMessage();
        }
      }
      if (end - System.nanoTime() < PAUSE_MS * 1_000_000L) {
        break;
      }
      Utils.sleep(PAUSE_MS);
    }
    throw new KafkaFault(reason, KafkaFault.Kind.UNCONNECTED);
  }

  private static List<InetSocketAddress> addresses(String servers) {
    List<InetSocketAddress> addresses = new ArrayList<>();
    for (String server : servers.split(",")) {
      String host = Utils.getHost(server.trim());
      Integer port = Utils.getPort(server.trim());
      if (host == null || port == null) {
        throw new KafkaFault("'" + server.trim() + "' is not host:port", false);
      }
      InetSocketAddress address = new InetSocketAddress(host, port);
      if (!address.isUnresolved()) {
        addresses.add(address);
      }
    }
    return addresses;
  }
}
