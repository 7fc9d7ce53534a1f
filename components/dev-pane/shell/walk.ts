import { kindOf } from '#components/explorer/document.ts';
import { type Command, type Flag, flagOf } from './commands.ts';
import type { Token } from './tokens.ts';

/** A flag of a line: what was typed, which field it is (undefined for none), and its value with its place in the line. */
export type Given = { typed: string; token: Token; flag: Flag | undefined; value?: { text: string; start: number; end: number } };
export type Walked = {
  positions: Token[];
  given: Given[];
  /** The last flag, when the value it takes is still to come. */
  waiting?: Given;
};

/** The words after a command, sorted into what stands by its place and what stands behind a flag. Judges nothing. */
export function walk(command: Command, tokens: readonly Token[]): Walked {
  const positions: Token[] = [];
  const given: Given[] = [];
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i] as Token;
    if (token.text === '--' && !token.quoted) {
      positions.push(...tokens.slice(i + 1));
      break;
    }
    if (!isFlag(token)) {
      positions.push(token);
      continue;
    }
    const [typed = '', ...rest] = token.text.slice(2).split('=');
    const flag = flagOf(command, typed);
    const one: Given = { typed, token, flag };
    given.push(one);
    const next = tokens[i + 1];
    if (rest.length > 0) one.value = { text: rest.join('='), start: token.start + 3 + typed.length, end: token.end };
    else if (isAlone(one, typed, next)) continue;
    else if (next && !isFlag(next)) {
      one.value = next;
      i++;
    } else if (!next) return { positions, given, waiting: one };
  }
  return { positions, given };
}

export const isFlag = ({ text, quoted }: Token): boolean => text.startsWith('--') && !quoted;

/** `--help` never takes a value, `--enabled` may do without one. */
function isAlone({ flag }: Given, typed: string, next: Token | undefined): boolean {
  if (typed === 'help' || typed.endsWith('-from-prompt')) return true;
  return flag !== undefined && kindOf(flag.field.schema) === 'flag' && !/^(?:true|false|null)$/.test(next?.text ?? '');
}
