package io.streamtable.lookup;

import java.io.Serializable;

/**
 * The settings of a {@link LookupCache}.
 *
 * @param maxRows largest number of keys; -1 for no limit
 * @param afterWriteMs lifetime of a key after it was stored; -1 for no limit
 * @param afterAccessMs lifetime of a key after its last use; -1 for no limit
 * @param missingKeys whether keys without rows are stored
 */
public record CacheSpec(long maxRows, long afterWriteMs, long afterAccessMs, boolean missingKeys)
    implements Serializable {}
