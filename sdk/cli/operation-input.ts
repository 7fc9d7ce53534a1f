import fs from 'node:fs';
import { type JsonText, jsonText, membersOf, stringifyAround, textOfJson } from '#server/kernel/json-text.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import type { Call } from '../client.ts';
import type { Field, Operation } from '../operation.ts';
import { CliError } from './exit.ts';
import type { Terminal } from './terminal.ts';

export type Flags = Record<string, unknown>;

/** Flags of every command; a field of the same name gets `--field-` before it. */
export const RESERVED_FLAGS: ReadonlySet<string> = new Set(['data', 'json', 'all', 'yes', 'profile', 'host', 'help', 'version']);

/** `target_base_url` and `credentialId` as they are written on a command line. */
export const flagOf = (name: string) =>
  name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .replaceAll('_', '-')
    .toLowerCase();

/** What an operation is called with: path from the arguments, the rest from flags, `--data`, standard input and prompts. @throws CliError */
export async function inputOf(operation: Operation, args: readonly string[], flags: Flags, terminal: Terminal): Promise<Call> {
  const names = operation.params.filter((one) => one.in === 'path').map(({ name }) => name);
  const given = (place: Field['in']) =>
    Object.fromEntries(
      operation.params
        .filter((one) => one.in === place)
        .flatMap((one) => (flagValue(one, flags) === undefined ? [] : [[one.name, flagValue(one, flags)]])),
    );
  const body = await bodyOf(operation, flags, terminal);
  return {
    path: Object.fromEntries(names.map((name, at) => [name, args[at] ?? ''])),
    query: given('query'),
    headers: given('header') as Record<string, string>,
    ...(body === undefined ? {} : { body }),
  };
}

async function bodyOf(operation: Operation, flags: Flags, terminal: Terminal): Promise<unknown> {
  if (!operation.body) return undefined;
  const { fields, required } = operation.body;
  const base = await dataOf(flags.data as string | undefined, terminal);
  if (base !== undefined && !textOfJson(base).trimStart().startsWith('{')) throw new CliError('--data must be a JSON object.');
  const members = base === undefined ? [] : [...membersOf(textOfJson(base))];
  const inBase = Object.fromEntries(members.map(({ name, text }) => [name, text]));
  const given: Record<string, unknown> = {};
  // What is asked for depends on the rest.
  for (const field of [...fields].sort((a, b) => Number(a.secret ?? false) - Number(b.secret ?? false))) {
    const value = field.secret ? await secretOf(field, { ...inBase, ...given }, flags, terminal) : flagValue(field, flags);
    if (value !== undefined) given[field.name] = value;
  }
  if (base === undefined) return Object.keys(given).length > 0 || required ? given : undefined;
  if (Object.keys(given).length === 0) return base;
  // What isn't overridden stays as it was written.
  const kept = members.filter(({ name }) => !Object.hasOwn(given, name)).map(({ name, text }) => `${JSON.stringify(name)}:${text}`);
  const added = Object.entries(given).map(([name, value]) => `${JSON.stringify(name)}:${stringifyAround(value)}`);
  return jsonText(`{${[...kept, ...added].join()}}`);
}

/** A body as it is given on the command line: JSON, `@file`, or `-` for standard input. It goes as it is written. */
export async function dataOf(data: string | undefined, terminal: Terminal): Promise<JsonText | undefined> {
  if (data === undefined) return undefined;
  const text = await textOf(data, terminal);
  try {
    parseExact(text);
    return jsonText(text);
  } catch {
    // The text isn't repeated: it may hold secrets.
    throw new CliError(`--data is not JSON${data.startsWith('@') ? ` (${data.slice(1)})` : ''}.`);
  }
}

/** The text that `--data` means. */
export async function textOf(data: string, terminal: Terminal): Promise<string> {
  if (data === '-') return terminal.readInput();
  if (!data.startsWith('@')) return data;
  try {
    return fs.readFileSync(data.slice(1), 'utf8');
  } catch (error) {
    throw new CliError(`${data.slice(1)} can't be read: ${(error as NodeJS.ErrnoException).code}`);
  }
}

async function secretOf(field: Field, body: Flags, flags: Flags, terminal: Terminal): Promise<string | undefined> {
  const flag = flagOf(field.name);
  const variable = flags[camel(`${flag}-from-env`)] as string | undefined;
  if (variable !== undefined) {
    const value = terminal.env[variable];
    if (value === undefined) throw new CliError(`The environment variable ${variable} is not set.`);
    return value;
  }
  if (flags[camel(`${flag}-stdin`)] === true) return withoutLineEnd(await terminal.readInput());
  const needed = field.required || (field.neededWithout !== undefined && body[field.neededWithout] === undefined);
  if (!needed || body[field.name] !== undefined) return undefined;
  if (terminal.canAsk) return terminal.askSecret(`${field.name}: `);
  throw new CliError(`${field.name} is needed.`, { next_step: `Send it with --${flag}-stdin or --${flag}-from-env NAME.` });
}

/** `echo` and editors end a text with a line end that is no part of the value. */
export const withoutLineEnd = (text: string) => text.replace(/\r?\n$/, '');

function flagValue(field: Field, flags: Flags): unknown {
  const flag = flagOf(field.name);
  const value = flags[camel(RESERVED_FLAGS.has(flag) ? `field-${flag}` : flag)];
  return value === 'null' && field.nullable ? null : value;
}

/** Commander's name of a flag. */
const camel = (flag: string) => flag.replace(/-(.)/g, (_, letter: string) => letter.toUpperCase());
