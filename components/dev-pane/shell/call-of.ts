import { type ApiField, kindOf } from '#components/explorer/document.ts';
import { COMMON_FLAGS, type Command, type Flag, flagOf, nearest, positionsOf, spelled } from './commands.ts';
import { didYouMean, LineProblem, shortly } from './line-problem.ts';
import { type Told, toldOf } from './private.ts';
import type { Token } from './tokens.ts';
import { meantBy } from './values.ts';
import { type Given, type Walked, walk } from './walk.ts';

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
    } & Told);

/** Fields and their values, as maps: no name that is typed can reach a prototype. */
type Filled = Record<Flag['place'], Map<string, unknown>> & { as: 'table' | 'json'; dropped: string[] };

/** What a line that begins with a command asks for. @throws LineProblem */
export function callOf(line: string, tokens: readonly Token[], command: Command): CallReading {
  const walked = walk(command, tokens.slice(command.words.length));
  if (walked.given.some(({ typed, flag }) => typed === 'help' && !flag)) return { kind: 'help', commands: [command] };
  if (command.op.machineOnly)
    throw new LineProblem(`${named(command)} is not for people who are signed in.`, 'The API explorer has the code a machine runs for it.');
  const filled = fill(command, walked);
  const missing = missingOf(command, filled);
  if (missing.length > 0) throw new LineProblem(`${named(command)} still needs ${missing.join(', ')}.`, helpOf(command));
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
    ask: [...command.flags.values()].filter(({ isSecret }) => isSecret).map(({ field }) => field),
    dropped: filled.dropped,
    ...toldOf(line, tokens, command, walked),
  };
}

const named = ({ words }: Command) => words.join(' ');
const helpOf = (command: Command) => `\`${named(command)} --help\` tells what it takes.`;

function fill(command: Command, { positions, given }: Walked): Filled {
  const filled: Filled = { path: new Map(), query: new Map(), headers: new Map(), body: new Map(), as: 'table', dropped: [] };
  const places = positionsOf(command);
  const dash = positions.find(({ text, quoted }) => /^-[a-z]/i.test(text) && !quoted);
  if (dash) throw new LineProblem('Flags begin with two dashes, such as --help.', helpOf(command));
  if (positions.length > places.length)
    throw new LineProblem(
      places.length === 0 ? `${named(command)} takes flags only.` : `There is a word too many after ${named(command)}.`,
      `A value with spaces stands in quotes. ${helpOf(command)}`,
    );
  for (const [i, { text }] of positions.entries()) filled.path.set(places[i] ?? '', text);

  const texts = new Map<Flag, string[]>();
  for (const one of given) {
    const { flag, typed, value } = one;
    if (!flag) common(command, one, filled, given);
    else if (flag.isSecret) {
      if (value && value.text !== '-') filled.dropped.push(flag.name);
    } else if (!value && kindOf(flag.field.schema) !== 'flag') throw new LineProblem(`--${typed} needs a value.`, helpOf(command));
    else texts.set(flag, [...(texts.get(flag) ?? []), value?.text ?? 'true']);
  }
  for (const [flag, all] of texts) {
    const meant = meantBy(flag.field, all);
    if ('problem' in meant) throw new LineProblem(`--${spelled(flag.name)} ${meant.problem}.`);
    put(filled, flag, meant.value);
  }
  return filled;
}

function put(filled: Filled, { place, name }: Flag, value: unknown): void {
  if (filled[place].has(name)) throw new LineProblem(`${name} stands there twice.`);
  filled[place].set(name, value);
}

/** `--output`, `--json` and `--value-from-prompt`. @throws LineProblem for a flag that nothing knows */
function common(command: Command, { typed, value, token }: Given, filled: Filled, given: readonly Given[]): void {
  const word = spelled(typed);
  if (word === 'output' || word === 'json') {
    if (!value)
      throw new LineProblem(`--${word} needs a value.`, word === 'json' ? `Such as --json '{"name": "x"}'.` : 'That is table or json.');
    if (given.some((other) => spelled(other.typed) === word && other.token !== token))
      throw new LineProblem(`--${word} stands there twice.`);
    if (word === 'json') fromJson(value.text, command, filled);
    else if (value.text === 'table' || value.text === 'json') filled.as = value.text;
    else throw new LineProblem('--output takes table or json.');
    return;
  }
  if (word.endsWith(FROM_PROMPT) && flagOf(command, word.slice(0, -FROM_PROMPT.length))?.isSecret) return;
  throw new LineProblem(
    `${named(command)} has no --${shortly(word)}.`,
    didYouMean(dashed(nearest(word, [...command.flags.keys(), ...COMMON_FLAGS]))) ?? helpOf(command),
  );
}

const FROM_PROMPT = '-from-prompt';
const dashed = (name: string | undefined) => name && `--${name}`;

/** Takes the members of `--json` over: only the body's own fields, each once. A secret among them is asked for instead. */
function fromJson(text: string, command: Command, filled: Filled): void {
  let given: unknown;
  try {
    given = JSON.parse(text);
  } catch {
    throw new LineProblem('--json is not valid JSON.', `It stands in single quotes, such as --json '{"name": "x"}'.`);
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new LineProblem('--json takes an object.', `Such as --json '{"name": "x"}'.`);
  const fields = new Map([...command.flags.values()].filter(({ place }) => place === 'body').map((flag) => [flag.name, flag]));
  if (fields.size === 0) throw new LineProblem(`${named(command)} sends no body, so there is nothing for --json.`);
  for (const [name, value] of Object.entries(given)) {
    const flag = fields.get(name);
    if (!flag)
      throw new LineProblem(
        `--json: there is no field ${shortly(name)}.`,
        didYouMean(nearest(name, [...fields.keys()].map(spelled))?.replaceAll('-', '_')) ?? helpOf(command),
      );
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
