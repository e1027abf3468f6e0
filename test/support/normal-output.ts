/** The lines of an output, without what differs from one run to the next. */
export function normal(output: string): readonly string[] {
  return output
    .split("\n")
    .filter((line) => line !== "")
    .map((line) =>
      line
        .replaceAll(/ws:\/\/\S+/g, "ADDRESS")
        .replaceAll(/[\da-f]{8}-[\da-f]{4}-[\da-f-]+/g, "ID")
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "TIME")
        .replaceAll(/\b\d+ (?:ms|seconds?|minutes?|hours?|s|min|h)\b/g, "A WHILE")
        .replaceAll(/\bregion \w+|\b(?:any|na)(?:\/0)? /g, "REGION ")
        .replaceAll(/:[\w-]{8}\b/g, ":EPOCH")
        .replaceAll(/\d+/g, "0")
        .replaceAll(/ +/g, " ")
        .trim(),
    );
}
