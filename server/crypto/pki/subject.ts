import { type Element, inside, oid, oidText, only, sequence, set, TAG, text } from './der.ts';

/** The attributes of a distinguished name that certificates of ours carry, by their long names. */
export type Subject = {
  common_name?: string | null;
  organization?: string | null;
  organizational_unit?: string | null;
  /** Two letters. */
  country?: string | null;
  province?: string | null;
  locality?: string | null;
};

/** In the order of their DER: from the country down to the common name. */
const ATTRIBUTES: readonly { field: keyof Subject; type: string; short: string }[] = [
  { field: 'country', type: '2.5.4.6', short: 'C' },
  { field: 'province', type: '2.5.4.8', short: 'ST' },
  { field: 'locality', type: '2.5.4.7', short: 'L' },
  { field: 'organization', type: '2.5.4.10', short: 'O' },
  { field: 'organizational_unit', type: '2.5.4.11', short: 'OU' },
  { field: 'common_name', type: '2.5.4.3', short: 'CN' },
];

/** The name in DER: one attribute in each part, UTF8String but for the country (RFC 5280 §4.1.2.4 and appendix A.1). */
export function subjectName(subject: Subject): Buffer {
  return sequence(
    ...ATTRIBUTES.flatMap(({ field, type }) => {
      const value = subject[field];
      if (!value) return [];
      if (field === 'country' && !COUNTRY.test(value)) throw new TypeError('a country is two letters');
      return [set(sequence(oid(type), text(field === 'country' ? 'printable' : 'utf8', value)))];
    }),
  );
}
const COUNTRY = /^[A-Za-z]{2}$/;

/** RFC 4514 text, the most specific attribute first: `CN=Acme Internal CA,O=Acme,C=US`. '' for an empty name. */
export function subjectText(subject: Subject): string {
  return ATTRIBUTES.toReversed()
    .flatMap(({ field, short }) => {
      const value = subject[field];
      return value ? [`${short}=${escaped(value)}`] : [];
    })
    .join(',');
}

/** RFC 4514 §2.4. */
function escaped(value: string): string {
  return value
    .replaceAll(/[\\"+,;<>]/g, (one) => `\\${one}`)
    .replaceAll('\0', '\\00')
    .replace(/^[ #]/, (one) => `\\${one}`)
    .replace(/ $/, '\\ ');
}

/** The attributes of a name in DER that we know; others, and repeated ones, are left out. @throws DerProblem */
export function subjectOf(der: Buffer): Subject {
  const subject: Subject = {};
  for (const part of inside(only(der), TAG.sequence))
    for (const attribute of inside(part, TAG.set)) {
      const [type, value] = inside(attribute, TAG.sequence);
      const known = ATTRIBUTES.find((one) => one.type === oidText(type));
      const read = known && value && textOf(value);
      if (read) subject[known.field] ??= read;
    }
  return subject;
}

/** UTF8String, PrintableString and IA5String; the kinds of text of the last century are left out. */
function textOf({ tag, content }: Element): string | undefined {
  return tag === TAG.utf8 || tag === TAG.printable || tag === TAG.ia5 ? content.toString('utf8') : undefined;
}
