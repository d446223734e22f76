package io.streamtable.codec.registry;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;

/**
 * Authentication at a schema registry: a user, a fixed token, or a token from an OAuth issuer for a
 * client's id and secret (RFC 6749, 4.4). The OAuth token is cached until shortly before it
 * expires.
 */
final class RegistryCredentials {
  private static final String BEARER = "properties.bearer.auth.";
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final long USUAL_LIFE_S = 3_600;
  private static final long USUAL_BUFFER_S = 300;

  private final Map<String, String> settings;
  private final Duration timeout;
  private final String issuer;
  private String authorization;
  private long expiresAtNanos;

  /**
   * @param settings settings with the names of the options of the format avro-confluent
   * @param ofUrl `user:password` from the registry's address, or null
   */
  RegistryCredentials(Map<String, String> settings, String ofUrl, Duration timeout) {
    this.settings = settings;
    this.timeout = timeout;
    issuer = settings.get(BEARER + "issuer.endpoint.url");
    String user = settings.getOrDefault("basic-auth.user-info", ofUrl);
    if (user != null) {
      authorization = basic(user);
    } else if (settings.containsKey("bearer-auth.token")) {
      authorization = "Bearer " + settings.get("bearer-auth.token");
    }
  }

  /** Adds the authentication header. Throws an IOException if the issuer returns no token. */
  void sign(HttpRequest.Builder request, HttpClient http) throws IOException, InterruptedException {
    String found = issuer == null ? authorization : ofIssuer(http);
    if (found != null) {
      request.header("Authorization", found);
    }
    header(request, "target-sr-cluster", BEARER + "logical.cluster");
    header(request, "Confluent-Identity-Pool-Id", BEARER + "identity.pool.id");
  }

  private void header(HttpRequest.Builder request, String name, String setting) {
    String value = settings.get(setting);
    if (value != null) {
      request.header(name, value);
    }
  }

  private synchronized String ofIssuer(HttpClient http) throws IOException, InterruptedException {
    if (authorization != null && System.nanoTime() - expiresAtNanos < 0) {
      return authorization;
    }
    String form = "grant_type=client_credentials";
    String scope = settings.get(BEARER + "scope");
    if (scope != null) {
      form += "&scope=" + URLEncoder.encode(scope, StandardCharsets.UTF_8);
    }
    String client = settings.get(BEARER + "client.id") + ":" + settings.get(BEARER + "client.secret");
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(issuer))
            .timeout(timeout)
            .header("Accept", "application/json")
            .header("Content-Type", "application/x-www-form-urlencoded")
            .header("Authorization", basic(client))
            .POST(BodyPublishers.ofString(form))
            .build();
    HttpResponse<String> answer = http.send(request, BodyHandlers.ofString());
    JsonNode token = answer.statusCode() == 200 ? MAPPER.readTree(answer.body()) : null;
    if (token == null || token.path("access_token").asText().isEmpty()) {
      throw new TokenException("the token's issuer answers HTTP " + answer.statusCode());
    }
    long life = token.path("expires_in").asLong(USUAL_LIFE_S);
    String buffer = settings.get(BEARER + "cache.expiry.buffer.seconds");
    long early = Math.min(buffer == null ? USUAL_BUFFER_S : Long.parseLong(buffer), life / 2);
    expiresAtNanos = System.nanoTime() + Duration.ofSeconds(life - early).toNanos();
    authorization = "Bearer " + token.path("access_token").asText();
    return authorization;
  }

  private static String basic(String user) {
    return "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8));
  }

  /** The error that no token was obtained, without secrets. */
  static final class TokenException extends IOException {
    TokenException(String message) {
      super(message);
    }
  }
}
