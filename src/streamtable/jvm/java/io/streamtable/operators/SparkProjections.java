package io.streamtable.operators;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.NamedExpression;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import scala.collection.immutable.Seq;
import scala.jdk.javaapi.CollectionConverters;

/**
 * The projections of an optimized plan, applied to single rows. The optimizer adds a projection for
 * a common subexpression, so a plan may have several.
 */
public final class SparkProjections implements Serializable {
  private record Step(Seq<Expression> outputs, Seq<Attribute> columns) implements Serializable {}

  private final ArrayList<Step> steps;
  private transient List<UnsafeProjection> opened;

  private SparkProjections(ArrayList<Step> steps) {
    this.steps = steps;
  }

  /** Returns the projections of a plan that has only projections over one leaf. */
  public static SparkProjections of(LogicalPlan plan) {
    ArrayList<Step> steps = new ArrayList<>();
    LogicalPlan at = plan;
    while (at instanceof Project project) {
      List<Expression> outputs = new ArrayList<>();
      for (NamedExpression named : CollectionConverters.asJava(project.projectList())) {
        outputs.add((Expression) named);
      }
      steps.add(new Step(CollectionConverters.asScala(outputs).toSeq(), project.child().output()));
      at = project.child();
    }
    if (!at.children().isEmpty()) {
      throw new IllegalArgumentException("no projection: " + at.nodeName());
    }
    Collections.reverse(steps);
    return new SparkProjections(steps);
  }

  /** Compiles the projections for one task. */
  public void open() {
    opened = new ArrayList<>();
    for (Step step : steps) {
      UnsafeProjection projection = UnsafeProjection.create(step.outputs(), step.columns());
      projection.initialize(0);
      opened.add(projection);
    }
  }

  /** Returns the output, which the next call overwrites; the row itself without projections. */
  public InternalRow apply(InternalRow row) {
    InternalRow current = row;
    for (UnsafeProjection projection : opened) {
      current = projection.apply(current);
    }
    return current;
  }
}
