import { kindOf } from '#components/explorer/document.ts';
import { COMMON_FLAGS, type Command, type Flag, FROM_PROMPT, flagOf, spelled } from './commands.ts';
import type { Token } from './tokens.ts';

/** A flag of a line: its name as help spells it, which field it is (undefined for none), and its value with its place in the line. */
export type Given = { name: string; token: Token; flag: Flag | undefined; value?: { text: string; start: number; end: number } };
export type Walked = {
  positions: Token[];
  given: Given[];
  /** The last flag, when the value it takes is still to come, or when it is a secret that goes on to the end of the line. */
  waiting?: Given;
};

/**
 * The words after a command, sorted into what stands by its place and what stands behind a flag. Judges nothing. All that stands behind a secret field
 * belongs to the secret, up to the next flag: one that was pasted without quotes must not leave its second word behind as a name.
 */
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
    const [typed, value] = parted(token);
    const flag = flagOf(command, typed);
    const one: Given = { name: spelled(typed), token, flag };
    given.push(one);
    const next = tokens[i + 1];
    if (value !== undefined) one.value = { text: value, start: token.start + token.text.length - value.length, end: token.end };
    else if (isAlone(one, next)) continue;
    else if (next && (!isFlag(next) || (flag?.isSecret && !isKnown(command, next)))) {
      one.value = next;
      i++;
    } else if (!next) return { positions, given, waiting: one };
    if (!flag?.isSecret || !one.value || one.value.text === ASKED) continue;
    const behind = tokens.findIndex((other, at) => at > i && isFlag(other));
    i = (behind === -1 ? tokens.length : behind) - 1;
    one.value = { ...one.value, end: (tokens[i] as Token).end };
    if (behind === -1) return { positions, given, waiting: one };
  }
  return { positions, given };
}

/** What stands for a secret on a line: it is asked for. */
export const ASKED = '-';

/** Two dashes; or one long one, which phones and word processors make of them. A key in PEM begins with five. */
const DASHES = /^(?:--(?!-)|[\u2013\u2014])/;
export const isFlag = ({ text, quoted }: Pick<Token, 'text' | 'quoted'>): boolean => DASHES.test(text) && !quoted;

/** Whether a word by itself was meant as a field: `-v x`, `value=x` and `'--value=x'` are not names of things. */
export function isFieldOf(command: Command, { text, quoted }: Token): boolean {
  if (/^-[a-z]/i.test(text) && !quoted) return true;
  const [, dashes, name = '', is] = /^(-*)([\w-]+)(=?)/.exec(text) ?? [];
  return Boolean(dashes || is) && flagOf(command, name) !== undefined;
}

/** The name of a flag and what stands behind its `=`. */
function parted({ text }: Token): [name: string, value?: string] {
  const bare = text.replace(DASHES, '');
  const at = bare.indexOf('=');
  return at === -1 ? [bare] : [bare.slice(0, at), bare.slice(at + 1)];
}

function isKnown(command: Command, token: Token): boolean {
  const [name] = parted(token);
  return flagOf(command, name) !== undefined || COMMON_FLAGS.some((one) => one === spelled(name));
}

/** `--help` never takes a value, `--enabled` may do without one. */
function isAlone({ name, flag }: Given, next: Token | undefined): boolean {
  if (name === 'help' || FROM_PROMPT.test(name)) return true;
  return flag !== undefined && kindOf(flag.field.schema) === 'flag' && !/^(?:true|false|null)$/.test(next?.text ?? '');
}
