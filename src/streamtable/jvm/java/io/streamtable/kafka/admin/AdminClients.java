package io.streamtable.kafka.admin;

import io.streamtable.kafka.client.ClientPool;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;

/** Admin clients that the calls of a job share. */
public final class AdminClients {
  private static final ClientPool<Admin> SHARED =
      new ClientPool<>(
          Admin::create, admin -> admin.close(Duration.ZERO), TimeUnit.MINUTES.toMillis(1));

  private AdminClients() {}

  /**
   * Runs a call with the shared client of a cluster. A client whose call failed is not used again.
   */
  public static <T> T ask(Map<String, Object> config, KafkaAdmin.Call<T> call)
      throws ExecutionException, InterruptedException {
    ClientPool<Admin>.PooledClient pooled = SHARED.borrow(config);
    boolean answered = false;
    try {
      T answer = call.ask(pooled.client());
      answered = true;
      return answer;
    } finally {
      SHARED.release(pooled, !answered);
    }
  }
}
