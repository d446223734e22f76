package io.streamtable.functions;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Declares a static method that Spark SQL calls as `flink_` plus its name in snake_case. Of
 * overloaded methods, only the first has the annotation.
 *
 * <p>A method of {@link Rows} also receives the type of its last argument, a row.
 */
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
@interface SqlFunction {
  /** Returns the type of the result, in Spark DDL. */
  String value();

  /**
   * Returns whether the method is called with NULLs; if not, a NULL argument makes the result NULL.
   */
  boolean takesNulls() default false;

  /** Returns false if Spark must call the method again for each row. */
  boolean deterministic() default true;
}
