package io.streamtable.codec.protobuf;

import com.google.protobuf.DescriptorProtos.DescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumDescriptorProto;
import com.google.protobuf.DescriptorProtos.EnumOptions;
import com.google.protobuf.DescriptorProtos.EnumValueDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Label;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto.Type;
import com.google.protobuf.DescriptorProtos.FieldDescriptorProto;
import com.google.protobuf.DescriptorProtos.FieldOptions;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileOptions;
import com.google.protobuf.DescriptorProtos.MessageOptions;
import com.google.protobuf.DescriptorProtos.OneofDescriptorProto;
import com.squareup.wire.schema.Field;
import com.squareup.wire.schema.Location;
import com.squareup.wire.schema.internal.parser.EnumConstantElement;
import com.squareup.wire.schema.internal.parser.EnumElement;
import com.squareup.wire.schema.internal.parser.FieldElement;
import com.squareup.wire.schema.internal.parser.GroupElement;
import com.squareup.wire.schema.internal.parser.MessageElement;
import com.squareup.wire.schema.internal.parser.OneOfElement;
import com.squareup.wire.schema.internal.parser.OptionElement;
import com.squareup.wire.schema.internal.parser.ProtoFileElement;
import com.squareup.wire.schema.internal.parser.ProtoParser;
import com.squareup.wire.schema.internal.parser.TypeElement;
import io.streamtable.codec.SchemaFault;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Compiles a .proto text to the descriptor that protoc would make, without comments, services,
 * extensions, and options that do not affect how records are read and written. Wire parses the
 * text, and protobuf's own linker resolves the names of types.
 */
final class ProtoText {
  private static final Map<String, Type> SCALARS = new TreeMap<>();

  static {
    for (Type type : Type.values()) {
      if (type != Type.TYPE_GROUP && type != Type.TYPE_MESSAGE && type != Type.TYPE_ENUM) {
        SCALARS.put(type.name().substring("TYPE_".length()).toLowerCase(java.util.Locale.ROOT), type);
      }
    }
  }

  private final boolean isProto3;

  private ProtoText(boolean isProto3) {
    this.isProto3 = isProto3;
  }

  /** Returns the descriptor of a text. Throws a SchemaFault with the reason. */
  static FileDescriptorProto compile(String name, String text) {
    ProtoFileElement file;
    try {
      file = ProtoParser.Companion.parse(Location.Companion.get(name), text);
    } catch (IllegalStateException e) {
      throw new SchemaFault(e.getMessage());
    }
    String syntax = file.getSyntax() == null ? "proto2" : file.getSyntax().toString();
    if (!syntax.equals("proto2") && !syntax.equals("proto3")) {
      throw new SchemaFault(
          name + " has edition " + syntax + "; only proto2 and proto3 are compiled from text");
    }
    return new ProtoText(syntax.equals("proto3")).file(name, file);
  }

  private FileDescriptorProto file(String name, ProtoFileElement file) {
    FileDescriptorProto.Builder built = FileDescriptorProto.newBuilder().setName(name);
    if (isProto3) {
      built.setSyntax("proto3");
    }
    if (file.getPackageName() != null) {
      built.setPackage(file.getPackageName());
    }
    List<String> imports = file.getImports();
    built.addAllDependency(imports);
    for (String one : file.getPublicImports()) {
      built.addPublicDependency(built.getDependencyCount()).addDependency(one);
    }
    FileOptions.Builder options = FileOptions.newBuilder();
    for (OptionElement option : file.getOptions()) {
      switch (option.getName()) {
        case "java_package" -> options.setJavaPackage(textOf(option));
        case "java_outer_classname" -> options.setJavaOuterClassname(textOf(option));
        case "java_multiple_files" -> options.setJavaMultipleFiles(isTrue(option));
        default -> { } // does not affect records
      }
    }
    if (!options.build().equals(FileOptions.getDefaultInstance())) {
      built.setOptions(options);
    }
    for (TypeElement type : file.getTypes()) {
      if (type instanceof MessageElement message) {
        built.addMessageType(message(message));
      } else {
        built.addEnumType(enumeration((EnumElement) type));
      }
    }
    return built.build();
  }

  private DescriptorProto message(MessageElement message) {
    DescriptorProto.Builder built = DescriptorProto.newBuilder().setName(message.getName());
    for (TypeElement type : message.getNestedTypes()) {
      if (type instanceof MessageElement nested) {
        built.addNestedType(message(nested));
      } else {
        built.addEnumType(enumeration((EnumElement) type));
      }
    }
    for (FieldElement field : message.getFields()) {
      built.addField(field(field, built));
    }
    for (GroupElement group : message.getGroups()) {
      built.addField(group(group, built));
    }
    for (OneOfElement oneof : message.getOneOfs()) {
      int index = built.getOneofDeclCount();
      built.addOneofDecl(OneofDescriptorProto.newBuilder().setName(oneof.getName()));
      for (FieldElement field : oneof.getFields()) {
        built.addField(field(field, built).setOneofIndex(index));
      }
      for (GroupElement group : oneof.getGroups()) {
        built.addField(group(group, built).setOneofIndex(index));
      }
    }
    // The oneofs of proto3's optional fields come last, as the linker requires.
    for (FieldDescriptorProto.Builder field : built.getFieldBuilderList()) {
      if (field.getProto3Optional()) {
        field.setOneofIndex(built.getOneofDeclCount());
        built.addOneofDecl(OneofDescriptorProto.newBuilder().setName("_" + field.getName()));
      }
    }
    return built.build();
  }

  private FieldDescriptorProto.Builder field(FieldElement field, DescriptorProto.Builder message) {
    FieldDescriptorProto.Builder built =
        FieldDescriptorProto.newBuilder().setName(field.getName()).setNumber(field.getTag());
    built.setLabel(label(field.getLabel()));
    if (isProto3 && field.getLabel() == Field.Label.OPTIONAL) {
      built.setProto3Optional(true);
    }
    if (field.getType().startsWith("map<")) {
      DescriptorProto entry = entry(field);
      message.addNestedType(entry);
      return built.setLabel(Label.LABEL_REPEATED).setType(Type.TYPE_MESSAGE).setTypeName(entry.getName());
    }
    type(built, field.getType());
    if (field.getDefaultValue() != null) {
      built.setDefaultValue(field.getDefaultValue());
    }
    if (field.getJsonName() != null) {
      built.setJsonName(field.getJsonName());
    }
    for (OptionElement option : field.getOptions()) {
      if (option.getName().equals("packed")) {
        built.setOptions(FieldOptions.newBuilder().setPacked(isTrue(option)));
      }
    }
    return built;
  }

  private FieldDescriptorProto.Builder group(GroupElement group, DescriptorProto.Builder message) {
    DescriptorProto.Builder nested = DescriptorProto.newBuilder().setName(group.getName());
    for (FieldElement field : group.getFields()) {
      nested.addField(field(field, nested));
    }
    message.addNestedType(nested);
    return FieldDescriptorProto.newBuilder()
        .setName(group.getName().toLowerCase(java.util.Locale.ROOT))
        .setNumber(group.getTag())
        .setLabel(label(group.getLabel()))
        .setType(Type.TYPE_GROUP)
        .setTypeName(group.getName());
  }

  private static Label label(Field.Label label) {
    if (label == Field.Label.REPEATED) {
      return Label.LABEL_REPEATED;
    }
    return label == Field.Label.REQUIRED ? Label.LABEL_REQUIRED : Label.LABEL_OPTIONAL;
  }

  /** Returns the message of a map's entries, with the name that protoc gives it. */
  private static DescriptorProto entry(FieldElement field) {
    String inner = field.getType().substring("map<".length(), field.getType().length() - 1);
    String[] types = inner.split(",", 2);
    FieldDescriptorProto.Builder key =
        FieldDescriptorProto.newBuilder().setName("key").setNumber(1).setLabel(Label.LABEL_OPTIONAL);
    FieldDescriptorProto.Builder value =
        FieldDescriptorProto.newBuilder().setName("value").setNumber(2).setLabel(Label.LABEL_OPTIONAL);
    type(key, types[0].strip());
    type(value, types[1].strip());
    return DescriptorProto.newBuilder()
        .setName(camelCase(field.getName()) + "Entry")
        .addField(key)
        .addField(value)
        .setOptions(MessageOptions.newBuilder().setMapEntry(true))
        .build();
  }

  private static void type(FieldDescriptorProto.Builder field, String type) {
    Type scalar = SCALARS.get(type);
    if (scalar == null) {
      field.setTypeName(type); // the linker finds out whether it is a message or an enum
    } else {
      field.setType(scalar);
    }
  }

  private static EnumDescriptorProto enumeration(EnumElement element) {
    List<EnumValueDescriptorProto> values = new ArrayList<>();
    for (EnumConstantElement value : element.getConstants()) {
      values.add(
          EnumValueDescriptorProto.newBuilder()
              .setName(value.getName())
              .setNumber(value.getTag())
              .build());
    }
    EnumDescriptorProto.Builder built =
        EnumDescriptorProto.newBuilder().setName(element.getName()).addAllValue(values);
    for (OptionElement option : element.getOptions()) {
      if (option.getName().equals("allow_alias")) {
        built.setOptions(EnumOptions.newBuilder().setAllowAlias(isTrue(option)));
      }
    }
    return built.build();
  }

  private static String camelCase(String name) {
    StringBuilder camel = new StringBuilder();
    boolean isStart = true;
    for (char c : name.toCharArray()) {
      if (c == '_') {
        isStart = true;
      } else {
        camel.append(isStart ? Character.toUpperCase(c) : c);
        isStart = false;
      }
    }
    return camel.toString();
  }

  private static String textOf(OptionElement option) {
    return String.valueOf(option.getValue());
  }

  private static boolean isTrue(OptionElement option) {
    return textOf(option).equals("true");
  }
}
