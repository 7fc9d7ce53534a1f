/** Letters that are no base letter with a mark, as they are spelled where only ASCII is. */
const SPELLED: Record<string, string> = { ß: 'ss', æ: 'ae', œ: 'oe', ø: 'o', ł: 'l', đ: 'd', ð: 'd', þ: 'th', ı: 'i' };

/**
 * The part of an address that a name gives: lower case, accents dropped (`Überweisung` is `uberweisung`), everything else one hyphen, at most `longest`
 * characters, no hyphen at an end. Empty for a name without a usable letter.
 */
export const slugOfName = (name: string, longest: number): string =>
  name
    .toLowerCase()
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .replace(/[ßæœøłđðþı]/g, (letter) => SPELLED[letter] ?? '-')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, longest)
    .replace(/-$/, '');
