/** For `describe.each`: the codecs that the Python client speaks, and the option by which a scenario has it speak them. */
export const pythonCodecs = [
  { codec: "JSON", rule: "T1", protobuf: false },
  { codec: "Protobuf", rule: "W5", protobuf: true },
] as const;
