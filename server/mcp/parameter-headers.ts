import { isExact, isSameNumber } from '#server/kernel/lossless-json.ts';
import { decodeHeaderValue, encodeHeaderValue } from './header-values.ts';
import { isObject, type Params } from './messages.ts';

// Arguments that a tool wants mirrored in headers: `x-mcp-header` in its input schema (Streamable HTTP of 2026-07-28).

/** One annotated argument: where it is among the arguments, and the part of the header's name behind `Mcp-Param-`. */
export type HeaderParameter = { readonly path: readonly string[]; readonly name: string; readonly type: string };

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,100}$/;
const TYPES: ReadonlySet<unknown> = new Set(['string', 'integer', 'boolean']);
const DEEPEST = 32;

/** The annotated arguments of a schema; undefined when an annotation is invalid, which makes the tool unusable. */
export function headerParameters(inputSchema: unknown): readonly HeaderParameter[] | undefined {
  const found: HeaderParameter[] = [];
  const names = new Set<string>();
  const reachable = new Set<object>();
  const visit = (schema: unknown, path: readonly string[]): boolean => {
    if (!isObject(schema) || path.length > DEEPEST) return true;
    reachable.add(schema);
    const name = schema['x-mcp-header'];
    if (name !== undefined) {
      if (path.length === 0 || typeof name !== 'string' || !TOKEN.test(name) || !TYPES.has(schema.type)) return false;
      if (names.has(name.toLowerCase())) return false;
      names.add(name.toLowerCase());
      found.push({ path, name, type: schema.type as string });
    }
    return !isObject(schema.properties) || Object.entries(schema.properties).every(([key, child]) => visit(child, [...path, key]));
  };
  return visit(inputSchema, []) && !annotatedElsewhere(inputSchema, reachable) ? found : undefined;
}

/** Only arguments that are always in the same place may be annotated: none below `items`, `oneOf`, `$defs` and the like. */
function annotatedElsewhere(value: unknown, reachable: ReadonlySet<object>, depth = 0): boolean {
  if (typeof value !== 'object' || value === null || depth > 4 * DEEPEST) return false;
  if (isObject(value) && typeof value['x-mcp-header'] === 'string' && !reachable.has(value)) return true;
  return Object.values(value).some((child) => annotatedElsewhere(child, reachable, depth + 1));
}

/** Names and values in turn. What is absent or null has no header. */
export function parameterHeaders(parameters: readonly HeaderParameter[], args: Params): string[] {
  return parameters.flatMap((parameter) => {
    const text = textOf(valueAt(args, parameter.path));
    return text === undefined ? [] : [`Mcp-Param-${parameter.name}`, encodeHeaderValue(text)];
  });
}

/** Why the headers of a call don't mirror its arguments; undefined when they do. `header` has the value of a lower-case name. */
export function parameterMismatch(
  parameters: readonly HeaderParameter[],
  args: Params,
  header: (name: string) => string | undefined,
): string | undefined {
  for (const { path, name, type } of parameters) {
    const value = valueAt(args, path);
    const text = textOf(value);
    if (text === undefined) continue;
    const sent = header(`mcp-param-${name.toLowerCase()}`);
    if (sent === undefined) return `The header Mcp-Param-${name} is missing.`;
    const decoded = decodeHeaderValue(sent.trim());
    const same = decoded === text || (type === 'integer' && DECIMAL.test(decoded ?? '') && Number(decoded) === Number(text));
    if (!same) return `The header Mcp-Param-${name} differs from the argument ${path.join('.')}.`;
  }
  return undefined;
}

const DECIMAL = /^-?\d{1,20}(?:\.\d{1,20})?$/;

function valueAt(root: unknown, path: readonly string[]): unknown {
  let value = root;
  for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value;
}

/** A number that no double has exactly is not mirrored, as one beyond 2^53. */
function textOf(value: unknown): string | undefined {
  if (isExact(value)) return isSameNumber(value, Number(value)) ? textOf(Number(value)) : undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' && Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? String(value)
    : undefined;
}
