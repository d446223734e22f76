package io.streamtable.codec.registry;

import java.io.File;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/** Loads keys and certificates for requests to a schema registry from store files. */
final class RegistryTls {
  private static final String OWN = "ssl.keystore";
  private static final String TRUSTED = "ssl.truststore";

  private RegistryTls() {}

  /** Returns the TLS context of the settings, or null if Java's default applies. */
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
      X509TrustManager manager = (X509TrustManager) trust.getTrustManagers()[0];
      if (manager.getAcceptedIssuers().length == 0) { // PKCS12 encrypts its certificates
        throw new IOException(TRUSTED + " has no certificate that can be read; set its password");
      }
    }
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(
        keys == null ? null : keys.getKeyManagers(),
        trust == null ? null : trust.getTrustManagers(),
        null);
    return context;
  }

  /**
   * Loads a store from a file. Its type is detected from the file, unless the settings define it.
   */
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

  /** Returns the password of a store, or null: the certificates are then read unchecked. */
  private static char[] password(Map<String, String> settings, String name) {
    String password = settings.get(name + ".password");
    return password == null ? null : password.toCharArray();
  }
}
