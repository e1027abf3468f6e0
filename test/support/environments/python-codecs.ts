/** For `describe.each`: the codecs of the Python client, and the option that selects each. */
export const pythonCodecs = [
  { codec: "JSON", rule: "T1", protobuf: false },
  { codec: "Protobuf", rule: "W5", protobuf: true },
] as const;
