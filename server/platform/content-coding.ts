import { members } from '#server/kernel/list-header.ts';

export type Coding = 'br' | 'gzip';

/** The coding the caller takes by Accept-Encoding (RFC 9110 §12.5.3): br or gzip, br when both are as welcome; null: the bytes as they are. */
export function codingFor(accept: string | null | undefined): Coding | null {
  if (!accept) return null;
  const welcome = weights(accept);
  const of = (coding: Coding) => welcome.get(coding) ?? welcome.get('*') ?? 0;
  const [br, gzip] = [of('br'), of('gzip')];
  if (br === 0 && gzip === 0) return null;
  // A wildcard is mostly sent by those who know gzip and nothing else.
  return br >= gzip && (welcome.has('br') || gzip === 0) ? 'br' : 'gzip';
}

/** How welcome each named coding is, from 0, not at all, to 1. */
function weights(accept: string): ReadonlyMap<string, number> {
  const named = new Map<string, number>();
  for (const part of members(accept.toLowerCase())) {
    const [coding = '', q] = part.split(/;\s*q=/);
    named.set(coding.trim(), q === undefined ? 1 : Number(/^(?:0(?:\.\d{1,3})?|1(?:\.0{1,3})?)\s*$/.exec(q)?.[0] ?? 0));
  }
  return named;
}
