import { grouped } from '#server/kernel/numbers.ts';
import { ECDSA_SHA256, type Issuer, signed } from './authority.ts';
import { context, enumerated, integer, sequence, time } from './der.ts';
import { authorityKeyId, EXTENSION, extension } from './extensions.ts';

/** Reasons that certificates of ours are revoked for, with their numbers (RFC 5280 §5.3.1). */
export const REASONS = {
  unspecified: 0,
  key_compromise: 1,
  ca_compromise: 2,
  affiliation_changed: 3,
  superseded: 4,
  cessation_of_operation: 5,
  privilege_withdrawn: 9,
} as const;

export type Reason = keyof typeof REASONS;

export type RevokedEntry = { serial: string; revokedAt: Date; reason: Reason };

export type CrlRequest = {
  issuer: Issuer;
  /** Counts up with every list of this issuer. */
  number: number | bigint;
  thisUpdate: Date;
  nextUpdate: Date;
  entries: readonly RevokedEntry[];
};

/** A list holds at most this many certificates: 4 MB, which a client fetches whole. */
export const MOST_ENTRIES = 100_000;

/** The list in DER, version 2, its entries in the given order. @throws RangeError beyond MOST_ENTRIES. */
export function certificateRevocationList({ issuer, number, thisUpdate, nextUpdate, entries }: CrlRequest): Buffer {
  if (entries.length > MOST_ENTRIES) throw new RangeError(`a CRL holds at most ${grouped(MOST_ENTRIES)} certificates`);
  return signed(
    sequence(
      integer(1),
      ECDSA_SHA256,
      issuer.subject,
      time(thisUpdate),
      time(nextUpdate),
      // An empty list is left out, and no empty SEQUENCE (RFC 5280 §5.1.2.6).
      ...(entries.length > 0 ? [sequence(Buffer.concat(entries.map(entry)))] : []),
      context(0, sequence(authorityKeyId(issuer.keyId), extension(EXTENSION.crlNumber, integer(number)))),
    ),
    issuer.key,
  );
}

function entry({ serial, revokedAt, reason }: RevokedEntry): Buffer {
  const parts = [integer(Buffer.from(serial, 'hex')), time(revokedAt)];
  // No reason is given by leaving it out (RFC 5280 §5.3.1).
  if (reason !== 'unspecified') parts.push(sequence(extension(EXTENSION.crlReason, enumerated(REASONS[reason]))));
  return sequence(...parts);
}
