import { relative } from "node:path";
import type { Plugin } from "vitest/config";

/**
 * A Vite plugin that makes every function of `src` and `workers` begin with a call of `globalThis.entered`, if there is
 * such a function, with the file, the function's name and the stack. `run-recorder.ts` sets it, and so sees which
 * functions a run enters, in their order, and which function calls which.
 *
 * @param root the repository
 */
export function instrumented(root: string): Plugin {
  return {
    name: "dormouse:instrumented",
    // `parse` knows JavaScript only, so the types have to be gone.
    enforce: "post",
    transform(code, id) {
      const file = relative(root, id).replaceAll("\\", "/");
      if (!/^(?:src|workers)\/[^?]*\.ts$/.test(file)) return undefined;
      const insertions: Insertion[] = [];
      collect(this.parse(code), "", file, insertions);
      return { code: inserted(code, insertions), map: null };
    },
  };
}

/** A node of a syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

interface Insertion {
  readonly at: number;
  readonly text: string;
}

/**
 * Collects what to insert into a node.
 *
 * @param name what a function is called that has no name of its own: that of the function around it
 */
function collect(node: Node, name: string, file: string, insertions: Insertion[]): void {
  if (isFunction(node)) {
    const { body } = node;
    const place = `${JSON.stringify(file)}, ${JSON.stringify(name)}`;
    const call = `globalThis.entered?.(${place}, new Error().stack)`;
    if (body.type === "BlockStatement") {
      insertions.push({ at: body.start + 1, text: ` ${call};` });
    } else {
      insertions.push({ at: body.start, text: `(${call}, ` }, { at: body.end, text: ")" });
    }
  }
  for (const child of Object.values(node).flat().filter(isNode)) {
    collect(
      child,
      isFunction(child) ? (nameOf(child) ?? nameOf(node) ?? name) : name,
      file,
      insertions,
    );
  }
}

function isFunction(node: Node): node is Node & { readonly body: Node } {
  return /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/.test(node.type);
}

/** The name that a function declares, or that a method, property or constant gives to its value. */
function nameOf(node: Node): string | undefined {
  for (const key of ["id", "key"]) {
    const named: unknown = Reflect.get(node, key);
    if (!isNode(named)) continue;
    const name: unknown = Reflect.get(named, "name");
    if (typeof name === "string") return named.type === "PrivateIdentifier" ? `#${name}` : name;
  }
  return undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function inserted(code: string, insertions: readonly Insertion[]): string {
  let result = code;
  // From the end on, so that what lies before keeps its place.
  for (const { at, text } of insertions.toSorted((one, other) => other.at - one.at)) {
    result = result.slice(0, at) + text + result.slice(at);
  }
  return result;
}
