import { type ApiField, kindOf, type Schema } from '#components/explorer/document.ts';
import { parseExact } from '#server/kernel/lossless-json.ts';
import { COMMON_FLAGS, type Command, type Flag, nearest, positionsOf, spelled } from './commands.ts';
import { didYouMean, LineProblem } from './line-problem.ts';
import { parseValue } from './parse-value.ts';
import { ASKED, type Given, isFieldOf, type Walked, walk } from './parse-words.ts';
import { type RedactedLine, redactLine } from './redact-line.ts';
import type { Token } from './tokens.ts';

/** A call as it was typed: names may still stand where ids belong. */
export type TypedCall = {
  path: Record<string, string>;
  query: Record<string, string>;
  headers: Record<string, string>;
  body: Record<string, unknown> | undefined;
};
export type CallReading =
  | { kind: 'help'; commands: Command[] }
  | ({
      kind: 'call';
      command: Command;
      call: TypedCall;
      as: 'table' | 'json';
      /** Secret fields, to be asked for. */
      ask: ApiField[];
      /** Those of them that were typed on the line all the same; what was typed is not used. */
      dropped: string[];
    } & RedactedLine);

/** Fields and their values, as maps: no name that is typed can reach a prototype. */
type Filled = Record<Flag['place'], Map<string, unknown>> & { as: 'table' | 'json'; dropped: string[] };

/** What a line that begins with a command asks for. @throws LineProblem */
export function callOf(line: string, tokens: readonly Token[], command: Command): CallReading {
  const walked = walk(command, tokens.slice(command.words.length));
  if (walked.given.some(({ name, flag }) => name === 'help' && !flag)) return { kind: 'help', commands: [command] };
  if (command.op.machineOnly)
    throw new LineProblem(`${named(command)} can’t be run while signed in.`, 'See the API explorer for code to run it.');
  const filled = fill(command, walked);
  const missing = missingOf(command, filled);
  if (missing.length > 0)
    throw new LineProblem(
      `${named(command)} requires ${missing.join(', ')}.`,
      walked.given.some(({ flag, value }) => flag?.isSecret && value)
        ? 'Everything after a secret field is part of the secret. Put other arguments before it.'
        : helpOf(command),
    );
  const texts = (place: 'path' | 'query' | 'headers') =>
    Object.fromEntries([...filled[place]].map(([name, value]) => [name, String(value)]));
  return {
    kind: 'call',
    command,
    call: {
      path: texts('path'),
      query: texts('query'),
      headers: texts('headers'),
      body: command.op.inBody.length > 0 ? Object.fromEntries(filled.body) : undefined,
    },
    as: filled.as,
    ask: [...command.flags.values()].filter((flag) => isAsked(flag, filled, walked)).map(({ field }) => field),
    dropped: filled.dropped,
    ...redactLine(line, tokens, command, walked),
  };
}

/** Secrets that the line names, and those the call can't do without. */
function isAsked(flag: Flag, filled: Filled, { given }: Walked): boolean {
  if (!flag.isSecret) return false;
  const instead = flag.field.schema['x-needed-without'];
  const needed = flag.field.required || (instead !== undefined && !filled.body.has(instead));
  return needed || filled.dropped.includes(flag.name) || given.some((one) => one.flag?.name === flag.name);
}

const named = ({ words }: Command) => words.join(' ');
const helpOf = (command: Command) => `\`${named(command)} --help\` tells what it takes.`;

function fill(command: Command, { positions, given }: Walked): Filled {
  const filled: Filled = { path: new Map(), query: new Map(), headers: new Map(), body: new Map(), as: 'table', dropped: [] };
  const places = positionsOf(command);
  const field = positions.find((token) => isFieldOf(command, token));
  if (field) throw new LineProblem('Fields start with two dashes outside quotes, for example --help.', helpOf(command));
  if (positions.length > places.length)
    throw new LineProblem(
      places.length === 0 ? `${named(command)} only takes flags.` : `Too many arguments for ${named(command)}.`,
      `Put values with spaces in quotes. ${helpOf(command)}`,
    );
  for (const [i, { text }] of positions.entries()) filled.path.set(places[i] ?? '', text);

  const texts = new Map<Flag, string[]>();
  for (const one of given) {
    const { flag, name, value } = one;
    if (!flag) common(command, one, filled, given);
    else if (flag.isSecret) {
      if (value && value.text !== ASKED) filled.dropped.push(flag.name);
    } else if (!value && kindOf(flag.field.schema) !== 'flag') throw new LineProblem(`--${name} requires a value.`, helpOf(command));
    else texts.set(flag, [...(texts.get(flag) ?? []), value?.text ?? 'true']);
  }
  for (const [flag, all] of texts) {
    const meant = parseValue(flag.field, all);
    if ('problem' in meant) throw new LineProblem(`--${spelled(flag.name)} ${meant.problem}.`);
    put(filled, flag, meant.value);
  }
  return filled;
}

function put(filled: Filled, { place, name, field }: Flag, value: unknown): void {
  if (filled[place].has(name)) throw new LineProblem(`${name} is given twice.`);
  const secret = secretIn(field.schema, value);
  if (secret) throw new LineProblem(`In ${name}, ${secret} is a secret, and none is taken from a line.`, 'The API explorer can send it.');
  filled[place].set(name, value);
}

/** The member that its schema marks as a secret, wherever in a value it stands. */
function secretIn({ properties, items, anyOf = [] }: Schema, value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const members: [name: string, schema: Schema, value: unknown][] = Object.entries(value).flatMap(([name, member]) => {
    const schema = Array.isArray(value) ? items : properties && Object.hasOwn(properties, name) ? properties[name] : undefined;
    return schema ? [[name, schema, member]] : [];
  });
  for (const [name, schema, member] of members) {
    const found = schema['x-secret'] ? name : secretIn(schema, member);
    if (found) return found;
  }
  return anyOf.map((one) => secretIn(one, value)).find(Boolean);
}

/** `--output` and `--json`. @throws LineProblem for a flag that nothing knows */
function common(command: Command, { name, value, token }: Given, filled: Filled, given: readonly Given[]): void {
  if (name === 'output' || name === 'json') {
    if (!value)
      throw new LineProblem(`--${name} requires a value.`, name === 'json' ? `For example, --json '{"name": "x"}'.` : 'Use table or json.');
    if (given.some((other) => other.name === name && other.token !== token)) throw new LineProblem(`--${name} is given twice.`);
    if (name === 'json') fromJson(value.text, command, filled);
    else if (value.text === 'table' || value.text === 'json') filled.as = value.text;
    else throw new LineProblem('--output takes table or json.');
    return;
  }
  const meant = nearest(name, [...command.flags.keys(), ...COMMON_FLAGS]);
  if (!meant) throw new LineProblem(`${named(command)} got an unknown flag.`, helpOf(command));
  throw new LineProblem(`${named(command)} has no --${name}.`, didYouMean(`--${meant}`));
}

/** Takes the members of `--json` over: only the body's own fields, each once. A secret among them is asked for instead. */
function fromJson(text: string, command: Command, filled: Filled): void {
  let given: unknown;
  try {
    given = parseExact(text);
  } catch {
    throw new LineProblem('--json is not valid JSON.', `Put it in single quotes, for example --json '{"name": "x"}'.`);
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new LineProblem('--json must be an object.', `For example, --json '{"name": "x"}'.`);
  const fields = new Map([...command.flags.values()].filter(({ place }) => place === 'body').map((flag) => [flag.name, flag]));
  if (fields.size === 0) throw new LineProblem(`${named(command)} takes no body, so --json can’t be used.`);
  for (const [name, value] of Object.entries(given)) {
    const flag = fields.get(name);
    if (!flag) {
      const meant = nearest(name, [...fields.keys()].map(spelled))?.replaceAll('-', '_');
      if (!meant) throw new LineProblem(`--json contains a field that ${named(command)} doesn’t have.`, helpOf(command));
      throw new LineProblem(`--json: unknown field ${name}.`, didYouMean(meant));
    }
    if (flag.isSecret) filled.dropped.push(name);
    else put(filled, flag, value);
  }
}

function missingOf(command: Command, filled: Filled): string[] {
  return [...command.flags].flatMap(([word, { place, name, field, isSecret }]) => {
    if (place === 'path') return filled.path.get(name) ? [] : [`<${word}>`];
    return field.required && !isSecret && !filled[place].has(name) ? [`--${word}`] : [];
  });
}
