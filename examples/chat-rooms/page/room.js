/**
 * The messages of a room, as a page shows them.
 *
 * A message is a publication, and so is each edit and each deletion of one: its tags name the message by its offset. The
 * history holds messages in their last form.
 */
class Messages {
  #byOffset = new Map();
  /** The offset of the newest publication that was taken: an older one isn't news. */
  #newest = 0;

  /** All messages, oldest first. */
  get all() {
    return [...this.#byOffset.values()];
  }

  /** Takes a publication, in the order of the room. */
  take({ offset, data, info, tags = {} }) {
    if (offset <= this.#newest) return;
    this.#newest = offset;
    const {
      "dormouse.update": edited,
      "dormouse.delete": deleted,
      "dormouse.erase": erased,
    } = tags;
    if (edited !== undefined) this.#edit(Number(edited), data, tags);
    else if (deleted !== undefined) this.#byOffset.delete(Number(deleted));
    else if (erased !== undefined) this.#erase(erased);
    else if (!isEmpty(tags)) this.#byOffset.set(offset, messageOf(offset, data, tags, info?.user));
  }

  /** Its writer stays who it was, whoever has edited it. */
  #edit(offset, data, tags) {
    const before = this.#byOffset.get(offset);
    if (before !== undefined) this.#byOffset.set(offset, messageOf(offset, data, tags, before.by));
  }

  /** @param {string} ranges such as `3,7-9` */
  #erase(ranges) {
    for (const range of ranges.split(",")) {
      const [first, last = first] = range.split("-").map(Number);
      for (let offset = first; offset <= last; offset++) this.#byOffset.delete(offset);
    }
  }
}

function messageOf(offset, data, tags, by) {
  const { "dormouse.version": version = "1", "dormouse.by": editor = by } = tags;
  return { offset, by, text: data.text, version: Number(version), editor };
}

/** Whether nothing is left of the publication: a message that was deleted or erased, or an edit that a later one has replaced. */
function isEmpty(tags) {
  const marks = ["dormouse.deleted", "dormouse.erased", "dormouse.replaced"];
  return marks.some((mark) => tags[mark] !== undefined);
}

/**
 * Enters a room, and keeps its messages: those of before, from the history, and what comes.
 *
 * @param {import("centrifuge").Centrifuge} client
 * @param show is called with all messages whenever one has come, or has changed
 */
export function enterRoom(client, name, show) {
  const room = client.newSubscription(`room:${name}`);
  let messages = new Messages();
  /** What came while the history is read; undefined while it isn't. */
  let waiting;

  async function readHistory() {
    waiting = [];
    const { publications } = await room.history({ limit: 100, reverse: true });
    messages = new Messages();
    for (const one of [...publications.toReversed(), ...waiting]) messages.take(one);
    waiting = undefined;
    show(messages.all);
  }

  room.on("publication", (publication) => {
    if (waiting !== undefined) {
      waiting.push(publication);
      return;
    }
    messages.take(publication);
    show(messages.all);
  });
  room.on("subscribed", ({ recovered }) => {
    // When a lost connection is back, the missed publications come as others do, unless there were too many. If it is lost
    // before the history has come, the history is read after the next "subscribed".
    if (!recovered || waiting !== undefined)
      readHistory().catch(({ message }) => console.warn(message));
  });
  room.subscribe();
  return room;
}

/**
 * Gives a message another text, without a call of the application's server: Dormouse lets its writer and moderators.
 * A message that was changed since the page has shown it stays as it is.
 */
export function edit(client, { channel }, { offset, version }, text) {
  return change(client, "dormouse.update", {
    channel,
    offset,
    if_version: version,
    data: { text },
  });
}

/** Deletes a message likewise. */
export function remove(client, { channel }, { offset, version }) {
  return change(client, "dormouse.delete", { channel, offset, if_version: version });
}

async function change(client, method, request) {
  const { data } = await client.rpc(method, request);
  if (data.suppressed) throw new Error(`Nothing was changed: ${data.suppress_reason}.`);
}
