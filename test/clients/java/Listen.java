import io.github.centrifugal.centrifuge.*;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * Subscribes to a channel and reports all that comes, one JSON object a line, until its input ends.
 *
 * <p>Arguments: the address, the connection's token, the channel, and {@code asks} to ask for the subscription's tokens, or "".
 * It is told what to do by lines on its standard input: {@code publish} with JSON, {@code queue} with JSON that it publishes
 * as soon as its connection is lost, {@code token} with one that it asked for, {@code history}, {@code presence} and
 * {@code unsubscribe}. It asserts nothing: the tests read what it prints.
 */
public final class Listen {
  public static void main(String[] arguments) throws Exception {
    Options options = new Options();
    options.setToken(arguments[1]);
    // Quick to come back, and quick to miss a ping: 3 s after it is due, instead of 10.
    options.setMinReconnectDelay(50);
    options.setMaxReconnectDelay(200);
    options.setTimeout(30_000);
    options.setMaxServerPingDelay(3_000);
    Connection connection = new Connection();
    Client client = new Client(arguments[0], options, connection);
    SubscriptionOptions wishes = new SubscriptionOptions();
    wishes.setJoinLeave(true);
    boolean asks = arguments[3].equals("asks");
    if (asks) wishes.setTokenGetter(new Asking());
    Subscription subscription = client.newSubscription(arguments[2], wishes, new Listener());
    // The SDK asks for a token before it has a connection to use it on, and then again.
    if (asks) connection.onceConnected = subscription::subscribe;
    else subscription.subscribe();
    client.connect();
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("queue ")) {
        byte[] data = line.substring(6).getBytes(StandardCharsets.UTF_8);
        connection.onceLost = () -> client.publish(arguments[2], data, Listen::reportPublished);
      } else obey(line, subscription);
    }
    client.close(10_000);
    System.exit(0);
  }

  private static void obey(String line, Subscription subscription) {
    String[] words = line.split(" ", 2);
    switch (words[0]) {
      case "publish" ->
          subscription.publish(
              words[1].getBytes(StandardCharsets.UTF_8), Listen::reportPublished);
      case "history" -> {
        HistoryOptions everything = new HistoryOptions.Builder().withLimit(-1).build();
        subscription.history(everything, Listen::reportHistory);
      }
      case "token" -> Asking.answer.Done(null, words[1]);
      case "presence" -> subscription.presence(Listen::reportPresence);
      default -> subscription.unsubscribe();
    }
  }

  private static void reportPublished(Throwable error, PublishResult result) {
    report("published", "failed", error != null);
  }

  private static void reportHistory(Throwable error, HistoryResult history) {
    List<String> all =
        history.getPublications().stream().map(one -> payload(one.getData())).toList();
    report("history", "all", new Raw("[" + String.join(",", all) + "]"), "top", history.getOffset());
  }

  private static void reportPresence(Throwable error, PresenceResult presence) {
    String users =
        presence.getClients().values().stream()
            .map(info -> quote(info.getUser()))
            .collect(Collectors.joining(","));
    report("presence", "users", new Raw("[" + users + "]"));
  }

  /** Asks the test for each token. */
  private static final class Asking extends SubscriptionTokenGetter {
    private static volatile TokenCallback answer;

    @Override
    public void getSubscriptionToken(SubscriptionTokenEvent event, TokenCallback callback) {
      answer = callback;
      report("token wanted");
    }
  }

  private static final class Connection extends EventListener {
    private Runnable onceConnected = () -> {};
    private volatile Runnable onceLost = () -> {};

    @Override
    public void onConnecting(Client client, ConnectingEvent event) {
      report("connecting", "code", event.getCode());
      onceLost.run();
      onceLost = () -> {};
    }

    @Override
    public void onConnected(Client client, ConnectedEvent event) {
      report("connected", "client", event.getClient());
      onceConnected.run();
    }

    @Override
    public void onDisconnected(Client client, DisconnectedEvent event) {
      report("disconnected", "code", event.getCode(), "reason", event.getReason());
    }
  }

  private static final class Listener extends SubscriptionEventListener {
    @Override
    public void onSubscribing(Subscription subscription, SubscribingEvent event) {
      report("subscribing", "code", event.getCode());
    }

    @Override
    public void onSubscribed(Subscription subscription, SubscribedEvent event) {
      report(
          "subscribed",
          "recoverable", event.getRecoverable(),
          "wasRecovering", event.wasRecovering(),
          "recovered", event.getRecovered());
    }

    @Override
    public void onUnsubscribed(Subscription subscription, UnsubscribedEvent event) {
      report("unsubscribed", "code", event.getCode());
    }

    @Override
    public void onPublication(Subscription subscription, PublicationEvent event) {
      Raw data = new Raw(payload(event.getData()));
      String user = event.getInfo() == null ? "" : event.getInfo().getUser();
      // The SDK sets none on what was recovered.
      Map<String, String> given = event.getTags() == null ? Map.of() : event.getTags();
      String tags =
          given.entrySet().stream()
              .map(tag -> quote(tag.getKey()) + ":" + quote(tag.getValue()))
              .collect(Collectors.joining(","));
      report(
          "publication",
          "offset", event.getOffset(),
          "data", data,
          "user", user,
          "tags", new Raw("{" + tags + "}"));
    }

    @Override
    public void onJoin(Subscription subscription, JoinEvent event) {
      String info = payload(event.getInfo().getConnInfo());
      report("join", "user", event.getInfo().getUser(), "info", new Raw(info));
    }
  }

  /** Something that is JSON already. */
  record Raw(String json) {}

  /** JSON as it is, and other bytes as a list of numbers. */
  static String payload(byte[] bytes) {
    for (byte one : bytes) {
      if (one == 0) return java.util.Arrays.toString(bytes);
    }
    return bytes.length == 0 ? "null" : new String(bytes, StandardCharsets.UTF_8);
  }

  /** Tells the test what happened: details come as a name and a value each. */
  static synchronized void report(String event, Object... details) {
    StringBuilder line = new StringBuilder("{\"event\":" + quote(event));
    for (int index = 0; index < details.length; index += 2) {
      Object value = details[index + 1];
      String json =
          value instanceof Raw raw
              ? raw.json()
              : value instanceof String text ? quote(text) : String.valueOf(value);
      line.append(",").append(quote((String) details[index])).append(":").append(json);
    }
    byte[] bytes = line.append("}\n").toString().getBytes(StandardCharsets.UTF_8);
    System.out.write(bytes, 0, bytes.length);
    System.out.flush();
  }

  static String quote(String text) {
    return "\"" + text.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
