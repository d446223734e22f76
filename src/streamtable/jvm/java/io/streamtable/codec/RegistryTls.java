package io.streamtable.codec;

import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** Keys and certificates for requests to a schema registry, out of stores in files. */
final class RegistryTls {
  private static final String OWN = "ssl.keystore";
  private static final String TRUSTED = "ssl.truststore";

  private RegistryTls() {}

  /** What the settings say, or null where they leave it to Java. */
  static SSLContext context(Map<String, String> settings)
      throws GeneralSecurityException, IOException {
    KeyStore own = store(settings, OWN);
    KeyStore trusted = store(settings, TRUSTED);
    if (own == null && trusted == null) {
      return null;
    }
    KeyManagerFactory keys = null;
    if (own != null) {
      keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      String ofKey = settings.get("properties.schema.registry.ssl.key.password");
      keys.init(own, ofKey == null ? password(settings, OWN) : ofKey.toCharArray());
    }
    TrustManagerFactory trust = null;
    if (trusted != null) {
      trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(
        keys == null ? null : keys.getKeyManagers(),
        trust == null ? null : trust.getTrustManagers(),
        null);
    return context;
  }

  /** The store of a file; its type is seen from the file, unless the settings name one. */
  private static KeyStore store(Map<String, String> settings, String name)
      throws GeneralSecurityException, IOException {
    String location = settings.get(name + ".location");
    if (location == null) {
      return null;
    }
    String type = settings.get("properties.schema.registry." + name + ".type");
    KeyStore found = KeyStore.getInstance(new File(location), password(settings, name));
    if (type != null && !type.equalsIgnoreCase(found.getType())) {
      throw new IOException(name + " is of the type " + found.getType() + ", not " + type);
    }
    return found;
  }

  private static char[] password(Map<String, String> settings, String name) {
    return settings.getOrDefault(name + ".password", "").toCharArray();
  }
}
