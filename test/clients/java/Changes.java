import io.github.centrifugal.centrifuge.*;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Clients that keep the list of a channel whose publications are changed, as docs/changes.md says for Java.
 *
 * <p>Arguments: the channel, the connections' token, and for each client its name and its address. The line {@code late}, with
 * a name and an address, has a further client come. A client reports its list for a line {@code lists}, once it has the
 * publication whose offset the line says.
 */
public final class Changes extends SubscriptionEventListener {
  private static final Pattern ID = Pattern.compile("\"id\":(\\d+)");

  private static final List<String> GONE =
      List.of("dormouse.delete", "dormouse.deleted", "dormouse.erased");

  private final SortedMap<Long, String> list = new TreeMap<>();
  private final String name;
  private long position;
  /** Whether the history is being read. */
  private boolean isReading;

  private Changes(String name) {
    this.name = name;
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, Changes> all = new LinkedHashMap<>();
    List<Client> clients = new ArrayList<>();
    for (int index = 2; index < arguments.length; index += 2)
      clients.add(come(all, arguments, arguments[index], arguments[index + 1]));
    BufferedReader lines =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] words = line.split(" ");
      if (words[0].equals("late")) {
        clients.add(come(all, arguments, words[1], words[2]));
        continue;
      }
      for (Changes one : all.values()) one.reportList(Long.parseLong(words[1]));
      Listen.report("listed");
    }
    for (Client client : clients) client.close(10_000);
    System.exit(0);
  }

  private static Client come(
      Map<String, Changes> all, String[] arguments, String name, String address) throws Exception {
    Options options = new Options();
    options.setToken(arguments[1]);
    options.setMinReconnectDelay(50);
    options.setMaxReconnectDelay(200);
    options.setTimeout(30_000);
    Client client = new Client(address, options, new EventListener() {});
    Changes changes = new Changes(name);
    all.put(name, changes);
    client.newSubscription(arguments[0], new SubscriptionOptions(), changes).subscribe();
    client.connect();
    return client;
  }

  @Override
  public void onSubscribed(Subscription subscription, SubscribedEvent event) {
    begin();
    Listen.report("subscribed", "name", name, "recovered", event.getRecovered());
    read(subscription);
  }

  private synchronized void begin() {
    isReading = true;
  }

  /** What was recovered comes without tags, and so does the history: so the list is made anew. */
  private void read(Subscription subscription) {
    HistoryOptions everything = new HistoryOptions.Builder().withLimit(-1).build();
    subscription.history(
        everything,
        (error, history) -> {
          if (error != null || !readAll(history)) read(subscription);
        });
  }

  /** Makes the list from the history, unless it is older than what has come since. */
  private synchronized boolean readAll(HistoryResult history) {
    if (history.getOffset() < position) return false;
    Map<String, Long> offsets = new HashMap<>();
    list.clear();
    for (Publication publication : history.getPublications()) {
      String data = Listen.payload(publication.getData());
      Listen.report("read", "name", name, "data", new Listen.Raw(data));
      Matcher id = ID.matcher(data);
      // What has no data was deleted, was erased, or is a change that counts no more.
      if (!id.find()) continue;
      long offset = offsets.computeIfAbsent(id.group(1), any -> publication.getOffset());
      list.put(offset, data);
    }
    isReading = false;
    move(history.getOffset());
    return true;
  }

  @Override
  public synchronized void onPublication(Subscription subscription, PublicationEvent event) {
    Map<String, String> tags = event.getTags();
    if (tags == null) return; // It was recovered.
    String changed = tags.getOrDefault("dormouse.update", tags.get("dormouse.delete"));
    long offset = changed == null ? event.getOffset() : Long.parseLong(changed);
    if (tags.containsKey("dormouse.erase")) erase(tags.get("dormouse.erase"));
    else if (GONE.stream().anyMatch(tags::containsKey)) list.remove(offset);
    else if (!tags.containsKey("dormouse.replaced"))
      list.put(offset, Listen.payload(event.getData()));
    move(event.getOffset());
  }

  /**
   * @param spans such as {@code 3,7-9}
   */
  private void erase(String spans) {
    for (String span : spans.split(",")) {
      String[] ends = span.split("-");
      list.subMap(Long.parseLong(ends[0]), Long.parseLong(ends[ends.length - 1]) + 1).clear();
    }
  }

  private void move(long to) {
    position = to;
    notifyAll();
  }

  private synchronized void reportList(long top) throws InterruptedException {
    while (isReading || position < top) wait();
    String entries = "[" + String.join(",", list.values()) + "]";
    Listen.report("list", "name", name, "entries", new Listen.Raw(entries));
  }
}
