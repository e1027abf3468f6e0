import { circles } from "./circles.ts";
import { featureOf, floors, folderOf } from "./floors.ts";
import type { SourceFile } from "./source-tree.ts";

/** A figure of the structure, with the places that it counts and the most that it may be. */
export interface Figure {
  readonly name: string;
  readonly max: number;
  readonly places: readonly string[];
}

/** The figures, each with a bound that only ever falls. */
export function measure(files: readonly SourceFile[]): readonly Figure[] {
  const intoFeatures = files
    // The files directly in these folders name the features.
    .filter(({ path }) => featureOf(path) === undefined && !isOfFeatures(folderOf(path)))
    .flatMap(({ path, imports }) =>
      [...imports].filter(featureOf).map((imported) => [path, imported] as const),
    );
  return [
    { name: "imports that go up a floor", max: 0, places: upwards(files) },
    { name: "circles of files", max: 0, places: circles(files).map((circle) => circle.join(" ")) },
    { name: "names of types defined twice", max: 0, places: definedTwice(files) },
    {
      name: "imports of the kernel into features",
      max: 3,
      places: intoFeatures.map(([path, imported]) => `${path} ${imported}`),
    },
    {
      name: "files of the kernel that import features",
      max: 3,
      places: [...new Set(intoFeatures.map(([path]) => path))],
    },
    {
      name: `files of ${longFileLines} lines or more`,
      max: 3,
      places: files
        .filter(({ lines }) => lines >= longFileLines)
        .map(({ path, lines }) => `${path} ${lines}`),
    },
    {
      name: `folders of more than ${folderFilesMax} files`,
      max: 0,
      places: crowded(files.map(({ path }) => path)),
    },
  ];
}

/** The figures of the whole repository, from the paths of its files. */
export function measureTree(paths: readonly string[]): readonly Figure[] {
  return [
    {
      name: "entries at the top of the repository",
      // The deploy button of Cloudflare reads .dev.vars.example only at the top.
      max: 25,
      places: [...new Set(paths.map((path) => path.replace(/\/.*/, "")))],
    },
    {
      name: `folders of cli and test with more than ${folderFilesMax} files`,
      max: 1,
      places: crowded(paths.filter((path) => /^(?:cli|test)\//.test(path))),
    },
  ];
}

/** The folders that hold too many files, each with their number. */
function crowded(paths: readonly string[]): readonly string[] {
  return [...Map.groupBy(paths, (path) => path.replace(/\/[^/]*$/, ""))]
    .filter(([, those]) => those.length > folderFilesMax)
    .map(([folder, those]) => `${folder} ${those.length}`);
}

const longFileLines = 450;

const folderFilesMax = 25;

function isOfFeatures(folder: string): boolean {
  return folder.endsWith("/features");
}

function upwards(files: readonly SourceFile[]): readonly string[] {
  const rows = new Map(floors.flatMap((row, index) => row.map((folder) => [folder, index])));
  const rowOf = (folder: string): number => {
    const row = rows.get(folder);
    if (row === undefined) throw new Error(`${folder} has no floor in cli/structure/floors.ts`);
    return row;
  };
  return files.flatMap(({ path, imports }) => {
    const folder = folderOf(path);
    return [...imports]
      .filter((imported) => {
        const other = folderOf(imported);
        if (other === folder || isOfFeatures(other)) return false;
        return rowOf(other) >= rowOf(folder);
      })
      .map((imported) => `${path} ${imported}`);
  });
}

function definedTwice(files: readonly SourceFile[]): readonly string[] {
  const definitions = files.flatMap(({ path, types }) =>
    [...types].map((type) => ({ type, path })),
  );
  return [...Map.groupBy(definitions, ({ type }) => type)]
    .filter(([, those]) => those.length > 1)
    .map(([type, those]) => `${type} ${those.map(({ path }) => path).join(" ")}`);
}
