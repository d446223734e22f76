package io.streamtable.userfunctions;

import java.io.Serializable;
import java.util.List;

/**
 * The method of a function that a call uses.
 *
 * @param name name of the function in the script, for messages
 * @param className the class of the function
 * @param parameters classes of the parameters of its method `eval`
 * @param spread whether the last parameter is an array of the remaining arguments
 * @param in the class of each argument, "" for the default class of its type; the last one holds
 *     for further arguments
 * @param table whether it is a table function
 */
record Signature(
    String name,
    String className,
    List<String> parameters,
    boolean spread,
    List<String> in,
    boolean table)
    implements Serializable {}
