/**
 * Who is on a list, each once, in the order in which they came. Most channels have a listener or two, and a gateway has
 * thousands of such channels: so the set that makes a long list quick to change is there only while the list is long.
 */
export class SmallSet<Member> {
  /** The same as the set, as a loop wants it; undefined after a change while there is a set. */
  #list: readonly Member[] | undefined = [];
  /** Undefined while they are few. */
  #set: Set<Member> | undefined;

  /** Made anew with each change: whoever loops over it sees those who were there when the loop began. */
  get list(): readonly Member[] {
    return (this.#list ??= [...(this.#set ?? [])]);
  }

  /** The same for a glance, which needs no list to be made. */
  get members(): Iterable<Member> {
    return this.#set ?? this.list;
  }

  /** Whoever came first; undefined when nobody is there. */
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
    // Well below the bound, or somebody who comes and goes would make a set each time.
    if (this.#set.size > few / 2) return;
    this.#list = [...this.#set];
    this.#set = undefined;
  }
}

/** So many are found by looking at all of them as fast as in a set. */
const few = 8;
