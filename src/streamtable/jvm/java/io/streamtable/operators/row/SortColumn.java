package io.streamtable.operators.row;

/** One column of a sort order, by its position without the row kind. */
public record SortColumn(int position, boolean descending, boolean nullsFirst) {}
