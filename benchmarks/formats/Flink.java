import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.DeserializationSchema;
import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.JsonNode;
import org.apache.flink.shaded.jackson2.com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.flink.table.connector.format.EncodingFormat;
import org.apache.flink.table.connector.format.DecodingFormat;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.factories.DeserializationFormatFactory;
import org.apache.flink.table.factories.FactoryUtil;
import org.apache.flink.table.factories.SerializationFormatFactory;
import org.apache.flink.table.runtime.connector.sink.SinkRuntimeProviderContext;
import org.apache.flink.table.runtime.connector.source.ScanRuntimeProviderContext;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.utils.LogicalTypeParser;
import org.apache.flink.table.types.utils.TypeConversions;
import org.apache.flink.util.Collector;

/** Measures Flink's schemas, created by its factories and called as in its Kafka connector. */
public final class Flink {
  private static final ClassLoader LOADER = Flink.class.getClassLoader();

  public static void main(String[] args) throws Exception {
    double seconds = Double.parseDouble(args[1]);
    for (JsonNode test : new ObjectMapper().readTree(Path.of(args[0]).toFile())) {
      run(test.get("format").asText(), test, seconds);
    }
  }

  private static void run(String name, JsonNode test, double seconds) throws Exception {
    DataType type =
        TypeConversions.fromLogicalToDataType(
            LogicalTypeParser.parse(test.get("type").asText(), LOADER));
    Configuration options = new Configuration();
    test.get("options").fields().forEachRemaining(o -> options.setString(o.getKey(), o.getValue().asText()));
    DeserializationSchema<RowData> decoder = decoder(name, options, type);
    SerializationSchema<RowData> encoder = encoder(name, options, type);
    List<byte[]> records = Records.read(Path.of(test.get("records").asText()));
    List<RowData> rows = new ArrayList<>();
    for (byte[] record : records) {
      decoder.deserialize(record, collector(rows::add));
    }
    long[] count = new long[1];
    Collector<RowData> counting = collector(row -> count[0]++);
    Records.measure(
        name,
        "decode",
        records.size(),
        seconds,
        i -> {
          decoder.deserialize(records.get(i), counting);
          return count[0];
        });
    Records.measure(
        name, "encode", rows.size(), seconds, i -> encoder.serialize(rows.get(i)).length);
  }

  private static DeserializationSchema<RowData> decoder(
      String name, Configuration options, DataType type) throws Exception {
    DecodingFormat<DeserializationSchema<RowData>> format =
        FactoryUtil.discoverFactory(LOADER, DeserializationFormatFactory.class, name)
            .createDecodingFormat(null, options);
    DeserializationSchema<RowData> schema =
        format.createRuntimeDecoder(ScanRuntimeProviderContext.INSTANCE, type);
    schema.open(null);
    return schema;
  }

  private static SerializationSchema<RowData> encoder(
      String name, Configuration options, DataType type) throws Exception {
    EncodingFormat<SerializationSchema<RowData>> format =
        FactoryUtil.discoverFactory(LOADER, SerializationFormatFactory.class, name)
            .createEncodingFormat(null, options);
    SerializationSchema<RowData> schema =
        format.createRuntimeEncoder(new SinkRuntimeProviderContext(false), type);
    schema.open(null);
    return schema;
  }

  private static Collector<RowData> collector(java.util.function.Consumer<RowData> to) {
    return new Collector<>() {
      @Override
      public void collect(RowData row) {
        to.accept(row);
      }

      @Override
      public void close() {}
    };
  }
}
