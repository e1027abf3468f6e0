import { BinaryWriter, WireType } from "@bufbuild/protobuf/wire";

/**
 * Writes a message's fields by number, in the order of the calls. What is "", 0, false or empty is left out, as in all of
 * proto3; a message is written even when it is empty, for it says something by being there. Never throws.
 */
export class ProtobufWriter {
  /** Begun at once: what is written stands after its length. */
  readonly #writer = new BinaryWriter().fork();

  text(number: number, value: string): void {
    if (value !== "") this.#writer.tag(number, WireType.LengthDelimited).string(value);
  }

  bytes(number: number, value: Uint8Array): void {
    if (value.byteLength > 0) this.#writer.tag(number, WireType.LengthDelimited).bytes(value);
  }

  flag(number: number, value: boolean): void {
    if (value) this.#writer.tag(number, WireType.Varint).bool(true);
  }

  /** A 64-bit integer, of which numbers hold the safe ones. */
  unsigned(number: number, value: number): void {
    if (value <= 0) return;
    this.#writer.tag(number, WireType.Varint);
    // The same bytes; but for a large one it needs a BigInt.
    if (value <= uint32Max) this.#writer.uint32(value);
    else this.#writer.uint64(value);
  }

  /** A number of seconds as a 32-bit integer: rounded up, and as many as it can say when there are more. */
  seconds(number: number, value: number): void {
    this.unsigned(number, Math.min(Math.ceil(value), uint32Max));
  }

  /** What is written from here to {@link end} is a message within this one. */
  begin(number: number): void {
    this.#writer.tag(number, WireType.LengthDelimited).fork();
  }

  end(): void {
    this.#writer.join();
  }

  /** One entry of a map of messages: begun, with its name, and the message begun too. Two ends end it. */
  beginEntry(number: number, name: string): void {
    this.begin(number);
    // Every implementation writes a name even when it is empty.
    this.#writer.tag(1, WireType.LengthDelimited).string(name);
    this.begin(2);
  }

  /** One entry of a map of texts. */
  textEntry(number: number, name: string, value: string): void {
    this.begin(number);
    this.#writer.tag(1, WireType.LengthDelimited).string(name);
    this.#writer.tag(2, WireType.LengthDelimited).string(value);
    this.end();
  }

  /** All that was written, after its length, as it stands in a frame. The last call. */
  delimited(): Uint8Array {
    return this.#writer.join().finish();
  }
}

const uint32Max = 0xffff_ffff;
