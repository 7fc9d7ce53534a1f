import type { AgentOptions } from './use-agent-options.ts';

/** How a setting is typed: as text, in lines, from a list. What is empty is null, or no entry. */
export type SettingKind =
  | { kind: 'text'; mono?: boolean; placeholder?: string }
  | { kind: 'area'; mono?: boolean; placeholder?: string }
  | { kind: 'integer'; suffix?: string; placeholder?: string; required?: boolean }
  | { kind: 'decimal'; suffix?: string; placeholder?: string; required?: boolean }
  | { kind: 'lines'; placeholder?: string }
  /** One `name = value` per line. */
  | { kind: 'pairs'; placeholder?: string; numeric?: boolean }
  | { kind: 'json'; placeholder?: string }
  /** `unset` is what a flag without a value means. */
  | { kind: 'flag'; unset?: boolean }
  | { kind: 'choice'; options: readonly { value: string; title: string; description?: string }[]; empty?: string }
  | { kind: 'one'; from: keyof AgentOptions; empty: string }
  | { kind: 'many'; from: keyof AgentOptions; empty: string };

/** One setting of a row. A name with a dot is a member of an object, which is saved whole. */
export type Setting<Name extends string = string> = SettingKind & { name: Name; label: string; hint?: string };

export type SettingValues = Record<string, string | boolean | string[]>;
type Row = Readonly<Record<string, unknown>>;

/** Names in a form: react-hook-form reads a dot as a path. */
export const keyOf = (name: string): string => name.replace('.', '__');

function stored(row: Row, name: string): unknown {
  const [outer = '', inner] = name.split('.');
  const value = row[outer];
  return inner === undefined ? value : (value as Row | null)?.[inner];
}

/** A row as a form shows it. */
export function valuesOf(settings: readonly Setting[], row: Row): SettingValues {
  return Object.fromEntries(settings.map((setting) => [keyOf(setting.name), shown(setting, stored(row, setting.name))]));
}

function shown(setting: Setting, value: unknown): string | boolean | string[] {
  switch (setting.kind) {
    case 'flag':
      return value === undefined ? (setting.unset ?? false) : value === true;
    case 'many':
      return Array.isArray(value) ? value.map(String) : [];
    case 'lines':
      return Array.isArray(value) ? value.join('\n') : '';
    case 'pairs':
      return Object.entries((value as Record<string, unknown> | undefined) ?? {})
        .map(([name, of]) => `${name} = ${String(of)}`)
        .join('\n');
    case 'json':
      return value === null || value === undefined ? '' : JSON.stringify(value, null, 2);
    default:
      return value === null || value === undefined ? '' : String(value);
  }
}

/** What is wrong with a text before it is sent; the service judges the rest. */
export function problemOf(setting: Setting, value: SettingValues[string]): string | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  switch (setting.kind) {
    case 'integer':
      if (text === '') return setting.required ? 'is required' : undefined;
      return /^\d{1,10}$/.test(text) ? undefined : 'must be a whole number';
    case 'decimal':
      if (text === '') return setting.required ? 'is required' : undefined;
      return /^\d{1,7}(?:\.\d{1,4})?$/.test(text) ? undefined : 'must be a number with at most 4 decimals';
    case 'pairs': {
      const bad = linesOf(text).find((line) => pairOf(line) === undefined);
      return bad === undefined ? undefined : `“${bad}” must be written as name = value`;
    }
    case 'json':
      return text === '' || parsedObject(text) !== undefined ? undefined : 'must be a JSON object';
    default:
      return undefined;
  }
}

/** Reads a JSON text. */
type Parse = (text: string) => unknown;

/** The members of a call that change what differs from before. What is saved is read by `parseExact`, which comes with a form that has such a text. */
export function changesOf(
  settings: readonly Setting[],
  values: SettingValues,
  row: Row,
  parse: Parse = JSON.parse,
): Record<string, unknown> {
  const before = valuesOf(settings, row);
  const changes: Record<string, unknown> = {};
  for (const setting of settings) {
    const key = keyOf(setting.name);
    if (JSON.stringify(values[key]) === JSON.stringify(before[key])) continue;
    const [outer = '', inner] = setting.name.split('.');
    if (inner === undefined) {
      changes[outer] = wire(setting, values[key], parse);
      continue;
    }
    const whole: Record<string, unknown> = { ...((changes[outer] ?? row[outer]) as Row | undefined) };
    const member = wire(setting, values[key], parse);
    if (member === null) delete whole[inner];
    else whole[inner] = member;
    changes[outer] = whole;
  }
  return changes;
}

function wire(setting: Setting, value: SettingValues[string] | undefined, parse: Parse): unknown {
  if (typeof value !== 'string') return value;
  const text = value.trim();
  switch (setting.kind) {
    case 'integer':
      return text === '' ? null : Number(text);
    case 'lines':
      return linesOf(text);
    case 'pairs':
      return Object.fromEntries(
        linesOf(text).flatMap((line) => {
          const pair = pairOf(line);
          return pair ? [[pair[0], setting.numeric ? Number(pair[1]) : pair[1]]] : [];
        }),
      );
    case 'json':
      return text === '' ? null : parsedObject(text, parse);
    default:
      return text === '' ? null : text;
  }
}

const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

function pairOf(line: string): [string, string] | undefined {
  const at = line.indexOf('=');
  const [name, value] = [line.slice(0, at).trim(), line.slice(at + 1).trim()];
  return at > 0 && name && value ? [name, value] : undefined;
}

function parsedObject(text: string, parse: Parse = JSON.parse): Record<string, unknown> | undefined {
  try {
    const value = parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
