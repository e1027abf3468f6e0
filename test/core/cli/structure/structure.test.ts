import { describe, expect, it } from "vitest";
import { circles } from "../../../../cli/structure/circles.ts";
import { measure, measureTree } from "../../../../cli/structure/measure.ts";
import { readSources, sourceFile } from "../../../../cli/structure/source-tree.ts";

const placesOf = (name: string, files: Parameters<typeof measure>[0]): readonly string[] =>
  measure(files).find((figure) => figure.name === name)?.places ?? [];

describe("the structure", () => {
  it.each(measure(readSources(".")).map((figure) => [figure.name, figure] as const))(
    "has no more %s than its bound",
    (_name, { places, max }) => {
      expect(places.length <= max ? [] : places).toEqual([]);
    },
  );

  it("counts what lies at the top, and finds folders of cli and test with too many files", () => {
    const many = Array.from({ length: 26 }, (_, index) => `test/contract/${index}.ts`);
    const paths = [
      ...many,
      ...many.slice(1).map((path) => path.replace("contract", "clients")),
      "LICENSE",
    ];
    expect(measureTree(paths).map(({ places }) => places)).toEqual([
      ["test", "LICENSE"],
      ["test/contract 26"],
    ]);
  });

  it("finds circles of files, types included", () => {
    const files = [
      sourceFile("src/hub/hub.ts", 'import type { B } from "./backlog.ts";\n'),
      sourceFile("src/hub/backlog.ts", 'import {\n  c,\n} from "./run-frames.ts";\n'),
      sourceFile("src/hub/run-frames.ts", 'export type A = import("./hub.ts").A;\n'),
      sourceFile("src/hub/small-set.ts", 'import "./hub.ts";\n'),
    ];
    expect(circles(files)).toEqual([
      ["src/hub/backlog.ts", "src/hub/hub.ts", "src/hub/run-frames.ts"],
    ]);
    expect(circles(files.slice(1))).toEqual([]);
  });

  it("finds imports that go up a floor, or to another folder of the same one", () => {
    const files = [
      sourceFile("src/hub/hub.ts", 'import { b } from "../session/session.ts";\n'),
      sourceFile("src/session/session.ts", 'import { a } from "../hub/hub.ts";\n'),
      sourceFile("src/config/fields.ts", 'import { d } from "../delta/fossil.ts";\n'),
      sourceFile("src/limits.ts", 'import { d } from "./delta/fossil.ts";\n'),
    ];
    expect(placesOf("imports that go up a floor", files)).toEqual([
      "src/hub/hub.ts src/session/session.ts",
      "src/config/fields.ts src/delta/fossil.ts",
      "src/limits.ts src/delta/fossil.ts",
    ]);
  });

  it("finds a folder without a floor", () => {
    const file = sourceFile(["src", "attic", "door.ts"].join("/"), 'import "../hub/hub.ts";\n');
    expect(() => measure([file])).toThrow("attic has no floor");
  });

  it("finds names of types that are defined twice", () => {
    const files = [
      sourceFile("src/hub/hub.ts", "export interface Frame {}\nclass Turn {}\n"),
      sourceFile("src/session/session.ts", "type Frame = string;\n  type Turn = string;\n"),
    ];
    expect(placesOf("names of types defined twice", files)).toEqual([
      "Frame src/hub/hub.ts src/session/session.ts",
    ]);
  });
});
