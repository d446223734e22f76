package io.streamtable.codec.registry;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.streamtable.codec.Texts;
import java.net.URLEncoder;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;

/**
 * Reads and registers schemas in a Confluent-compatible registry. There is one object per
 * registry and JVM, so that an executor fetches a schema only once for all tasks and batches. The
 * schema of an id never changes.
 */
public final class SchemaRegistry {
  private static final Map<Map<String, String>, SchemaRegistry> BY_SETTINGS =
      new ConcurrentHashMap<>();
  private static final ObjectMapper MAPPER = new ObjectMapper();
  private static final String PREFIX = "registry.";
  private static final int OK = 200;
  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;

  private final RegistryClient client;
  private final Map<Integer, Schema> byId = new ConcurrentHashMap<>();
  private final Map<Integer, SchemaText> textById = new ConcurrentHashMap<>();

  private SchemaRegistry(Map<String, String> settings) {
    client = new RegistryClient(settings);
  }

  /** Returns the settings of the registry in a codec's parameters: {@code registry.<setting>}. */
  public static Map<String, String> settingsOf(Map<String, String> parameters) {
    Map<String, String> settings = new HashMap<>();
    parameters.forEach(
        (key, value) -> {
          if (key.startsWith(PREFIX)) {
            settings.put(key.substring(PREFIX.length()), value);
          }
        });
    return settings;
  }

  /** Returns the registry of these settings; see {@link RegistryClient}. */
  public static SchemaRegistry of(Map<String, String> settings) {
    return BY_SETTINGS.computeIfAbsent(Map.copyOf(settings), SchemaRegistry::new);
  }

  /** Returns the Avro schema of an id. Throws a RegistryFault on errors. */
  public Schema schema(int id) {
    return byId.computeIfAbsent(id, this::fetch);
  }

  /**
   * Returns the schema of an id, with its references. Throws a RegistryFault on errors, and a
   * definite one if the schema has another type.
   */
  public SchemaText text(int id, String type) {
    SchemaText found = textById.computeIfAbsent(id, this::fetchText);
    checkType(found.type(), type);
    return found;
  }

  /**
   * Throws the errors that {@link #register} would throw, and changes nothing. It succeeds if the
   * schema is registered already, the subject is new, or its compatibility allows the schema.
   */
  public void check(String subject, SchemaText schema) {
    String body = bodyOf(schema);
    if (client.send("/subjects/" + encoded(subject), body).statusCode() == OK) {
      return;
    }
    String path = "/compatibility/subjects/" + encoded(subject) + "/versions/latest?verbose=true";
    HttpResponse<String> answer = client.send(path, body);
    if (lacks(answer)) {
      return;
    }
    JsonNode found = checked(answer);
    if (!found.path("is_compatible").asBoolean()) {
      String why = found.path("messages").path(0).asText("it is not compatible with the latest one");
      throw new RegistryFault(
          RegistryFault.INCOMPATIBLE, subject, Texts.shorten(why.replaceAll("\\s+", " ")));
    }
  }

  /**
   * Registers a schema, or finds it registered, and returns its id. Throws a RegistryFault on
   * errors.
   */
  public int register(String subject, SchemaText schema) {
    String path = "/subjects/" + encoded(subject) + "/versions";
    HttpResponse<String> answer = client.send(path, bodyOf(schema));
    if (answer.statusCode() == CONFLICT) {
      throw new RegistryFault(RegistryFault.INCOMPATIBLE, subject, reason(answer));
    }
    return checked(answer).path("id").asInt();
  }

  private static String bodyOf(SchemaText schema) {
    ObjectNode body = MAPPER.createObjectNode().put("schema", schema.text());
    if (!schema.type().equals(SchemaText.AVRO)) { // registries before types know only Avro
      body.put("schemaType", schema.type());
    }
    return body.toString();
  }

  private SchemaText fetchText(int id) {
    JsonNode found = checked(client.send("/schemas/ids/" + id, null));
    Map<String, String> references = new LinkedHashMap<>();
    addReferences(found, references);
    return new SchemaText(typeOf(found), found.path("schema").asText(), references);
  }

  private void addReferences(JsonNode found, Map<String, String> texts) {
    for (JsonNode reference : found.path("references")) {
      String name = reference.path("name").asText();
      if (!texts.containsKey(name)) {
        JsonNode referred = referred(reference);
        texts.put(name, referred.path("schema").asText());
        addReferences(referred, texts);
      }
    }
  }

  private JsonNode referred(JsonNode reference) {
    String subject = encoded(reference.path("subject").asText());
    String version = "/versions/" + reference.path("version").asInt();
    return checked(client.send("/subjects/" + subject + version, null));
  }

  private Schema fetch(int id) {
    JsonNode found = checked(client.send("/schemas/ids/" + id, null));
    try {
      // As in Confluent's client: a reader needs no default of the writer.
      Schema.Parser parser = new Schema.Parser().setValidateDefaults(false);
      return parse(found, parser, new HashSet<>());
    } catch (AvroRuntimeException e) {
      String why = Texts.shorten(e.getMessage());
      throw RegistryFault.definite(client.address(), "schema " + id + " is not to be read: " + why);
    }
  }

  /** Parses a schema after its references, which have their own subjects. */
  private Schema parse(JsonNode found, Schema.Parser parser, Set<String> known) {
    checkType(typeOf(found), SchemaText.AVRO);
    for (JsonNode reference : found.path("references")) {
      if (known.add(reference.path("name").asText())) {
        parse(referred(reference), parser, known);
      }
    }
    return parser.parse(found.path("schema").asText());
  }

  private JsonNode checked(HttpResponse<String> answer) {
    if (lacks(answer)) {
      throw RegistryFault.definite(client.address(), reason(answer));
    }
    if (answer.statusCode() != OK) {
      throw failed(reason(answer));
    }
    try {
      return MAPPER.readTree(answer.body());
    } catch (JsonProcessingException e) {
      throw failed("it does not answer in JSON; is the address that of its API?");
    }
  }

  /**
   * Returns whether the registry says that it has no such schema or subject. A proxy in front of it
   * also answers with 404, but not with the registry's error codes.
   */
  private static boolean lacks(HttpResponse<String> answer) {
    if (answer.statusCode() != NOT_FOUND) {
      return false;
    }
    try {
      return MAPPER.readTree(answer.body()).path("error_code").asInt() / 100 == NOT_FOUND;
    } catch (JsonProcessingException e) {
      return false;
    }
  }

  private void checkType(String found, String wanted) {
    if (!found.equals(wanted)) {
      String reason = "the schema is of the type " + found + ", not " + wanted;
      throw RegistryFault.definite(client.address(), reason);
    }
  }

  private static String typeOf(JsonNode found) {
    return found.path("schemaType").asText(SchemaText.AVRO);
  }

  /** Returns the registry's error message, if there is one. */
  private static String reason(HttpResponse<String> answer) {
    String status = "HTTP " + answer.statusCode();
    try {
      String said = MAPPER.readTree(answer.body()).path("message").asText();
      return said.isEmpty() ? status : said.replaceAll("\\s+", " ") + " (" + status + ")";
    } catch (JsonProcessingException e) {
      return status;
    }
  }

  private RegistryFault failed(String reason) {
    return new RegistryFault(RegistryFault.FAILED, client.address(), reason);
  }

  private static String encoded(String subject) {
    return URLEncoder.encode(subject, StandardCharsets.UTF_8).replace("+", "%20");
  }
}
