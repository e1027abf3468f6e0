/**
 * Writes MessagePack from front to back, every value in its shortest form. A map is opened, and each key counts itself into
 * the map's first byte, so that nobody has to know beforehand which fields will be there.
 */
export class MessagePackWriter {
  #bytes: Uint8Array;
  #length = 0;
  readonly #encoder = new TextEncoder();

  /** @param bytesExpected room to begin with; it grows as needed */
  constructor(bytesExpected: number) {
    this.#bytes = new Uint8Array(bytesExpected);
  }

  /** What was written. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  /** Opens a map of at most 15 fields, and gives what {@link key} needs to add one. */
  openMap(): OpenMap {
    this.#byte(0x80);
    return { head: this.#length - 1 };
  }

  /** Adds a field to an open map; its value comes next. The name is ASCII and shorter than 32 characters. */
  key(map: OpenMap, name: string): void {
    this.#reserve(name.length + 1);
    this.#bytes[map.head] = (this.#bytes[map.head] ?? 0) + 1;
    this.#byte(0xa0 + name.length);
    for (let index = 0; index < name.length; index++) this.#byte(name.charCodeAt(index));
  }

  /** Begins a map of so many entries; a text and a value are to follow for each. */
  map(count: number): void {
    this.#container(count, 0x80, 0xde);
  }

  /** Begins an array of so many values. */
  array(count: number): void {
    this.#container(count, 0x90, 0xdc);
  }

  text(text: string): void {
    const bytes = this.#encoder.encode(text);
    if (bytes.length < 32) this.#byte(0xa0 + bytes.length);
    else this.#long(0xd9, bytes.length);
    this.#append(bytes);
  }

  binary(bytes: Uint8Array): void {
    this.#long(0xc4, bytes.length);
    this.#append(bytes);
  }

  flag(flag: boolean): void {
    this.#byte(flag ? 0xc3 : 0xc2);
  }

  /** A whole number from 0 to 2^53. */
  unsigned(value: number): void {
    if (value < 0x80) return this.#byte(value);
    if (value <= 0xffff_ffff) return this.#long(0xcc, value);
    this.#byte(0xcf);
    this.#bigEndian(Math.floor(value / 0x1_0000_0000), 4);
    this.#bigEndian(value % 0x1_0000_0000, 4);
  }

  /** The three heads that follow each other have one, two and four bytes after them. */
  #long(head: number, value: number): void {
    const width = value <= 0xff ? 0 : value <= 0xffff ? 1 : 2;
    this.#byte(head + width);
    this.#bigEndian(value, 1 << width);
  }

  /** Arrays and maps have no form with one byte. */
  #container(count: number, shortHead: number, head: number): void {
    if (count < 16) return this.#byte(shortHead + count);
    const isShort = count <= 0xffff;
    this.#byte(isShort ? head : head + 1);
    this.#bigEndian(count, isShort ? 2 : 4);
  }

  #bigEndian(value: number, widthBytes: number): void {
    for (let shift = (widthBytes - 1) * 8; shift >= 0; shift -= 8) {
      this.#byte((value >>> shift) & 0xff);
    }
  }

  #byte(byte: number): void {
    this.#reserve(1);
    this.#bytes[this.#length] = byte;
    this.#length++;
  }

  #append(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #reserve(moreBytes: number): void {
    const needed = this.#length + moreBytes;
    if (needed <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }
}

/** The place of a map's first byte, which counts its fields. */
export interface OpenMap {
  readonly head: number;
}
