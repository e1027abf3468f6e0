/**
 * The messages of a room. A message is a publication, and so is each edit and each deletion of one: its tags name the
 * message by its offset. The history has messages in their last form.
 */
export class Messages {
  #byOffset = new Map();
  #newest = 0;

  /** All messages, oldest first. */
  get all() {
    return [...this.#byOffset.values()];
  }

  /** Takes the next publication of the room. One that came before changes nothing. */
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

  /** An operator erases several at once, such as `3,7-9`. */
  #erase(ranges) {
    for (const range of ranges.split(",")) {
      const [first, last = first] = range.split("-").map(Number);
      for (let offset = first; offset <= last; offset++) this.#byOffset.delete(offset);
    }
  }
}

/** A message; it is a notice of the backend where no user has written it. */
function messageOf(offset, data, tags, by = "notice") {
  const version = Number(tags["dormouse.version"] ?? 1);
  return { offset, by, text: data.text, version, editor: tags["dormouse.by"] };
}

/** Whether the publication has lost its data: to a deletion, to an erasure, or, as an edit, to a later edit. */
function isEmpty(tags) {
  const marks = ["dormouse.deleted", "dormouse.erased", "dormouse.replaced"];
  return marks.some((mark) => tags[mark] !== undefined);
}
