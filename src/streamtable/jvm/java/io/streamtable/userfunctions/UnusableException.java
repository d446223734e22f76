package io.streamtable.userfunctions;

/** A function that cannot be used; the message says why, for the user. */
final class UnusableException extends RuntimeException {
  UnusableException(String message) {
    super(message);
  }
}
