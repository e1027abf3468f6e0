/** Records by name, each of which is made when it is asked for the first time. */
export class Records<Value> extends Map<string, Value> {
  readonly #make: (name: string) => Value;

  constructor(make: (name: string) => Value) {
    super();
    this.#make = make;
  }

  of(name: string): Value {
    const known = this.get(name);
    if (known !== undefined) return known;
    const made = this.#make(name);
    this.set(name, made);
    return made;
  }
}
