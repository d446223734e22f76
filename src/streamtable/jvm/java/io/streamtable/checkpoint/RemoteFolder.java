package io.streamtable.checkpoint;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.apache.hadoop.fs.Path;

/** A folder in a checkpoint that this process holds. */
final class RemoteFolder implements CheckpointFolder {
  private final RemoteStore store;
  private final Path folder;

  RemoteFolder(RemoteStore store, Path folder) {
    this.store = store;
    this.folder = folder;
  }

  @Override
  public String read(String name) throws IOException {
    try {
      return new String(store.read(path(name)), StandardCharsets.UTF_8);
    } catch (FileNotFoundException e) {
      return null;
    }
  }

  @Override
  public void write(String name, String text) throws IOException {
    store.write(path(name), text);
  }

  @Override
  public void delete(String name) throws IOException {
    store.delete(path(name));
  }

  @Override
  public List<String> list() throws IOException {
    return store.list(folder.toString());
  }

  private String path(String name) {
    return new Path(folder, name).toString();
  }
}
