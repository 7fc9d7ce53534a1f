// UTF-16 units as the detectors compare them.

/** Lower case without a change of length, so that places stay the same. */
export function folded(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : Array.from({ length: text.length }, (_, i) => foldedUnit(text[i] as string)).join('');
}

const foldedUnit = (unit: string): string => {
  const lower = unit.toLowerCase();
  return lower.length === 1 ? lower : unit;
};

/** Whether a unit is part of a word: letters and digits of any script, and `_`. NaN, past the end of a text, is none. */
export function isWordUnit(code: number): boolean {
  if (code < 128) return (code > 96 && code < 123) || (code > 47 && code < 58) || (code > 64 && code < 91) || code === 95;
  if (!(code >= 0)) return false;
  const known = KINDS[code] as number;
  if (known !== 0) return known === 2;
  const is = /[\p{L}\p{N}_]/u.test(String.fromCharCode(code));
  KINDS[code] = is ? 2 : 1;
  return is;
}

/** 0 unknown, 1 no, 2 yes. */
const KINDS = new Uint8Array(65_536);
