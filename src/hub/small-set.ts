/**
 * A set whose members are listed in the order in which they were added. Most channels have a subscriber or two, and a
 * gateway has thousands of such channels: a few members are an array alone, and only more of them are a `Set` as well,
 * which makes adding and deleting quick.
 */
export class SmallSet<Member> {
  /** The members; undefined after a change while there is a set, until the list is asked for. */
  #list: readonly Member[] | undefined = [];
  /** Undefined while there are few members. */
  #set: Set<Member> | undefined;

  /** The members. Each change makes a new list, so a loop over one sees the members of when it began. */
  get list(): readonly Member[] {
    return (this.#list ??= [...(this.#set ?? [])]);
  }

  /** The same, for a loop that ends early: no list is made. */
  get members(): Iterable<Member> {
    return this.#set ?? this.list;
  }

  /** The member that was added first; undefined for an empty set. */
  get first(): Member | undefined {
    if (this.#list !== undefined) return this.#list[0];
    for (const member of this.members) return member;
    return undefined;
  }

  get size(): number {
    return this.#set?.size ?? this.list.length;
  }

  has(member: Member): boolean {
    return this.#set?.has(member) ?? this.list.includes(member);
  }

  add(member: Member): void {
    if (this.has(member)) return;
    if (this.#set === undefined && this.size < few) {
      this.#list = this.list.concat([member]);
      return;
    }
    this.#set ??= new Set(this.list);
    this.#set.add(member);
    this.#list = undefined;
  }

  delete(member: Member): void {
    if (this.#set === undefined) {
      this.#list = this.list.filter((one) => one !== member);
      return;
    }
    this.#set.delete(member);
    this.#list = undefined;
    // Well below the bound, or a member that is added and deleted in turn would make a new set each time.
    if (this.#set.size > few / 2) return;
    this.#list = [...this.#set];
    this.#set = undefined;
  }
}

/** Up to so many members, a search through the list is as fast as a look-up in a set. */
const few = 8;
