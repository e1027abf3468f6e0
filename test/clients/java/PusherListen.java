import com.pusher.client.Pusher;
import com.pusher.client.PusherOptions;
import com.pusher.client.channel.PresenceChannelEventListener;
import com.pusher.client.channel.PrivateChannel;
import com.pusher.client.channel.PrivateChannelEventListener;
import com.pusher.client.channel.PusherEvent;
import com.pusher.client.channel.User;
import com.pusher.client.connection.ConnectionEventListener;
import com.pusher.client.connection.ConnectionStateChange;
import com.pusher.rest.data.PresenceUser;
import com.pusher.rest.data.Result;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;

/**
 * A client and a backend with the libraries of Pusher, which reports all that comes, one JSON object a line, until its input
 * ends.
 *
 * <p>Arguments: the host, the port of clients, the port of the HTTP API, the application's ID, key and secret, the user, and
 * the names of a public, a private and a presence channel. It is told what to do by lines on its standard input: {@code
 * trigger EVENT JSON} on the private channel as a client, {@code publish CHANNEL EVENT TEXT} as a backend, and {@code get
 * PATH}.
 */
public final class PusherListen {
  public static void main(String[] arguments) throws Exception {
    com.pusher.rest.Pusher backend =
        new com.pusher.rest.Pusher(arguments[3], arguments[4], arguments[5]);
    backend.setHost(arguments[0] + ":" + arguments[2]);
    backend.setEncrypted(false);
    PusherOptions options = new PusherOptions();
    options.setHost(arguments[0]).setWsPort(Integer.parseInt(arguments[1])).setUseTLS(false);
    // It pings soon, and gives the server long to answer.
    options.setActivityTimeout(1_000).setPongTimeout(60_000);
    PresenceUser member = new PresenceUser(arguments[6], Map.of("name", "Java"));
    options.setChannelAuthorizer(
        (channel, socket) ->
            channel.startsWith("presence-")
                ? backend.authenticate(socket, channel, member)
                : backend.authenticate(socket, channel));
    Pusher client = new Pusher(arguments[4], options);
    client.connect(new Connection());
    Listener listener = new Listener();
    client.subscribe(arguments[7], listener).bindGlobal(listener);
    PrivateChannel shared = client.subscribePrivate(arguments[8], listener);
    shared.bindGlobal(listener);
    client.subscribePresence(arguments[9], listener).bindGlobal(listener);
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ", 4);
      switch (words[0]) {
        case "trigger" -> shared.trigger(words[1], words[2]);
        case "publish" -> report("published", backend.trigger(words[1], words[2], words[3]));
        default -> report("got", backend.get(words[1]));
      }
    }
    client.disconnect();
    System.exit(0);
  }

  private static void report(String event, Result result) {
    report(event, "status", result.getStatus().name(), "text", result.getMessage());
  }

  private static final class Connection implements ConnectionEventListener {
    @Override
    public void onConnectionStateChange(ConnectionStateChange change) {
      report("state", "now", change.getCurrentState().name());
    }

    @Override
    public void onError(String message, String code, Exception error) {
      report("problem", "text", String.valueOf(message), "code", String.valueOf(code));
    }
  }

  private static final class Listener
      implements PresenceChannelEventListener, PrivateChannelEventListener {
    @Override
    public void onEvent(PusherEvent event) {
      report("event", "on", event.getChannelName(), "name", event.getEventName(), "data", event.getData());
    }

    @Override
    public void onSubscriptionSucceeded(String channel) {
      report("subscribed", "channel", channel);
    }

    @Override
    public void onAuthenticationFailure(String message, Exception error) {
      report("refused", "text", message);
    }

    @Override
    public void onUsersInformationReceived(String channel, Set<User> users) {
      report("here", "users", String.join(",", users.stream().map(User::getId).sorted().toList()));
    }

    @Override
    public void userSubscribed(String channel, User user) {
      report("added", "user", user.getId(), "info", user.getInfo());
    }

    @Override
    public void userUnsubscribed(String channel, User user) {
      report("removed", "user", user.getId());
    }
  }

  /** Tells the test what happened: details come as a name and a text each. */
  private static synchronized void report(String event, String... details) {
    com.google.gson.JsonObject line = new com.google.gson.JsonObject();
    line.addProperty("event", event);
    for (int index = 0; index < details.length; index += 2)
      line.addProperty(details[index], details[index + 1]);
    byte[] bytes = (line + "\n").getBytes(StandardCharsets.UTF_8);
    System.out.write(bytes, 0, bytes.length);
    System.out.flush();
  }
}
