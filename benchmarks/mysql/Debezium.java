import io.debezium.engine.ChangeEvent;
import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.format.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Runs Debezium's embedded engine and writes its events to Kafka, until SIGTERM.
 *
 * <p>Arguments: the properties of the engine, and those of the producer. The engine's offsets are
 * committed after Kafka has acknowledged the events of a batch: at least once.
 */
public final class Debezium {
    public static void main(String[] arguments) throws Exception {
        Properties engineSettings = read(arguments[0]);
        KafkaProducer<String, String> producer =
                new KafkaProducer<>(read(arguments[1]), new StringSerializer(), new StringSerializer());
        DebeziumEngine<ChangeEvent<String, String>> engine =
                DebeziumEngine.create(Json.class)
                        .using(engineSettings)
                        .using((success, message, error) -> {
                            if (!success) {
                                System.err.println(message);
                                Runtime.getRuntime().halt(1);
                            }
                        })
                        .notifying((events, committer) -> write(producer, events, committer))
                        .build();
        Thread main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            try {
                engine.close();
                main.join();
            } catch (Exception error) {
                System.err.println(error);
            }
        }));
        engine.run();
        producer.close();
    }

    private static void write(
            KafkaProducer<String, String> producer,
            List<ChangeEvent<String, String>> events,
            DebeziumEngine.RecordCommitter<ChangeEvent<String, String>> committer)
            throws InterruptedException {
        @SuppressWarnings("unchecked")
        Future<RecordMetadata>[] sent = new Future[events.size()];
        for (int i = 0; i < sent.length; i++) {
            ChangeEvent<String, String> event = events.get(i);
            sent[i] = producer.send(
                    new ProducerRecord<>(event.destination(), event.key(), event.value()));
        }
        producer.flush();
        for (int i = 0; i < sent.length; i++) {
            try {
                sent[i].get();
            } catch (java.util.concurrent.ExecutionException error) {
                throw new IllegalStateException(error);
            }
            committer.markProcessed(events.get(i));
        }
        committer.markBatchFinished();
    }

    private static Properties read(String file) throws java.io.IOException {
        Properties found = new Properties();
        try (var reader = Files.newBufferedReader(Path.of(file))) {
            found.load(reader);
        }
        return found;
    }
}
