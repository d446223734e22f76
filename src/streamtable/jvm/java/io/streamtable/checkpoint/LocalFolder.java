package io.streamtable.checkpoint;

import io.streamtable.query.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A folder on a local disk. */
final class LocalFolder implements CheckpointFolder {
  private final Path folder;

  LocalFolder(Path folder) throws IOException {
    this.folder = Files.createDirectories(folder);
  }

  @Override
  public String read(String name) throws IOException {
    try {
      return Files.readString(folder.resolve(name));
    } catch (NoSuchFileException e) {
      return null;
    }
  }

  @Override
  public void write(String name, String text) throws IOException {
    Path draft = folder.resolve("." + name + ".draft");
    Files.writeString(draft, text);
    DurableFiles.rename(draft, folder.resolve(name));
  }

  @Override
  public void delete(String name) throws IOException {
    Files.delete(folder.resolve(name));
  }

  @Override
  public List<String> list() throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }
}
