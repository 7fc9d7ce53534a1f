import { isExact } from '#server/kernel/lossless-json.ts';
import { isObject } from './messages.ts';
import { headerParameters } from './parameter-headers.ts';

/** A tool as `tools/list` has it. Members beyond those that are named are passed on, but `execution`: it is about tasks, which we don't serve. */
export type Tool = {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly outputSchema?: Readonly<Record<string, unknown>>;
  readonly annotations?: Readonly<Record<string, unknown>>;
  readonly icons?: readonly unknown[];
  readonly _meta?: Readonly<Record<string, unknown>>;
};

const LONGEST_NAME = 128;
const LONGEST_DESCRIPTION = 16 * 1024;
const LONGEST_SCHEMA = 128 * 1024;

/** A tool of an upstream's list as clients may see it; undefined when it can't be shown: malformed, too large, or with a header annotation that isn't valid. */
export function readTool(value: unknown): Tool | undefined {
  if (!isObject(value)) return undefined;
  const { name, title, description, inputSchema, outputSchema, annotations, icons, _meta, execution: _, ...others } = value;
  if (typeof name !== 'string' || name === '' || name.length > LONGEST_NAME || /[\p{Cc}\p{Cf}]/u.test(name)) return undefined;
  if (!isSchema(inputSchema) || (outputSchema !== undefined && !isSchema(outputSchema))) return undefined;
  if (headerParameters(inputSchema) === undefined || JSON.stringify(others).length > LONGEST_SCHEMA) return undefined;
  return {
    ...others,
    name,
    ...(typeof title === 'string' && { title: title.slice(0, 256) }),
    ...(typeof description === 'string' && { description: description.slice(0, LONGEST_DESCRIPTION) }),
    inputSchema,
    ...(outputSchema !== undefined && { outputSchema }),
    ...(isObject(annotations) && { annotations }),
    ...(Array.isArray(icons) && { icons: icons.filter(isSafeIcon).slice(0, 16) }),
    ...(isObject(_meta) && { _meta }),
  };
}

function isSchema(value: unknown): value is Readonly<Record<string, unknown>> {
  return isObject(value) && value.type === 'object' && JSON.stringify(value).length <= LONGEST_SCHEMA;
}

/** A client fetches icons: nothing but pictures in the text itself, or over https. */
const isSafeIcon = (icon: unknown): boolean =>
  isObject(icon) && typeof icon.src === 'string' && icon.src.length <= 64 * 1024 && /^(?:https:\/\/|data:image\/)/i.test(icon.src);

/** What an administrator says about one tool. */
export type ToolPolicy = {
  readonly enabled: boolean;
  /** Its definition changed after it was approved. */
  readonly quarantined: boolean;
  readonly description: string | null;
  readonly inputSchema: Readonly<Record<string, unknown>> | null;
};

export type Advertising = {
  readonly allowed: ReadonlySet<string>;
  /** Of the token; null: all. */
  readonly scope: ReadonlySet<string> | null;
  policy(name: string): ToolPolicy | undefined;
};

/** Whether a caller may know and call a tool of this name. */
export function mayUse(name: string, { allowed, scope, policy }: Advertising): boolean {
  if (!allowed.has(name) || (scope !== null && !scope.has(name))) return false;
  const row = policy(name);
  return row === undefined || (row.enabled && !row.quarantined);
}

/** The tools that a caller sees, by name, with an administrator's words in place of the upstream's (interface rule 52 §5). */
export const advertised = (tools: readonly Tool[], rules: Advertising): Tool[] =>
  tools
    .filter(({ name }) => mayUse(name, rules))
    .map((tool) => overridden(tool, rules.policy(tool.name)))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));

function overridden(tool: Tool, row: ToolPolicy | undefined): Tool {
  if (!row || (row.description === null && row.inputSchema === null)) return tool;
  return {
    ...tool,
    ...(row.description !== null && { description: row.description }),
    ...(row.inputSchema !== null && { inputSchema: row.inputSchema }),
  };
}

/** Texts of a tool that a model may read, for the firewall: names, descriptions, everything in its schemas, and in members that we don't know. */
export const textsOf = ({ icons: _, _meta: __, ...read }: Tool): string[] => stringsOf(Object.values(read));

function stringsOf(value: unknown, found: string[] = [], depth = 0): string[] {
  if (typeof value === 'string') found.push(value);
  else if (typeof value === 'object' && value !== null && !isExact(value) && depth < 64)
    for (const [key, child] of Object.entries(value)) {
      if (!Array.isArray(value)) found.push(key);
      stringsOf(child, found, depth + 1);
    }
  return found;
}
