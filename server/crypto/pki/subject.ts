import { AsnParser } from '@peculiar/asn1-schema';
import { AttributeTypeAndValue, AttributeValue, Name, RelativeDistinguishedName } from '@peculiar/asn1-x509';

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
const ATTRIBUTES: readonly { field: keyof Subject; oid: string; short: string }[] = [
  { field: 'country', oid: '2.5.4.6', short: 'C' },
  { field: 'province', oid: '2.5.4.8', short: 'ST' },
  { field: 'locality', oid: '2.5.4.7', short: 'L' },
  { field: 'organization', oid: '2.5.4.10', short: 'O' },
  { field: 'organizational_unit', oid: '2.5.4.11', short: 'OU' },
  { field: 'common_name', oid: '2.5.4.3', short: 'CN' },
];

/** The name as ASN.1: one attribute in each part, UTF8String but for the country (RFC 5280 §4.1.2.4 and appendix A.1). */
export function subjectName(subject: Subject): Name {
  return new Name(
    ATTRIBUTES.flatMap(({ field, oid }) => {
      const text = subject[field];
      if (text === undefined || text === null || text === '') return [];
      const value = new AttributeValue(field === 'country' ? { printableString: text } : { utf8String: text });
      return [new RelativeDistinguishedName([new AttributeTypeAndValue({ type: oid, value })])];
    }),
  );
}

/** RFC 4514 text, the most specific attribute first: `CN=Acme Internal CA,O=Acme,C=US`. '' for an empty name. */
export function subjectText(subject: Subject): string {
  return ATTRIBUTES.toReversed()
    .flatMap(({ field, short }) => {
      const text = subject[field];
      return text === undefined || text === null || text === '' ? [] : [`${short}=${escaped(text)}`];
    })
    .join(',');
}

/** RFC 4514 §2.4. */
function escaped(text: string): string {
  return text
    .replaceAll(/[\\"+,;<>=]/g, (one) => `\\${one}`)
    .replaceAll('\0', '\\00')
    .replace(/^[ #]/, (one) => `\\${one}`)
    .replace(/ $/, '\\ ');
}

/** The attributes of a name in DER that we know; others, and repeated ones, are left out. @throws for what is no name. */
export function subjectOf(der: Uint8Array): Subject {
  const subject: Subject = {};
  for (const part of AsnParser.parse(der, Name))
    for (const { type, value } of part) {
      const known = ATTRIBUTES.find(({ oid }) => oid === type);
      if (known && value.anyValue === undefined) subject[known.field] ??= value.toString();
    }
  return subject;
}
