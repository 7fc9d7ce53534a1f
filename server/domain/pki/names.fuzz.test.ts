import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import test from 'node:test';
import fc from 'fast-check';
import { THOROUGH } from '#server/testing/thorough.ts';
import { normalizeName } from './names.shared.ts';

// Which characters a name may hold, and their A-labels, beside Python's `idna`, which implements IDNA2008 by tables of its own. Without it the test is skipped.

const judge = `
import idna, json, sys, unicodedata
def known(text): return all(unicodedata.ucd_3_2_0.category(c) != 'Cn' for c in text)
answers = []
for text in json.load(sys.stdin):
    label = unicodedata.normalize('NFC', text.lower())
    try: answers.append([known(text + label), idna.encode(label, uts46=False).decode()])
    except Exception: answers.append([known(text + label), None])
json.dump(answers, sys.stdout)
`;
const missing = spawnSync('python3', ['-c', 'import idna']).status !== 0 && "Python's idna isn't on this machine";

/** Characters whose neighbours decide: joiners after viramas, middle dots, keraia, geresh, Arabic digits of both kinds, marks, right to left. */
const contexts = [...'lLaé·͵αςΩßĸıİ', ...'א׳״ب٣۳ة', ...'क्ष\u200c\u200dन', ...'カ・ひ漢ー々〇', ...'\u0301\u0345\u0f0b\u1100\uac00-0_'];
const anything = fc
  .integer({ min: 0x80, max: 0x2fa20 })
  .filter((point) => point < 0xd800 || (point > 0xdfff && point < 0x10000) || point >= 0x20000)
  .map((point) => String.fromCodePoint(point));
const label = fc.oneof(
  fc.array(fc.constantFrom(...contexts), { minLength: 1, maxLength: 6 }).map((all) => all.join('')),
  fc.tuple(fc.constantFrom('', 'a', 'ا'), anything, fc.constantFrom('', 'b', 'ا')).map((all) => all.join('')),
);

test("names are normalised as Python's idna does", { skip: missing }, () => {
  const numRuns = THOROUGH ? 200_000 : 5_000;
  const labels = fc.sample(label, { numRuns, ...(THOROUGH ? {} : { seed: 43 }) }).filter((one) => !/^[\x00-\x7f]*$/.test(one));
  const answers = JSON.parse(
    execFileSync('python3', ['-c', judge], { input: JSON.stringify(labels), encoding: 'utf8', maxBuffer: 1 << 28 }),
  ) as [boolean, string | null][];
  let compared = 0;
  for (const [n, [known, expected]] of answers.entries()) {
    const text = labels[n] ?? '';
    if (!known || UNCOMPARED.test(text)) continue;
    compared++;
    assert.equal(normalizeName(text), expected, `${JSON.stringify(text)} ${[...text].map((one) => one.codePointAt(0)?.toString(16))}`);
  }
  assert.ok(compared > labels.length / 4, `${compared} of ${labels.length} compared`);
});

/**
 * Full stops of other scripts part labels there and are refused here, as IDNA2008 itself has them; with underscores it is the other way round. A joiner at the
 * end of a label from right to left is let through (RFC 5893 §2, rule 3). Letters that Unicode has had for long are compared: of the newest ones neither side
 * knows all, and one old sign has changed its direction.
 */
const UNCOMPARED = /[\u3002\uff0e\uff61_]|\u1734|[\u0590-\u08ff].*[\u200c\u200d]$/u;
