import type { SourceFile } from "./source-tree.ts";

/**
 * The circles of imports: the largest groups of files in which each file imports each other one, directly or by others.
 * Each is sorted. The algorithm is Tarjan's.
 */
export function circles(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const importsOf = new Map(files.map(({ path, imports }) => [path, imports]));
  const numbers = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];

  /** @returns the lowest number on the stack that the file's imports lead to */
  const visit = (path: string): number => {
    const number = numbers.size;
    numbers.set(path, number);
    stack.push(path);
    let lowest = number;
    for (const imported of importsOf.get(path) ?? []) {
      if (!numbers.has(imported)) lowest = Math.min(lowest, visit(imported));
      else if (stack.includes(imported)) lowest = Math.min(lowest, numbers.get(imported) ?? number);
    }
    if (lowest === number) {
      const group = stack.splice(stack.indexOf(path));
      if (group.length > 1) found.push(group.toSorted());
    }
    return lowest;
  };

  for (const { path } of files) if (!numbers.has(path)) visit(path);
  return found;
}
