package io.streamtable.codec;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/**
 * Requests to a schema registry: several addresses, credentials, bounded waits, and another try
 * where the registry did not answer or says that it is not well.
 */
final class RegistryClient {
  private static final String JSON = "application/vnd.schemaregistry.v1+json";
  private static final int ROUNDS = 3;
  private static final long FIRST_PAUSE_MS = 250;

  private final List<String> addresses = new ArrayList<>();
  private final Duration readTimeout;
  private final HttpClient http;
  private String authorization;

  /** Settings are named as the options of the format avro-confluent. */
  RegistryClient(Map<String, String> settings) {
    for (String address : settings.get("url").split(",")) {
      addresses.add(withoutUser(address.trim()));
    }
    if (settings.containsKey("basic-auth.user-info")) {
      authorization = basic(settings.get("basic-auth.user-info"));
    } else if (settings.containsKey("bearer-auth.token")) {
      authorization = "Bearer " + settings.get("bearer-auth.token");
    }
    readTimeout = timeout(settings, "properties.http.read.timeout.ms", 10_000);
    HttpClient.Builder builder =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(timeout(settings, "properties.http.connect.timeout.ms", 5_000));
    try {
      ssl(settings, builder);
    } catch (GeneralSecurityException | IOException e) {
      throw new RegistryFault(
          RegistryFault.FAILED, address(), "its SSL options: " + Texts.shorten(e.getMessage()));
    }
    http = builder.build();
  }

  /** The first address, for messages. */
  String address() {
    return addresses.get(0);
  }

  /** The answer, whatever its status; a body of null asks, any other is posted. */
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

  private HttpRequest request(String url, String body) {
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(URI.create(url)).timeout(readTimeout).header("Accept", JSON);
    if (authorization != null) {
      builder.header("Authorization", authorization);
    }
    if (body != null) {
      builder.header("Content-Type", JSON).POST(BodyPublishers.ofString(body));
    }
    return builder.build();
  }

  /** A user in the address is what Confluent's clients call the credentials source URL. */
  private String withoutUser(String address) {
    URI uri = URI.create(address);
    String end = address.endsWith("/") ? address.substring(0, address.length() - 1) : address;
    if (uri.getUserInfo() == null) {
      return end;
    }
    authorization = basic(uri.getUserInfo());
    return end.replace(uri.getRawUserInfo() + "@", "");
  }

  private static String basic(String user) {
    return "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
  }

  private static Duration timeout(Map<String, String> settings, String key, int otherwise) {
    return Duration.ofMillis(
        settings.containsKey(key) ? Integer.parseInt(settings.get(key)) : otherwise);
  }

  private static void ssl(Map<String, String> settings, HttpClient.Builder builder)
      throws GeneralSecurityException, IOException {
    KeyStore own = store(settings, "ssl.keystore");
    KeyStore trusted = store(settings, "ssl.truststore");
    if (own == null && trusted == null) {
      return;
    }
    KeyManagerFactory keys = null;
    if (own != null) {
      keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      keys.init(own, password(settings, "ssl.keystore"));
    }
    TrustManagerFactory trust = null;
    if (trusted != null) {
      trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(
        keys == null ? null : keys.getKeyManagers(),
        trust == null ? null : trust.getTrustManagers(),
        null);
    builder.sslContext(context);
  }

  private static KeyStore store(Map<String, String> settings, String name)
      throws GeneralSecurityException, IOException {
    String location = settings.get(name + ".location");
    return location == null
        ? null
        : KeyStore.getInstance(new File(location), password(settings, name));
  }

  private static char[] password(Map<String, String> settings, String name) {
    return settings.getOrDefault(name + ".password", "").toCharArray();
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
