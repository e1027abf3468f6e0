/**
 * Finds the places of a source file where a small fault can be made, and what the fault would be. Which of the places
 * are used is decided by `sample.ts`, and how a fault is switched on by `switches.ts`.
 */
import { parseAst } from "vitest/node";

/** The kinds of faults. */
export const kinds = ["turned", "bound", "left out", "swapped", "negated"] as const;
type Kind = (typeof kinds)[number];

/** One fault that can be made. */
export interface Place {
  readonly file: string;
  /** The functions around it, with dots between them; "" at the top of a file. */
  readonly within: string;
  readonly kind: Kind;
  /** The source text from `start` to `end`, an expression. */
  readonly text: string;
  /** The expression that takes its place. */
  readonly fault: string;
  /** How many places with the same function, kind, text and fault come before it in its file. */
  readonly earlier: number;
  readonly start: number;
  readonly end: number;
  readonly line: number;
}

/** A node of a syntax tree. */
interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
}

/**
 * All places of a file, in their order.
 *
 * @param file   its path from the repository's root
 * @param source its TypeScript
 */
export function placesIn(file: string, source: string): readonly Place[] {
  const found: Place[] = [];
  const counts = new Map<string, number>();
  const add = (within: string, kind: Kind, { start, end }: Node, fault: string) => {
    const text = source.slice(start, end);
    const name = JSON.stringify([within, kind, text, fault]);
    const earlier = counts.get(name) ?? 0;
    counts.set(name, earlier + 1);
    const line = source.slice(0, start).split("\n").length;
    found.push({ file, within, kind, text, fault, earlier, start, end, line });
  };
  visit(parseAst(source, { lang: "ts" }), "", (node, within) => {
    const test = childOf(node, "test");
    if (test !== undefined && conditional.has(node.type))
      add(within, "turned", test, `!(${textIn(source, test)})`);
    const moved = movedBound(node, source);
    if (moved !== undefined) add(within, "bound", node, moved);
    if (node.type === "LogicalExpression") {
      const { left, right, operator } = sidesOf(node);
      const other = operator === "&&" ? "||" : "&&";
      if (operator !== "??")
        add(
          within,
          "swapped",
          node,
          `(${textIn(source, left)}) ${other} (${textIn(source, right)})`,
        );
    }
    const expression = childOf(node, "expression");
    if (node.type === "ExpressionStatement" && expression !== undefined && isCall(expression))
      add(within, "left out", expression, "undefined");
    const returned = returnedBy(node);
    if (returned !== undefined && isBoolean(returned))
      add(within, "negated", returned, `!(${textIn(source, returned)})`);
  });
  return found.toSorted((one, other) => one.start - other.start || one.end - other.end);
}

const conditional = new Set([
  "IfStatement",
  "ConditionalExpression",
  "WhileStatement",
  "DoWhileStatement",
  "ForStatement",
]);

const bounds = new Map([
  ["<", "<="],
  ["<=", "<"],
  [">", ">="],
  [">=", ">"],
]);

const textIn = (source: string, { start, end }: Node): string => source.slice(start, end);

/** A comparison that includes its bound or excludes it, the other way; a sum or a difference with one more. */
function movedBound(node: Node, source: string): string | undefined {
  if (node.type !== "BinaryExpression") return undefined;
  const { left, right, operator } = sidesOf(node);
  const other = bounds.get(operator);
  if (other !== undefined) return `(${textIn(source, left)}) ${other} (${textIn(source, right)})`;
  const isCounted = right.type === "Literal" && /^[0-9_]+$/.test(textIn(source, right));
  if (isCounted && (operator === "+" || operator === "-"))
    return `(${textIn(source, left)}) ${operator} ${textIn(source, right)} + 1`;
  return undefined;
}

/** Calls `found` for a node and all nodes in it that exist when the program runs. */
function visit(node: Node, within: string, found: (node: Node, within: string) => void): void {
  if (node.type.startsWith("TS") && childOf(node, "expression") === undefined) return;
  found(node, within);
  const own = nameOf(node);
  const inner = own === undefined ? within : within === "" ? own : `${within}.${own}`;
  for (const child of Object.values(node).flat().filter(isNode)) visit(child, inner, found);
}

/** The name that a function, a class, a method, a property or a constant gives to what is in it. */
function nameOf(node: Node): string | undefined {
  if (!naming.has(node.type)) return undefined;
  const named = childOf(node, "id") ?? childOf(node, "key");
  if (named === undefined) return undefined;
  const name: unknown = Reflect.get(named, "name");
  return typeof name === "string" ? name : undefined;
}

const naming = new Set([
  "FunctionDeclaration",
  "FunctionExpression",
  "ClassDeclaration",
  "MethodDefinition",
  "PropertyDefinition",
  "Property",
  "VariableDeclarator",
]);

/** What a return statement or the body of an arrow function gives back. */
function returnedBy(node: Node): Node | undefined {
  if (node.type === "ReturnStatement") return childOf(node, "argument");
  if (node.type !== "ArrowFunctionExpression") return undefined;
  const body = childOf(node, "body");
  return body?.type === "BlockStatement" ? undefined : body;
}

/** Whether an expression is a boolean, as far as it can be seen without its types. */
function isBoolean(node: Node): boolean {
  switch (node.type) {
    case "Literal":
      return typeof Reflect.get(node, "value") === "boolean";
    case "UnaryExpression":
      return Reflect.get(node, "operator") === "!";
    case "BinaryExpression":
      return /^(?:[<>]=?|[!=]==|in|instanceof)$/.test(sidesOf(node).operator);
    case "LogicalExpression": {
      const { left, right } = sidesOf(node);
      return isBoolean(left) && isBoolean(right);
    }
    default:
      return false;
  }
}

/** A call, or the wait for one. A call of the constructor above can't be left out. */
function isCall(node: Node): boolean {
  const inner = node.type === "AwaitExpression" ? childOf(node, "argument") : node;
  if (inner === undefined) return false;
  if (inner.type === "ChainExpression") return true;
  return inner.type === "CallExpression" && childOf(inner, "callee")?.type !== "Super";
}

function sidesOf(node: Node): { left: Node; right: Node; operator: string } {
  const left = childOf(node, "left");
  const right = childOf(node, "right");
  const operator: unknown = Reflect.get(node, "operator");
  if (left === undefined || right === undefined || typeof operator !== "string")
    throw new Error(`${node.type} has no two sides`);
  return { left, right, operator };
}

function childOf(node: Node, key: string): Node | undefined {
  const child: unknown = Reflect.get(node, key);
  return isNode(child) ? child : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
