import { formatRange, parseAddress } from '#server/kernel/address.ts';

// What a leaf may be called (interface rule 43 §5): one spelling of every name, and the patterns of a role that allow it.

/** The part of a role that decides on names. Patterns are as `normalizePattern` spells them. */
export type NameRules = { allowed_domains: readonly string[]; allow_subdomains: boolean; allow_wildcards: boolean };

/** `pattern` is the first one that allows the name. `name` is in its one spelling; null when it isn't a name at all. */
export type NameVerdict =
  | { allowed: true; name: string; pattern: string }
  | { allowed: false; name: string | null; why: 'malformed' | 'no_domains' | 'wildcards_off' | 'broad_wildcard' | 'no_match' };

/** Whether a role allows a DNS name. Takes time in proportion to the name and the patterns, whatever they hold. */
export function judgeName(rules: NameRules, text: string): NameVerdict {
  const name = normalizeName(text);
  if (name === null) return { allowed: false, name, why: 'malformed' };
  if (rules.allowed_domains.length === 0) return { allowed: false, name, why: 'no_domains' };
  const below = name.startsWith('*.') ? name.slice(2) : undefined;
  if (below !== undefined && !rules.allow_wildcards) return { allowed: false, name, why: 'wildcards_off' };
  if (below !== undefined && !below.includes('.')) return { allowed: false, name, why: 'broad_wildcard' };
  const pattern = rules.allowed_domains.find((one) =>
    below === undefined ? matches(one, name, rules) : matchesWildcard(one, name, below, rules),
  );
  return pattern === undefined ? { allowed: false, name, why: 'no_match' } : { allowed: true, name, pattern };
}

/**
 * Whether a role allows a common name. One that reads as a host name is judged like any other and comes back as a name for the SANs; what is no host name,
 * such as a person's, only a role for every name allows.
 */
export function judgeCommonName(rules: NameRules, text: string): NameVerdict & { host: boolean } {
  if (normalizeName(text) !== null) return { ...judgeName(rules, text), host: true };
  if (rules.allowed_domains.includes('*')) return { allowed: true, name: text, pattern: '*', host: false };
  return { allowed: false, name: text, why: rules.allowed_domains.length === 0 ? 'no_domains' : 'no_match', host: false };
}

/** Rules 1 to 5 of §5. */
function matches(pattern: string, name: string, { allow_subdomains: below }: NameRules): boolean {
  if (pattern === '*' || pattern === name) return true;
  if (pattern.startsWith('*.')) return below && name.endsWith(pattern.slice(1)) && name.length > pattern.length - 1;
  if (pattern.includes('*')) return matchesLabels(pattern, name);
  return below && name.endsWith(`.${pattern}`);
}

/** The rule for a name whose whole left label is an asterisk; `base` is what follows it. */
function matchesWildcard(pattern: string, name: string, base: string, { allow_subdomains }: NameRules): boolean {
  if (pattern === name) return true;
  if (!allow_subdomains) return false;
  if (pattern === '*') return true;
  const parent = pattern.startsWith('*.') ? pattern.slice(2) : pattern;
  return !parent.includes('*') && (base === parent || base.endsWith(`.${parent}`));
}

/** Label by label: an asterisk stands for any run of a-z, 0-9 and hyphens within its label. */
function matchesLabels(pattern: string, name: string): boolean {
  const [expected, given] = [pattern.split('.'), name.split('.')];
  return expected.length === given.length && expected.every((label, n) => matchesLabel(label, given[n] ?? ''));
}

/** The pieces between asterisks, each at the first place it fits. A later place would never help: that only lengthens the run before it. */
function matchesLabel(pattern: string, label: string): boolean {
  const [first = '', ...pieces] = pattern.split('*');
  const last = pieces.pop();
  if (last === undefined) return pattern === label;
  const end = label.length - last.length;
  if (!label.startsWith(first) || !label.endsWith(last) || end < first.length) return false;
  let at = first.length;
  for (const piece of pieces) {
    const found = label.indexOf(piece, at);
    if (found < 0 || found + piece.length > end || label.slice(at, found).includes('_')) return false;
    at = found + piece.length;
  }
  return !label.slice(at, end).includes('_');
}

/** Characters of a name before it is brought into A-labels, which are never shorter. */
const LONGEST_NAME = 253;

/**
 * The one spelling of a DNS name: lower case, A-labels, no dot at the end. Null for what is none: an address, a label that is empty or too long, a character
 * that IDNA2008 doesn't allow. A name may begin with `*.`.
 */
export function normalizeName(text: string): string | null {
  const given = withoutDot(text);
  if (!given.startsWith('*.')) return hostName(given, UNDERSCORED);
  const base = hostName(given.slice(2), PLAIN);
  return base === null || base.length + 2 > LONGEST_NAME ? null : `*.${base}`;
}

/** The one spelling of a pattern of a role, or null: `*`, a name, `*.` and a name, or a name with asterisks inside of its labels. */
export function normalizePattern(text: string): string | null {
  const given = withoutDot(text);
  if (given === '*') return text === given ? given : null;
  if (!given.includes('*') || (given.startsWith('*.') && !given.includes('*', 1))) return normalizeName(given);
  // The asterisks stand inside of labels. One at the left end as well would mean two rules at once.
  if (given.startsWith('*.') || given.length > LONGEST_NAME) return null;
  const labels = given.toLowerCase().split('.');
  return labels.every((label) => (label.includes('*') ? STARRED.test(label) && label.length <= 63 : UNDERSCORED.test(label)))
    ? labels.join('.')
    : null;
}

const withoutDot = (text: string): string => (text.endsWith('.') ? text.slice(0, -1) : text);

const PLAIN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const UNDERSCORED = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;
const STARRED = /^[a-z0-9_*](?:[a-z0-9_*-]*[a-z0-9_*])?$/;

function hostName(text: string, label: RegExp): string | null {
  if (text.length === 0 || text.length > LONGEST_NAME) return null;
  const lower = text.toLowerCase().normalize('NFC');
  const name = ASCII.test(lower) && !lower.includes('xn--') ? lower : aLabels(lower);
  if (name === null || name.length > LONGEST_NAME) return null;
  const labels = name.split('.');
  // What ends in a number is an address to every client that parses URLs.
  return labels.every((one) => label.test(one)) && !NUMBER.test(labels.at(-1) ?? '') ? name : null;
}
const ASCII = /^[\x21-\x7e]+$/;
const NUMBER = /^(?:[0-9]+|0x[0-9a-f]*)$/;

/**
 * The labels as A-labels. The URL standard's conversion checks joiners, direction and that punycode is canonical; which characters a label may hold is
 * looked up before it, since it maps and allows more than IDNA2008 does.
 */
function aLabels(name: string): string | null {
  const bare: string[] = [];
  for (const label of name.split('.')) {
    const unicode = label.startsWith('xn--') ? decoded(label.slice(4)) : label;
    if (unicode === null || !isLabel([...unicode])) return null;
    if (unicode !== label && ASCII.test(unicode)) return null;
    bare.push(unicode.replaceAll(/[\u200c\u200d]/g, ''));
  }
  // Joiners count for nothing in the rules of direction (RFC 5893 §2), but hide from the conversion what they stand beside.
  return converted(bare.join('.')) === null ? null : converted(name);
}

/** The label behind keeps a number at the end from being read as an address; it is left to right, as every bidi name may have. */
function converted(name: string): string | null {
  const host = URL.parse(`http://${name}.x/`)?.hostname;
  return host?.endsWith('.x') ? host.slice(0, -2) : null;
}

const isLabel = (label: readonly string[]): boolean =>
  !COMBINING.test(label[0] ?? '') &&
  !HYPHENS.test(label.join('')) &&
  label.every((one, at) => !isJoiner(one) || VIRAMA.test(label[at - 1] ?? '') || label.filter(isJoiner).length === 1) &&
  label.every((one, at) => isPermitted(one) || (CONTEXTS[one]?.(label, at) ?? false)) &&
  !MIXED.every((digits) => label.some((one) => digits.test(one)));
/** Where a label in Unicode has none (RFC 5891 §4.2.3.1). Of labels in ASCII only the outer ones are checked, by the form of the whole name. */
const HYPHENS = /^-|-$|^(?=.*[^\x00-\x7f])..--/u;
/** After a virama, or alone, where the conversion checks it by its neighbours (RFC 5892, appendix A.1 and A.2); of several it checks the first one alone. */
const isJoiner = (one: string): boolean => one === '\u200c' || one === '\u200d';
/** Canonical combining class 9. */
const VIRAMA =
  /^(?:[\u094d\u09cd\u0a4d\u0acd\u0b4d\u0bcd\u0c4d\u0ccd\u0d3b-\u0d3c\u0d4d\u0dca\u0e3a\u0eba\u0f84\u1039-\u103a\u1714-\u1715\u1734\u17d2\u1a60\u1b44\u1baa-\u1bab\u1bf2-\u1bf3\u2d7f\ua806\ua82c\ua8c4\ua953\ua9c0\uaaf6\uabed\u{10a3f}\u{11046}\u{11070}\u{1107f}\u{110b9}\u{11133}-\u{11134}\u{111c0}\u{11235}\u{112ea}\u{1134d}\u{11442}\u{114c2}\u{115bf}\u{1163f}\u{116b6}\u{1172b}\u{11839}\u{1193d}-\u{1193e}\u{119e0}\u{11a34}\u{11a47}\u{11a99}\u{11c3f}\u{11d44}-\u{11d45}\u{11d97}])$/u;
const COMBINING = /^\p{M}/u;
/** Arabic-Indic digits and their extended forms don't stand in one label (RFC 5892, appendix A.8 and A.9). */
const MIXED = [/^[\u0660-\u0669]$/, /^[\u06f0-\u06f9]$/];

/** Characters that only some neighbours allow (RFC 5892, appendix A.3 to A.7). */
const CONTEXTS: Readonly<Record<string, (label: readonly string[], at: number) => boolean>> = {
  '\u00b7': (label, at) => label[at - 1] === 'l' && label[at + 1] === 'l',
  '\u0375': (label, at) => /^\p{Script=Greek}$/u.test(label[at + 1] ?? ''),
  '\u05f3': (label, at) => /^\p{Script=Hebrew}$/u.test(label[at - 1] ?? ''),
  '\u05f4': (label, at) => /^\p{Script=Hebrew}$/u.test(label[at - 1] ?? ''),
  '\u30fb': (label) => label.some((one) => /^[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]$/u.test(one)),
};

/** RFC 5892 §3, by the categories of Unicode: letters, marks and digits that case folding and compatibility mapping leave as they are. */
function isPermitted(one: string): boolean {
  if (LETTERS_OF_HOSTS.test(one) || EXCEPTIONS.has(one)) return true;
  return PERMITTED.test(one) && !REFUSED.test(one) && (one === DOTLESS || folded(one) === one);
}
/** NFKC and full case folding; by the upper case, since folding takes a ypogegrammeni apart. The dotless i is the one letter that this isn't right for. */
const folded = (one: string): string => one.normalize('NFKC').toUpperCase().toLowerCase().normalize('NFKC');
const DOTLESS = '\u0131';
const LETTERS_OF_HOSTS = /^[a-z0-9_-]$/;
const PERMITTED = /^[\p{Ll}\p{Lo}\p{Lm}\p{Mn}\p{Mc}\p{Nd}]$/u;
/** Ignorable characters, marks for symbols and music, old Hangul, Cherokee, whose small letters fold to capitals, and the exceptions that are disallowed (§2.5 to §2.9). */
const REFUSED =
  /^(?:\p{Default_Ignorable_Code_Point}|[\u20d0-\u20ff]|[\u302e-\u302f]|[\u0640\u07fa\u13f8-\u13fd\uab70-\uabbf\u3031-\u3035\u303b\u1100-\u11ff\ua960-\ua97f\ud7b0-\ud7ff]|[\u{1d100}-\u{1d1ff}\u{1d200}-\u{1d24f}])$/u;
/** §2.6: allowed though the categories say otherwise, and joiners, whose context the conversion checks (appendix A.1 and A.2). */
const EXCEPTIONS: ReadonlySet<string> = new Set('\u00df\u03c2\u06fd\u06fe\u0f0b\u3007\u200c\u200d');

/** Punycode to Unicode (RFC 3492 §6.2); null for what can't be decoded. Whether it is the canonical form, the conversion back decides. */
function decoded(label: string): string | null {
  const split = label.lastIndexOf('-');
  const points = [...label.slice(0, Math.max(split, 0))].map((one) => one.charCodeAt(0));
  let [value, at, bias] = [128, 0, 72];
  for (let next = split + 1; next < label.length; ) {
    const from = at;
    for (let weight = 1, k = 36; ; k += 36) {
      const digit = DIGITS.indexOf(label.charAt(next++) || '?');
      if (digit < 0) return null;
      at += digit * weight;
      const threshold = Math.min(26, Math.max(1, k - bias));
      if (digit < threshold) break;
      weight *= 36 - threshold;
      if (weight > 0x7fffffff) return null;
    }
    const count = points.length + 1;
    bias = adapted(at - from, count, from === 0);
    value += Math.floor(at / count);
    if (value > 0x10ffff) return null;
    at %= count;
    points.splice(at++, 0, value);
  }
  return String.fromCodePoint(...points);
}
const DIGITS = 'abcdefghijklmnopqrstuvwxyz0123456789';

function adapted(distance: number, count: number, first: boolean): number {
  let delta = Math.floor(distance / (first ? 700 : 2));
  delta += Math.floor(delta / count);
  let k = 0;
  for (; delta > 455; k += 36) delta = Math.floor(delta / 35);
  return k + Math.floor((36 * delta) / (delta + 38));
}

/** The one text of an IPv4 or IPv6 address (RFC 5952), or null. Ranges, zones and other spellings of IPv4 are none. */
export function normalizeIp(text: string): string | null {
  const address = parseAddress(text.trim(), { mapped: 'keep' });
  return address ? formatRange({ family: address.family, first: address.value, bits: address.family === 4 ? 32 : 128 }) : null;
}
