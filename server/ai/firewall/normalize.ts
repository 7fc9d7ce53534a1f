/** A text as the rules read it: without disguises, and with the way back to places in the original. */
export type Normalized = {
  text: string;
  /** The UTF-16 offset in the original of an offset in `text`. */
  original: (offset: number) => number;
};

/**
 * Compatibility forms become plain ones, accents, zero-width characters and variation selectors go, letters of other scripts that look Latin become Latin, and
 * every run of white space becomes one space. Undefined when that changes nothing.
 */
export function normalize(text: string): Normalized | undefined {
  if (!UNUSUAL.test(text)) return undefined;
  const plain = text.replace(NOT_ASCII, (character) => plainOf(character)).replace(/\s+/g, ' ');
  if (plain === text) return undefined;
  let places: Int32Array | undefined;
  return {
    text: plain,
    original(offset) {
      places ??= placesOf(text, plain.length);
      return places[Math.min(offset, plain.length)] as number;
    },
  };
}

/** The same walk again, noting where each character came from: only texts with a match pay for it. */
function placesOf(text: string, length: number): Int32Array {
  const places = new Int32Array(length + 1);
  let at = 0;
  let from = 0;
  let space = false;
  for (const character of text) {
    const plain = character.charCodeAt(0) < 128 ? character : plainOf(character);
    for (const unit of plain) {
      const isSpace = /\s/.test(unit);
      if (!(isSpace && space)) for (let i = 0; i < unit.length; i++) places[at++] = from;
      space = isSpace;
    }
    from += character.length;
  }
  places[at] = text.length;
  return places;
}

function plainOf(character: string): string {
  const known = CONFUSABLE.get(character) ?? seen.get(character);
  if (known !== undefined) return known;
  const plain = computed(character);
  if (seen.size === MOST_SEEN) seen.clear();
  seen.set(character, plain);
  return plain;
}

/** A text in another script has each of its characters many times. */
const seen = new Map<string, string>();
const MOST_SEEN = 20_000;

function computed(character: string): string {
  return Array.from(character.normalize('NFKD').replace(IGNORED, ''), (part) => CONFUSABLE.get(part) ?? part).join('');
}

const UNUSUAL = /[^\x20-\x7e]| {2}/;
const NOT_ASCII = /[^\x00-\x7f]/gu;
/** Combining marks, format characters (zero-width ones, bidi controls, tags) and variation selectors. */
const IGNORED = /[\p{Mn}\p{Cf}]/gu;

/** Cyrillic, Greek, Armenian and other letters that look like Latin ones (after Unicode TS 39, confusables.txt; the ones that occur in words). */
const CONFUSABLE: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аαɑ',
    b: 'ЬƄ',
    c: 'сϲᴄ',
    d: 'ԁɗ',
    e: 'еҽєε',
    f: 'ϝẝ',
    g: 'ɡց',
    h: 'һհ',
    i: 'іıɩιӏ',
    j: 'јϳ',
    k: 'κкᴋ',
    l: 'ⅼ∣ǀ',
    m: 'ⅿмᴍ',
    n: 'ոռηп',
    o: 'оοօσᴏ',
    p: 'рρ',
    q: 'ԛզ',
    r: 'гᴦ',
    s: 'ѕꜱ',
    t: 'тτᴛ',
    u: 'υսᴜц',
    v: 'ѵνᴠ',
    w: 'ԝѡᴡω',
    x: 'хχ',
    y: 'уγү',
    z: 'ᴢ',
    A: 'АΑ',
    B: 'ВΒ',
    C: 'СϹ',
    E: 'ЕΕ',
    H: 'НΗ',
    I: 'ІΙ',
    J: 'Ј',
    K: 'КΚ',
    M: 'МΜ',
    N: 'Ν',
    O: 'ОΟ',
    P: 'РΡ',
    S: 'Ѕ',
    T: 'ТΤ',
    X: 'ХΧ',
    Y: 'ҮΥ',
    Z: 'Ζ',
    "'": '’‘ʼ',
    '"': '“”',
  }).flatMap(([latin, others]) => Array.from(others, (other) => [other, latin] as const)),
);
