package io.streamtable.codec.protobuf;

import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.DescriptorProtos;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import io.streamtable.codec.SchemaFault;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Links the files of a schema, and finds messages by Java's or protobuf's name. */
final class ProtoSchemas {
  private static final String FILE = "schema.proto";

  private final Map<String, FileDescriptorProto> files;
  private final Map<String, FileDescriptor> linked = new HashMap<>();

  private ProtoSchemas(Map<String, FileDescriptorProto> files) {
    this.files = files;
  }

  /**
   * Returns the message that a codec's parameters name: message, and either text, a .proto text, or
   * descriptors, a FileDescriptorSet in base64. Without a name, it is the first message of the
   * text. Throws a SchemaFault with the reason.
   */
  static Descriptor message(Map<String, String> parameters) {
    Map<String, FileDescriptorProto> files = new LinkedHashMap<>();
    if (parameters.containsKey("text")) {
      files.put(FILE, ProtoText.compile(FILE, parameters.get("text")));
    } else {
      byte[] bytes = Base64.getDecoder().decode(parameters.get("descriptors"));
      try {
        FileDescriptorSet.parseFrom(bytes).getFileList().forEach(f -> files.put(f.getName(), f));
      } catch (InvalidProtocolBufferException e) {
        throw new SchemaFault("the file is not a descriptor set of protoc");
      }
    }
    String name = parameters.get("message");
    ProtoSchemas schemas = new ProtoSchemas(files);
    return name == null ? schemas.first() : schemas.find(name);
  }

  /**
   * Returns the message of a schema in a registry. Throws a SchemaFault with the reason.
   *
   * @param text the .proto text
   * @param imports texts of imported files by their names
   * @param path the place of the message among those of the file, then of the message around it
   */
  static Descriptor message(String text, Map<String, String> imports, List<Integer> path) {
    Map<String, FileDescriptorProto> files = new LinkedHashMap<>();
    files.put(FILE, ProtoText.compile(FILE, text));
    imports.forEach((name, imported) -> files.put(name, ProtoText.compile(name, imported)));
    List<Descriptor> messages = new ProtoSchemas(files).link(FILE).getMessageTypes();
    Descriptor found = null;
    for (int place : path) {
      if (place < 0 || place >= messages.size()) {
        throw new SchemaFault("it has no message at the indexes " + path);
      }
      found = messages.get(place);
      messages = found.getNestedTypes();
    }
    return found;
  }

  /** Returns the path of a message as {@link #message(String, Map, List)} takes it. */
  static List<Integer> path(Descriptor message) {
    List<Integer> path = new ArrayList<>();
    for (Descriptor d = message; d != null; d = d.getContainingType()) {
      path.add(0, d.getIndex());
    }
    return path;
  }

  private Descriptor first() {
    List<Descriptor> messages = link(FILE).getMessageTypes();
    if (messages.isEmpty()) {
      throw new SchemaFault("it has no message");
    }
    return messages.get(0);
  }

  private Descriptor find(String name) {
    List<String> known = new ArrayList<>();
    for (String file : files.keySet()) {
      FileDescriptor descriptor = link(file);
      for (Descriptor message : descriptor.getMessageTypes()) {
        Descriptor found = find(message, name, known);
        if (found != null) {
          return found;
        }
      }
    }
    throw new SchemaFault(
        "it has no message '" + name + "'; it has " + String.join(", ", known));
  }

  private static Descriptor find(Descriptor message, String name, List<String> known) {
    known.add(message.getFullName());
    if (name.equals(message.getFullName()) || isJavaName(message, name)) {
      return message;
    }
    for (Descriptor nested : message.getNestedTypes()) {
      Descriptor found = nested.getOptions().getMapEntry() ? null : find(nested, name, known);
      if (found != null) {
        return found;
      }
    }
    return null;
  }

  /**
   * Returns whether protoc gives the message's Java class this name. The outer class is only
   * compared where the file names it: otherwise it depends on the name of the file.
   */
  private static boolean isJavaName(Descriptor message, String name) {
    FileDescriptor file = message.getFile();
    DescriptorProtos.FileOptions options = file.getOptions();
    String packageName = options.hasJavaPackage() ? options.getJavaPackage() : file.getPackage();
    String prefix = packageName.isEmpty() ? "" : packageName + ".";
    String path = message.getName();
    for (Descriptor d = message.getContainingType(); d != null; d = d.getContainingType()) {
      path = d.getName() + "$" + path;
    }
    if (options.getJavaMultipleFiles()) {
      return name.equals(prefix + path);
    }
    if (options.hasJavaOuterClassname()) {
      return name.equals(prefix + options.getJavaOuterClassname() + "$" + path);
    }
    return name.startsWith(prefix)
        && name.substring(prefix.length()).matches("\\w+\\$" + java.util.regex.Pattern.quote(path));
  }

  private FileDescriptor link(String name) {
    FileDescriptor known = linked.get(name);
    if (known != null) {
      return known;
    }
    FileDescriptorProto file = files.get(name);
    if (file == null) {
      FileDescriptor found = KnownFiles.find(name);
      if (found == null) {
        throw new SchemaFault(
            "the imported file '" + name + "' is missing; protoc adds it with --include_imports");
      }
      return found;
    }
    FileDescriptor[] imports =
        file.getDependencyList().stream().map(this::link).toArray(FileDescriptor[]::new);
    try {
      FileDescriptor built = FileDescriptor.buildFrom(file, imports);
      linked.put(name, built);
      return built;
    } catch (DescriptorValidationException e) {
      throw new SchemaFault(e.getMessage());
    }
  }
}
