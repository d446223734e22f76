package io.streamtable.jdbc;

import java.util.Arrays;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A streaming source that reads a table once, in its first batch.
 *
 * <p>Its only option, {@code scan}, is the id of a registered scan: Spark shows options in plans,
 * and a scan has a password.
 */
public final class ScanSource implements TableProvider {
  private static final Map<String, ScanSpec> SCANS = new ConcurrentHashMap<>();

  /** Registers the scan of a query under an id. */
  public static void register(String id, ScanSpec scan) {
    SCANS.put(id, scan);
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCANS.get(options.get("scan")).schema();
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new ScannedTable(SCANS.get(new CaseInsensitiveStringMap(properties).get("scan")));
  }

  private record ScannedTable(ScanSpec scan) implements SupportsRead {
    @Override
    public String name() {
      return "jdbc " + scan.table().name();
    }

    @Override
    public Column[] columns() {
      return Arrays.stream(scan.schema().fields())
          .map(field -> Column.create(field.name(), field.dataType(), true))
          .toArray(Column[]::new);
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () ->
          new Scan() {
            @Override
            public StructType readSchema() {
              return scan.schema();
            }

            @Override
            public MicroBatchStream toMicroBatchStream(String checkpoint) {
              return new ScanStream(scan);
            }
          };
    }
  }
}
