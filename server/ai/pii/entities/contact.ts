import { byPattern, digitsOf, type Entity, type Range } from './entity.ts';
import { isMachineLogin, isPartOfAddress, isTimeStamp } from './lookalikes.ts';
import { realDate } from './real-date.ts';

export const contact: readonly Entity[] = [
  {
    entity: 'EMAIL_ADDRESS',
    title: 'Email address',
    group: 'contact',
    about: 'A local part, `@` and a domain name whose last label has two letters or more. Remotes such as `git@github.com` are ignored.',
    example: 'Write to jane@example.com today.',
    format: 'email',
    confidence: 0.95,
    validated: false,
    find: emailAddresses,
  },
  {
    entity: 'PHONE_NUMBER',
    title: 'Phone number',
    group: 'contact',
    about: 'An international number that begins with `+`, of 8 to 15 digits; a national number near a word such as phone or call.',
    example: 'Call me at +44 20 7946 0958.',
    format: 'phone',
    confidence: 0.75,
    validated: false,
    find: byPattern({
      pattern: /(?<![\w+])\+[1-9](?:[ ()./-]{0,2}\d){7,14}(?!\d)/g,
      hint: '+',
      // 999 is assigned to no country: our own tokens have it.
      accepts: (match) => !match.startsWith('+999'),
    }),
  },
  {
    entity: 'PHONE_NUMBER',
    title: 'Phone number',
    group: 'contact',
    about: '',
    example: 'My phone is (020) 7946 0958.',
    format: 'phone',
    confidence: 0.6,
    validated: false,
    context: ['phone', 'telephone', 'tel', 'mobile', 'cell', 'cellphone', 'call', 'fax', 'whatsapp', 'sms', 'dial', 'telefon', 'handy'],
    find: byPattern({
      pattern: /(?<![\w.+)/-])\(?\d{2,5}\)?(?:[ ./-]{0,2}\d{2,5}){1,5}(?![\w-])/g,
      accepts: (match, start, text) => {
        const { length } = digitsOf(match);
        return length >= 8 && length <= 15 && !isTimeStamp(match) && !isPartOfAddress(match, text, start + match.length);
      },
    }),
  },
  {
    entity: 'DATE_OF_BIRTH',
    title: 'Date of birth',
    group: 'contact',
    about: 'A date that exists, near a word such as born or DOB.',
    example: 'Date of birth: 1984-02-29',
    format: 'generic',
    confidence: 0.8,
    validated: true,
    context: ['dob', 'born', 'birth', 'birthday', 'birthdate', 'd.o.b', 'geboren', 'geburtsdatum', 'naissance', 'nacimiento', 'nascita'],
    find: byPattern({
      pattern:
        /(?<![\w./-])(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\d{1,2}(?:st|nd|rd|th)?\.? [A-Za-z]{3,9}\.?,? \d{4}|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? \d{1,2}(?:st|nd|rd|th)?,? \d{4})(?![\w/-])/gi,
      accepts: realDate,
    }),
  },
];

/** Found from the `@`, so that text without one costs nothing and long words cost no retries. */
function emailAddresses(text: string, from: number): Range[] {
  const found: Range[] = [];
  for (let at = text.indexOf('@', from); at !== -1; at = text.indexOf('@', at + 1)) {
    const floor = Math.max(found.at(-1)?.end ?? from, at - 64);
    let start = at;
    while (start > floor && isLocal(text.charCodeAt(start - 1))) start--;
    while (start < at && !isAlphanumeric(text.charCodeAt(start))) start++;
    let end = at + 1;
    while (end < text.length && end - at <= 253 && isDomain(text.charCodeAt(end))) end++;
    while (end > at && !isAlphanumeric(text.charCodeAt(end - 1))) end--;
    if (start === at || !isDomainName(text.slice(at + 1, end)) || isOwnToken(text.slice(start, end))) continue;
    if (!isMachineLogin(text, start, at, end)) found.push({ start, end });
  }
  return found;
}

const isDomainName = (domain: string): boolean => {
  const labels = domain.split('.');
  const last = labels.at(-1) ?? '';
  return (
    labels.length > 1 &&
    labels.every((label) => label !== '' && label.length < 64) &&
    /^(?:[a-z\u00c0-\u024f]{2,24}|xn--[a-z0-9-]{2,59})$/i.test(last)
  );
};

const isOwnToken = (address: string): boolean => /^svc-[0-9a-z]{10}@pii\.invalid$/i.test(address);

/** Of Latin script alone: an address in Chinese text has no space around it. */
const isAlphanumeric = (code: number): boolean =>
  (code > 47 && code < 58) || (code > 64 && code < 91) || (code > 96 && code < 123) || (code > 0xbf && code < 0x250);
/** Letters and digits, and `. _ % + -`: others are allowed by RFC 5321 and are punctuation in prose far more often. */
const isLocal = (code: number): boolean => isAlphanumeric(code) || code === 46 || code === 95 || code === 37 || code === 43 || code === 45;
const isDomain = (code: number): boolean => isAlphanumeric(code) || code === 46 || code === 45;
