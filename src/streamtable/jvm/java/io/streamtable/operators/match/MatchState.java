package io.streamtable.operators.match;

import io.streamtable.operators.encoding.DirectEncoder;
import io.streamtable.operators.row.Plain;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.streaming.MapState;
import org.apache.spark.sql.streaming.StatefulProcessorHandle;
import org.apache.spark.sql.streaming.TTLConfig;
import org.apache.spark.sql.streaming.ValueState;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;

/**
 * The matches of a partition in state, shared by both processors.
 *
 * <p>State (layout v1): "rows", number -> row, for the rows of partial matches; "matches", the
 * number of the first row in "rows" and of the next row, then the partial and the complete matches
 * in the order of their queues. A partition without matches has no state.
 */
final class MatchState implements Serializable {
  private final MatchPattern pattern;
  private final List<MatchCondition> conditions;
  private final MatchOutput output;
  private final StructType row;
  private transient MapState<Long, Row> rows;
  private transient ValueState<Row> matches;

  /** @param row the row kind and the columns */
  MatchState(
      MatchPattern pattern, List<MatchCondition> conditions, MatchOutput output, StructType row) {
    this.pattern = pattern;
    this.conditions = conditions;
    this.output = output;
    this.row = row;
  }

  void open(StatefulProcessorHandle handle) {
    StructType list = new StructType();
    list = list.add("first", DataTypes.LongType).add("next", DataTypes.LongType);
    list = list.add("partial", DataTypes.createArrayType(PartialMatch.SCHEMA));
    list = list.add("complete", DataTypes.createArrayType(PartialMatch.SCHEMA));
    rows = handle.getMapState("rows", DirectEncoder.longs(), Plain.row(row), TTLConfig.NONE());
    matches = handle.getValueState("matches", Plain.row(list), TTLConfig.NONE());
    conditions.forEach(MatchCondition::open);
  }

  /** Loads the matches of the current key. */
  Run load() {
    return new Run(matches.get());
  }

  /** The matches of the current key during one call. */
  final class Run {
    private final List<Row> found = new ArrayList<>();
    private final MatchRows known;
    private final Matcher matcher;
    private final boolean wasEmpty;

    private Run(Row stored) {
      wasEmpty = stored == null;
      known =
          new MatchRows(rows, wasEmpty ? 0 : stored.getLong(0), wasEmpty ? 0 : stored.getLong(1));
      matcher =
          new Matcher(
              pattern,
              conditions,
              wasEmpty ? List.of() : matches(stored.getList(2)),
              wasEmpty ? List.of() : matches(stored.getList(3)),
              known,
              (match, moment) -> found.add(output.row(match, moment, known)));
    }

    /** Processes a row, of which the first columns are kept. */
    void process(Row next, long moment) {
      matcher.expire(moment);
      known.add(next);
      matcher.process(moment);
    }

    void expire(long moment) {
      matcher.expire(moment);
    }

    /** Returns the time at which the oldest partial match expires; the largest number for never. */
    long expiry() {
      return matcher.expiry();
    }

    /** Writes the matches to state, and returns the rows of the complete ones. */
    List<Row> save() {
      List<PartialMatch> partial = matcher.partial();
      List<PartialMatch> complete = matcher.complete();
      long from = known.next();
      for (PartialMatch match : partial) {
        from = Math.min(from, match.start());
      }
      for (PartialMatch match : complete) {
        from = Math.min(from, match.start());
      }
      known.keep(from);
      if (from < known.next()) {
        Object[] one = partial.stream().map(PartialMatch::toRow).toArray();
        Object[] other = complete.stream().map(PartialMatch::toRow).toArray();
        matches.update(RowFactory.create(from, known.next(), one, other));
      } else if (!wasEmpty) {
        matches.clear();
      }
      return found;
    }

    private static List<PartialMatch> matches(List<Row> stored) {
      return stored.stream().map(PartialMatch::of).toList();
    }
  }
}
