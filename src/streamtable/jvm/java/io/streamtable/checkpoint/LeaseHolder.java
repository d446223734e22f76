package io.streamtable.checkpoint;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The content of a lease file.
 *
 * @param id differs for each lease
 * @param host name of the machine
 * @param pid number of the process on that machine
 * @param since start of the lease by the clock of the machine, for messages
 * @param ttlMs how long the lease is valid after a renewal
 * @param released whether the holder has given the checkpoint back
 */
public record LeaseHolder(
    String id, String host, long pid, String since, long ttlMs, boolean released) {
  private static final ObjectMapper JSON = new ObjectMapper();

  static LeaseHolder now(String id, String host, long pid, long ttlMs) {
    String since = Instant.now().truncatedTo(ChronoUnit.SECONDS).toString();
    return new LeaseHolder(id, host, pid, since, ttlMs, false);
  }

  LeaseHolder asReleased() {
    return new LeaseHolder(id, host, pid, since, ttlMs, true);
  }

  String json() {
    try {
      return JSON.writeValueAsString(this);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException(e);
    }
  }

  static LeaseHolder of(byte[] json) throws java.io.IOException {
    return JSON.readValue(json, LeaseHolder.class);
  }

  @Override
  public String toString() {
    return "process " + pid + " on " + host + " holds it since " + since;
  }
}
