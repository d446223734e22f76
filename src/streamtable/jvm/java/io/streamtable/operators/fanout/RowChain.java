package io.streamtable.operators.fanout;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.BasePredicate;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.Predicate;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LocalRelation;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The filters and projections of a query, applied to single rows in their order. Each step is
 * Spark's generated code of expressions that Spark has resolved and optimized.
 */
final class RowChain implements Serializable {
  /** A filter or, without a condition, a projection. */
  private record Step(Expression condition, Seq<Expression> outputs, Seq<Attribute> columns)
      implements Serializable {}

  private final ArrayList<Step> steps;
  private final int width;
  private transient BasePredicate[] predicates;
  private transient MutableProjection[] projections;
  private transient InternalRow[] buffers;

  private RowChain(ArrayList<Step> steps, int width) {
    this.steps = steps;
    this.width = width;
  }

  /**
   * Returns the steps of an optimized plan of filters and projections over one leaf; null if Spark
   * has found that the plan gives no rows.
   */
  static RowChain of(LogicalPlan plan) {
    ArrayList<Step> steps = new ArrayList<>();
    // The result is a new row: its last step is always a projection.
    if (!(plan instanceof Project)) {
      steps.add(projection(plan.output(), plan));
    }
    LogicalPlan at = plan;
    for (; !at.children().isEmpty(); at = at.children().head()) {
      if (at instanceof Filter filter) {
        steps.add(new Step(filter.condition(), null, filter.child().output()));
      } else if (at instanceof Project project) {
        steps.add(projection(project.projectList(), project.child()));
      } else {
        throw new IllegalArgumentException("no filter or projection: " + at.nodeName());
      }
    }
    if (at instanceof LocalRelation) {
      return null;
    }
    Collections.reverse(steps);
    return new RowChain(steps, plan.output().size());
  }

  private static Step projection(Seq<? extends NamedExpression> outputs, LogicalPlan below) {
    List<Expression> expressions = new ArrayList<>();
    for (NamedExpression output : CollectionConverters.asJava(outputs)) {
      expressions.add((Expression) output);
    }
    return new Step(null, CollectionConverters.asScala(expressions).toSeq(), below.output());
  }

  /** Compiles the steps for one task. */
  void open(int task) {
    predicates = new BasePredicate[steps.size()];
    projections = new MutableProjection[steps.size()];
    buffers = new InternalRow[steps.size()];
    for (int i = 0; i < steps.size(); i++) {
      Step step = steps.get(i);
      if (step.condition() != null) {
        predicates[i] = Predicate.create(step.condition(), step.columns());
        predicates[i].initialize(task);
      } else {
        projections[i] = MutableProjection.create(step.outputs(), step.columns());
        projections[i].initialize(task);
        buffers[i] = new GenericInternalRow(step.outputs().size());
      }
    }
  }

  /**
   * Returns a new row for an input row, with the number in an additional last column; null if a
   * filter drops the row.
   */
  InternalRow apply(InternalRow input, int number) {
    InternalRow row = input;
    int last = steps.size() - 1;
    for (int i = 0; i <= last; i++) {
      if (predicates[i] != null) {
        if (!predicates[i].eval(row)) {
          return null;
        }
        continue;
      }
      InternalRow target = i == last ? new GenericInternalRow(width + 1) : buffers[i];
      projections[i].target(target);
      projections[i].apply(row);
      row = target;
    }
    row.setInt(width, number);
    return row;
  }
}
