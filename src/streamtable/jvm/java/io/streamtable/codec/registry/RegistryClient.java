package io.streamtable.codec.registry;

import io.streamtable.codec.Texts;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ProxySelector;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;

/**
 * Sends requests to a schema registry, with several addresses, credentials and bounded timeouts. It
 * retries if the registry does not answer, or answers with 429 or a 5xx status.
 */
final class RegistryClient {
  private static final String JSON = "application/vnd.schemaregistry.v1+json";
  private static final int ROUNDS = 3;
  private static final long FIRST_PAUSE_MS = 250;

  private final List<String> addresses = new ArrayList<>();
  private final Duration readTimeout;
  private final HttpClient http;
  private final RegistryCredentials credentials;

  /** Creates a client. Settings have the names of the options of the format avro-confluent. */
  RegistryClient(Map<String, String> settings) {
    String user = null;
    for (String address : settings.get("url").split(",")) {
      addresses.add(withoutUser(address.trim()));
      String own = uri(address.trim()).getUserInfo();
      user = own == null ? user : own;
    }
    readTimeout = timeout(settings, "properties.http.read.timeout.ms", 10_000);
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(timeout(settings, "properties.http.connect.timeout.ms", 5_000));
    String proxy = settings.get("properties.proxy.host");
    if (proxy != null) {
      int port = Integer.parseInt(settings.get("properties.proxy.port"));
      builder.proxy(ProxySelector.of(new InetSocketAddress(proxy, port)));
    }
    try {
      SSLContext tls = RegistryTls.context(settings);
      if (tls != null) {
        builder.sslContext(tls);
      }
    } catch (GeneralSecurityException | IOException e) {
      throw new RegistryFault(
          RegistryFault.FAILED, address(), "its SSL options: " + Texts.shorten(e.getMessage()));
    }
    http = builder.build();
    credentials = new RegistryCredentials(settings, user, readTimeout);
  }

  /** Returns the first address, for messages. */
  String address() {
    return addresses.get(0);
  }

  /**
   * Returns the response, whatever its status. A null body sends GET, any other body sends POST.
   */
  HttpResponse<String> send(String path, String body) {
    String last = "";
    for (int round = 0; round < ROUNDS; round++) {
      for (String address : addresses) {
        try {
          HttpResponse<String> answer = http.send(request(address + path, body), BodyHandlers.ofString());
          if (answer.statusCode() < 500 && answer.statusCode() != 429) {
            return answer;
          }
          last = "HTTP " + answer.statusCode();
        } catch (RegistryCredentials.TokenException e) {
          last = e.getMessage();
        } catch (IOException e) {
          last = e.getClass().getSimpleName();
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new RegistryFault(RegistryFault.UNREACHABLE, address(), "interrupted");
        }
      }
      pause(round);
    }
    throw new RegistryFault(RegistryFault.UNREACHABLE, address(), last);
  }

  private HttpRequest request(String url, String body) throws IOException, InterruptedException {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(uri(url)).timeout(readTimeout).header("Accept", JSON);
    credentials.sign(builder, http);
    if (body != null) {
      builder.header("Content-Type", JSON).POST(BodyPublishers.ofString(body));
    }
    return builder.build();
  }

  /** Parses an address. The message of Java's error has the whole address, so it is left out. */
  private URI uri(String address) {
    try {
      URI uri = URI.create(address);
      if (uri.getHost() != null) {
        return uri;
      }
    } catch (IllegalArgumentException e) {
      // Reported below, without its message.
    }
    throw new RegistryFault(RegistryFault.FAILED, address(), "Java cannot use its address");
  }

  /** Removes the user from an address. Confluent's clients call this the credentials source URL. */
  private static String withoutUser(String address) {
    String end = address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
    return end.replaceFirst("//[^/]*@", "//");
  }

  private static Duration timeout(Map<String, String> settings, String key, int otherwise) {
    return Duration.ofMillis(
        settings.containsKey(key) ? Integer.parseInt(settings.get(key)) : otherwise);
  }

  private static void pause(int round) {
    if (round == ROUNDS - 1) {
      return;
    }
    try {
      Thread.sleep(FIRST_PAUSE_MS << round);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
