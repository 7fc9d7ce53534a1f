import { grouped } from '#components/ui/numbers.ts';
import { BUILT_IN, type Command, familiesOf, nearest, spelled, under } from './commands.ts';
import { didYouMean, LineProblem } from './line-problem.ts';
import { type CallReading, callOf } from './parse-call.ts';
import { isFlag } from './parse-words.ts';
import { LONGEST_LINE, type Token, tokensOf } from './tokens.ts';

/** What a line asks for. */
export type Reading =
  | { kind: 'nothing' | 'clear' | 'history' | 'forget' }
  | { kind: 'help'; commands: Command[] }
  | CallReading
  | { kind: 'problem'; message: string; next?: string | undefined };

/** Reads a line against the commands of this installation. Never throws, whatever was typed. */
export function readLine(line: string, commands: readonly Command[]): Reading {
  try {
    return read(line, commands);
  } catch (error) {
    if (error instanceof LineProblem) return { kind: 'problem', message: error.message, next: error.next };
    throw error;
  }
}

function read(line: string, commands: readonly Command[]): Reading {
  if (line.length > LONGEST_LINE)
    throw new LineProblem(`The line exceeds ${grouped(LONGEST_LINE)} characters.`, 'Use the API explorer for larger bodies.');
  const { tokens, unclosed } = tokensOf(line);
  if (unclosed) throw new LineProblem(`Missing closing ${unclosed}.`, `Close it, or write \\${unclosed} for a literal one.`);
  const [first, second] = tokens;
  if (!first) return { kind: 'nothing' };
  const word = spelled(first.text);
  if (word === 'clear') return { kind: 'clear' };
  if (word === 'history') return { kind: second?.text === 'clear' ? 'forget' : 'history' };
  if (word === 'help' || word === '--help') return { kind: 'help', commands: helpOn(tokens.slice(1), commands) };
  const found = commandAt(tokens, commands);
  if (found) return callOf(line, tokens, found.command);
  return { kind: 'help', commands: begun(wordsBefore(tokens), commands) };
}

function helpOn(tokens: readonly Token[], commands: readonly Command[]): Command[] {
  const words = wordsBefore(tokens);
  return words.length === 0 ? [...commands] : begun(words, commands, 'help ');
}

/** The command that the line begins with; the longest, where one is the beginning of another. */
export function commandAt(tokens: readonly Token[], commands: readonly Command[]): { command: Command; length: number } | undefined {
  const words = tokens.map(({ text }) => spelled(text));
  const [command] = commands
    .filter((one) => one.words.every((word, i) => words[i] === word))
    .sort((a, b) => b.words.length - a.words.length);
  return command && { command, length: command.words.length };
}

function wordsBefore(tokens: readonly Token[]): string[] {
  const end = tokens.findIndex(isFlag);
  return tokens.slice(0, end === -1 ? undefined : end).map(({ text }) => spelled(text));
}

/**
 * The commands that begin so. @throws LineProblem where none does, with what was probably meant. Only a slip of a known word is ever repeated: any
 * other may be a secret that was pasted into the wrong place.
 */
function begun(words: readonly string[], commands: readonly Command[], before = ''): Command[] {
  const meant = under(commands, words);
  if (words.length > 0 && meant.length > 0) return meant;
  const [family = ''] = words;
  const families = familiesOf(commands);
  if (!families.includes(family)) {
    const known = nearest(family, before ? families : [...families, ...BUILT_IN]);
    if (!known) throw new LineProblem('Unknown command.', 'Type `help` to list all commands.');
    const meant = before + [known, ...alsoKnown(known, words.slice(1), commands)].join(' ');
    throw new LineProblem(`Unknown command: ${family}.`, didYouMean(meant));
  }
  let known = 1;
  while (under(commands, words.slice(0, known + 1)).length > 0) known++;
  const group = words.slice(0, known);
  const options = [...new Set(under(commands, group).map((command) => command.words.slice(known).join(' ')))];
  const close = nearest(words.slice(known).join(' '), options) ?? nearest(words[known] ?? '', options);
  if (!close) throw new LineProblem(`${group.join(' ')} has no such command.`, `Available: ${options.join(', ')}.`);
  throw new LineProblem(`${group.join(' ')} has no command ${words[known]}.`, didYouMean(`${before}${group.join(' ')} ${close}`));
}

/** Of the words after the family that was meant, those that are right. */
function alsoKnown(family: string, words: readonly string[], commands: readonly Command[]): string[] {
  const end = words.findIndex((_, i) => under(commands, [family, ...words.slice(0, i + 1)]).length === 0);
  return words.slice(0, end === -1 ? undefined : end);
}
