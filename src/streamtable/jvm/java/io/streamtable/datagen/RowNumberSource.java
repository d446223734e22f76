package io.streamtable.datagen;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.Column;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * A streaming source of row numbers at a rate per second. Its offsets contain the seed and the time
 * of a batch, so that a batch that runs again produces the same rows.
 *
 * <p>Options: {@code rowsPerSecond}; {@code rows}, -1 for no end; {@code tasks}.
 */
public final class RowNumberSource implements TableProvider {
  /** number BIGINT from 0, seed BIGINT of the query, time TIMESTAMP of the batch. */
  private static final StructType SCHEMA =
      new StructType()
          .add("number", DataTypes.LongType, false)
          .add("seed", DataTypes.LongType, false)
          .add("time", DataTypes.TimestampType, false);

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return SCHEMA;
  }

  @Override
  public Table getTable(
      StructType schema, Transform[] partitioning, Map<String, String> properties) {
    return new RowNumbers();
  }

  private static final class RowNumbers implements SupportsRead {
    @Override
    public String name() {
      return "datagen";
    }

    @Override
    public Column[] columns() {
      return new Column[] {
        Column.create("number", DataTypes.LongType, false),
        Column.create("seed", DataTypes.LongType, false),
        Column.create("time", DataTypes.TimestampType, false)
      };
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      long perSecond = options.getLong("rowsPerSecond", 10_000);
      long rows = options.getLong("rows", -1);
      int tasks = options.getInt("tasks", 1);
      return () ->
          new Scan() {
            @Override
            public StructType readSchema() {
              return SCHEMA;
            }

            @Override
            public MicroBatchStream toMicroBatchStream(String checkpoint) {
              return new RowNumberStream(perSecond, rows, tasks);
            }
          };
    }
  }
}
