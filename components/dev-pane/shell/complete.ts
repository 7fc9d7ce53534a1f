import { kindOf, withoutNull } from '#components/explorer/document.ts';
import { BUILT_IN, COMMON_FLAGS, type Command, familiesOf, positionsOf, under } from './commands.ts';
import { commandAt } from './parse-line.ts';
import { takes } from './parse-value.ts';
import { ASKED, type Given, isFieldOf, isFlag, walk } from './parse-words.ts';
import { listOf, type NameList } from './resource-names.ts';
import { quoted, type Token, tokensOf } from './tokens.ts';

export type Option = { value: string; detail?: string | undefined };
/** The word at the caret and what it may become. `names`: things of the person's own belong there too, to be asked for. */
export type Slot = {
  from: number;
  typed: string;
  options: Option[];
  names?: { command: Command; list: NameList; parents: Record<string, string> };
};

/** What can stand at the end of this text, which is the line up to the caret. */
export function slotAt(text: string, commands: readonly Command[]): Slot {
  const { tokens } = tokensOf(text);
  const last = tokens.at(-1);
  const isIn = last !== undefined && last.end === text.length && !/\s$/.test(text.slice(last.start));
  const before = isIn ? tokens.slice(0, -1) : tokens;
  const current: Token = isIn ? last : { text: '', start: text.length, end: text.length, quoted: false };
  const found = whatFits(before, current, commands);
  const typed = current.text.toLowerCase();
  return {
    from: current.start,
    typed: current.text,
    options: (found.options ?? []).filter(({ value }) => value.toLowerCase().startsWith(typed)),
    ...(found.names ? { names: found.names } : {}),
  };
}

type Fit = Pick<Slot, 'names'> & { options?: Option[] };

function whatFits(before: readonly Token[], current: Token, commands: readonly Command[]): Fit {
  const isHelp = before[0]?.text === 'help';
  const words = (isHelp ? before.slice(1) : before).map(({ text }) => text.toLowerCase().replaceAll('_', '-'));
  const found = isHelp ? undefined : commandAt(before, commands);
  const more = under(commands, words).filter((command) => command.words.length > words.length);
  if (more.length > 0 && !isFlag(current)) {
    const next = nextWords(more, words.length);
    const builtIn = before.length === 0 ? BUILT_IN.map((value) => ({ value })) : [];
    const own = found ? (afterCommand(found.command, before.slice(found.length), current, commands).options ?? []) : [];
    return { options: [...next, ...builtIn, ...own] };
  }
  if (found) return afterCommand(found.command, before.slice(found.length), current, commands);
  return words[0] === 'history' ? { options: [{ value: 'clear', detail: 'Clear the history on this device' }] } : {};
}

function nextWords(commands: readonly Command[], at: number): Option[] {
  if (at === 0) return familiesOf(commands).map((value) => ({ value }));
  const words = [...new Set(commands.map(({ words }) => words[at] ?? ''))];
  return words.map((value) => {
    const own = commands.find((command) => command.words[at] === value && command.words.length === at + 1);
    return { value, detail: own?.op.summary };
  });
}

function afterCommand(command: Command, after: readonly Token[], current: Token, commands: readonly Command[]): Fit {
  const { positions, given, waiting } = walk(command, after);
  const places = positionsOf(command);
  const parents = Object.fromEntries(places.map((name, i) => [name, positions[i]?.text ?? '']));
  if (waiting && !isFlag(current)) return waiting.value ? {} : valuesOf(command, waiting, parents, commands);
  const used = new Set(given.map(({ flag, name }) => flag?.name ?? name));
  const flags: Option[] = [...command.flags]
    .filter(([, { name, place, field }]) => place !== 'path' && (!used.has(name) || kindOf(field.schema) === 'words'))
    .sort(([, a], [, b]) => Number(b.field.required) - Number(a.field.required))
    .map(([word, { field }]) => ({ value: `--${word}`, detail: field.schema.description ?? takes(field.schema) }));
  const common = COMMON_FLAGS.filter((name) => !used.has(name) && (name !== 'json' || command.op.inBody.length > 0)).map((name) => ({
    value: `--${name}`,
  }));
  const alone = given.at(-1);
  const yesNo = alone?.flag && !alone.value && after.at(-1) === alone.token ? YES_NO : [];
  const place = [...command.flags.values()].find((flag) => flag.place === 'path' && flag.name === places[positions.length]);
  const list = place && !isFlag(current) && !isFieldOf(command, current) ? listOf(command, place, commands) : undefined;
  if (list) return { options: [], names: { command, list, parents } };
  return { options: [...yesNo, ...flags, ...common] };
}

const YES_NO: Option[] = [{ value: 'true' }, { value: 'false' }];

function valuesOf(command: Command, { name, flag }: Given, parents: Record<string, string>, commands: readonly Command[]): Fit {
  if (!flag) return { options: name === 'output' ? [{ value: 'table' }, { value: 'json' }] : [] };
  if (flag.isSecret) return { options: [{ value: ASKED, detail: 'Asks for it, hidden' }] };
  const { schema, nullable } = withoutNull(flag.field.schema);
  const choices = schema.enum?.map((value) => ({ value: String(value) })) ?? [];
  const list = listOf(command, flag, commands);
  const nothing = nullable && (choices.length > 0 || list) ? [{ value: 'null', detail: 'None' }] : [];
  return { options: [...choices, ...nothing], ...(list ? { names: { command, list, parents } } : {}) };
}

/** The text with its last word replaced by one of the options, ready for the next word. */
export const completed = (text: string, { from }: Slot, value: string): string => `${text.slice(0, from)}${quoted(value)} `;

/** How far all options agree, as the first of several presses of Tab goes. */
export function commonStart(values: readonly string[]): string {
  const [first = ''] = values;
  let end = first.length;
  for (const value of values) while (!value.startsWith(first.slice(0, end))) end--;
  return first.slice(0, end);
}
