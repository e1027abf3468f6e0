import { deltaChain, KnownDeltas } from "../../../src/delta/delta-chain.ts";
import type { Codec, CodecName, Message } from "../../../src/protocol/codec.ts";
import { codecNamed } from "../../../src/protocol/codecs.ts";
import { parseJsonText } from "../../../src/protocol/json/text.ts";
import type { Publication } from "../../../src/protocol/publication.ts";
import { eventFormat, responseFormat } from "../../../src/transport/stream.ts";

/** The bytes of a publication on its way to one subscriber, as the table in docs/transports.md. */
export function wireBytesTable(): string {
  const rows = [
    ["| Transport and format | 128 bytes | 2 KiB | an edit of 2 KiB | the same as a delta |"],
    ["| --- | ---: | ---: | ---: | ---: |"],
    ...wires.map(({ name, codec, bytes }) => {
      const spoken = codecNamed(codec);
      const edits = documentEdits();
      const figures = [
        bytes(spoken, encode(spoken, publication(textOfBytes(128)))),
        bytes(spoken, encode(spoken, publication(textOfBytes(2_048)))),
        mean(edits.map((edit) => bytes(spoken, encode(spoken, edit)))),
        mean(
          deltaChain(edits, spoken.deltaForm, "news", new KnownDeltas())
            .publications.slice(1)
            .map((edit) => bytes(spoken, encode(spoken, edit))),
        ),
      ];
      return [`| ${name} | ${figures.map((figure) => figure.toLocaleString("en")).join(" | ")} |`];
    }),
  ];
  return rows.map(([row]) => row).join("\n");
}

interface Wire {
  readonly name: string;
  readonly codec: CodecName;
  /** All that is sent for one message. */
  readonly bytes: (codec: Codec, message: Message) => number;
}

const wires: readonly Wire[] = [
  { name: "WebSocket, JSON", codec: "json", bytes: inWebSocketFrame },
  { name: "WebSocket, Protobuf", codec: "protobuf", bytes: inWebSocketFrame },
  { name: "WebSocket, MessagePack", codec: "msgpack", bytes: inWebSocketFrame },
  { name: "HTTP stream, JSON", codec: "json", bytes: inResponse },
  { name: "HTTP stream, Protobuf", codec: "protobuf", bytes: inResponse },
  { name: "SSE", codec: "json", bytes: (_, message) => eventFormat.encode(message).length },
  {
    name: "unidirectional SSE",
    codec: "one_way",
    bytes: (_, message) => eventFormat.encode(message).length,
  },
];

/** With the header that a server's frame has (RFC 6455, section 5.2). */
function inWebSocketFrame(codec: Codec, message: Message): number {
  const frame = codec.joinFrame([message]);
  const length = typeof frame === "string" ? Buffer.byteLength(frame) : frame.length;
  if (length <= 125) return length + 2;
  return length <= 65_535 ? length + 4 : length + 10;
}

function inResponse(codec: Codec, message: Message): number {
  return responseFormat(codec.name).encode(codec.joinFrame([message])).length;
}

function encode(codec: Codec, sent: Publication): Message {
  return codec.encodePush({ type: "publication", channel: "news", publication: sent });
}

function publication(text: string, offset = 1_000): Publication {
  const data = parseJsonText(text);
  if (data === undefined) throw new Error("not JSON");
  return { data, offset };
}

/** JSON of that many bytes. */
function textOfBytes(bytes: number): string {
  const empty = JSON.stringify({ text: "" });
  return JSON.stringify({ text: "a".repeat(bytes - empty.length) });
}

/** A list of tasks of about 2 KiB, of which one changes its state and the time at each step. */
function documentEdits(): readonly Publication[] {
  const tasks = Array.from({ length: 28 }, (_, index) => ({
    id: index + 1,
    title: `Task number ${index + 1} of the release`,
    done: false,
  }));
  return Array.from({ length: 50 }, (_, step) => {
    const task = tasks[(step * 11) % tasks.length];
    if (task !== undefined) task.done = !task.done;
    return publication(JSON.stringify({ updated: 1_795_000_000 + step * 7, tasks }), 1_000 + step);
  });
}

function mean(values: readonly number[]): number {
  return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
}
