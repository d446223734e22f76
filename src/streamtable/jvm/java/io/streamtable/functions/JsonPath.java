package io.streamtable.functions;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A JSON path as Jayway's library evaluates it: names, indexes, slices, wildcards, `..`.
 *
 * <p>Filters and functions are not read. A path is definite if it can give one value only; an
 * indefinite one gives the list of all that it finds.
 */
final class JsonPath {
  /** A path that is none, or a value that is not there. */
  static final class PathException extends RuntimeException {
    PathException(String message) {
      super(message);
    }
  }

  /** One step of a path. */
  interface Step {
    boolean definite();

    /** Whether `..` tries this step on a value. */
    boolean fits(Object value);

    /** What it finds in a value; false where the value cannot have such a part, or lacks it. */
    boolean find(Object value, boolean last, Consumer<Object> found);
  }

  private final List<Step> steps;
  private final boolean definite;

  JsonPath(List<Step> steps) {
    this.steps = steps;
    this.definite = steps.stream().allMatch(Step::definite);
  }

  /**
   * The value at this path.
   *
   * @param lax whether what is not there is null rather than a failure
   * @throws PathException what is not there
   */
  Object read(Object root, boolean lax) {
    List<Object> found = new ArrayList<>();
    evaluate(root, 0, true, lax, found);
    if (!definite) {
      return found;
    }
    if (!found.isEmpty()) {
      return found.get(found.size() - 1);
    }
    if (lax) {
      return null;
    }
    throw new PathException("nothing at this JSON path");
  }

  private void evaluate(
      Object value, int at, boolean definiteSoFar, boolean lax, List<Object> found) {
    if (at == steps.size()) {
      found.add(value);
      return;
    }
    Step step = steps.get(at);
    boolean definiteHere = definiteSoFar && step.definite();
    if (step instanceof Descend) {
      descend(value, at, lax, found);
      return;
    }
    boolean last = at == steps.size() - 1;
    boolean applies =
        step.find(value, last, next -> evaluate(next, at + 1, definiteHere, lax, found));
    if (!applies && definiteSoFar && !lax) {
      throw new PathException("nothing at this JSON path");
    }
  }

  private void descend(Object value, int at, boolean lax, List<Object> found) {
    if (steps.get(at + 1).fits(value)) {
      evaluate(value, at + 1, false, lax, found);
    }
    if (value instanceof Map) {
      ((Map<?, ?>) value).values().forEach(child -> descend(child, at, lax, found));
    } else if (value instanceof List) {
      ((List<?>) value).forEach(child -> descend(child, at, lax, found));
    }
  }

  /** `..`: the next step everywhere below. */
  static final class Descend implements Step {
    @Override
    public boolean definite() {
      return false;
    }

    @Override
    public boolean fits(Object value) {
      return false;
    }

    @Override
    public boolean find(Object value, boolean last, Consumer<Object> found) {
      return false;
    }
  }

  /** `.name`, `['name']` or several names; several at the end give one object. */
  static final class Names implements Step {
    private final List<String> names;
    private final boolean atEnd;

    Names(List<String> names, boolean atEnd) {
      this.names = names;
      this.atEnd = atEnd;
    }

    @Override
    public boolean definite() {
      return names.size() == 1 || atEnd;
    }

    @Override
    public boolean fits(Object value) {
      return value instanceof Map
          && (!definite() || ((Map<?, ?>) value).keySet().containsAll(names));
    }

    @Override
    public boolean find(Object value, boolean last, Consumer<Object> found) {
      if (!(value instanceof Map)) {
        return false;
      }
      Map<?, ?> object = (Map<?, ?>) value;
      if (names.size() > 1 && last) {
        Map<String, Object> merged = new LinkedHashMap<>();
        names.stream().filter(object::containsKey).forEach(n -> merged.put(n, object.get(n)));
        found.accept(merged);
      } else {
        names.stream().filter(object::containsKey).map(object::get).forEach(found);
      }
      return last || names.size() > 1 || object.containsKey(names.get(0));
    }
  }

  /** `[0]`, `[-1]`, `[0,2]`. */
  static final class Indexes implements Step {
    private final List<Integer> indexes;

    Indexes(List<Integer> indexes) {
      this.indexes = indexes;
    }

    @Override
    public boolean definite() {
      return indexes.size() == 1;
    }

    @Override
    public boolean fits(Object value) {
      return value instanceof List;
    }

    @Override
    public boolean find(Object value, boolean last, Consumer<Object> found) {
      if (!(value instanceof List)) {
        return false;
      }
      indexes.forEach(index -> at((List<?>) value, index, found));
      return true;
    }

    static void at(List<?> list, int index, Consumer<Object> found) {
      int position = index < 0 ? list.size() + index : index;
      if (position >= 0 && position < list.size()) {
        found.accept(list.get(position));
      }
    }
  }

  /** `[from:to]`, either end may be missing. */
  static final class Slice implements Step {
    private final Integer from;
    private final Integer to;

    Slice(Integer from, Integer to) {
      this.from = from;
      this.to = to;
    }

    @Override
    public boolean definite() {
      return false;
    }

    @Override
    public boolean fits(Object value) {
      return value instanceof List;
    }

    @Override
    public boolean find(Object value, boolean last, Consumer<Object> found) {
      if (!(value instanceof List)) {
        return false;
      }
      List<?> list = (List<?>) value;
      int start = from == null ? 0 : from;
      int end = to == null ? list.size() : to;
      if (from == null && end < 0) {
        end += list.size();
      }
      if (to == null && start < 0) {
        start = Math.max(0, start + list.size());
      }
      // With both ends given a negative start counts on as written, as in Jayway's library.
      for (int i = start; i < Math.min(end, list.size()) && !list.isEmpty(); i++) {
        Indexes.at(list, i, found);
      }
      return true;
    }
  }

  /** `.*` or `[*]`. */
  static final class Wildcard implements Step {
    @Override
    public boolean definite() {
      return false;
    }

    @Override
    public boolean fits(Object value) {
      return true;
    }

    @Override
    public boolean find(Object value, boolean last, Consumer<Object> found) {
      if (value instanceof Map) {
        ((Map<?, ?>) value).values().forEach(found);
      } else if (value instanceof List) {
        ((List<?>) value).forEach(found);
      }
      return true;
    }
  }
}
