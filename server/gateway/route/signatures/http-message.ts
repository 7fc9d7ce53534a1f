import {
  digestMatches,
  type HttpMessage,
  type HttpSignature,
  readHttpSignature,
  signatureBase,
} from '#server/crypto/request-signatures/http-message.ts';
import { isUuid } from '#server/kernel/fields.ts';
import type { RouteCall } from '../route-call.ts';
import { invalid, linesOf, missing, type Read } from './presented.ts';

// The scheme rfc9421: HTTP Message Signatures, with what a signature must cover here.

/** Of several signatures, ours has this label. */
const LABEL = 'svc';
const NONCE = /^[\x20-\x7e]{16,128}$/;
const PARAMETERS = new Set(['created', 'expires', 'nonce', 'alg', 'keyid', 'tag']);
/** These choose where a call goes, so whoever sends them signs them. */
const ADDRESSING = ['x-svc-route', 'x-svc-environment'];

export const readHttpMessage: Read = (call, rule) => {
  const input = linesOf(call, 'signature-input');
  const signature = linesOf(call, 'signature');
  if (input.length === 0 || signature.length === 0) return missing('Signature-Input and Signature (RFC 9421)');
  const found = readHttpSignature(input.join(', '), signature.join(', '), LABEL);
  if (typeof found === 'string') return invalid(`The signature can't be read: ${found}.`);
  const { created, expires, nonce, alg, keyid } = Object.fromEntries(found.parameters);
  if (nonce === undefined && rule.requiresNonce) return missing('the signature parameter nonce as well');
  const problem = parameterProblem(found) ?? coverageProblem(call, found);
  if (problem) return invalid(`The signature ${problem}.`);
  // The gateway may stand behind a proxy that speaks TLS for it: either scheme is what the caller saw.
  const bases = [...new Set((['https', 'http'] as const).map((scheme) => baseText(call, scheme, found)))];
  if (bases.some((base) => base === undefined))
    return invalid('The signature covers a component that this call lacks or that is not supported.');
  const digests = linesOf(call, 'content-digest').join(', ');
  return {
    timestamp: created as number,
    expires: (expires as number | undefined) ?? null,
    nonce: (nonce as string | undefined) ?? null,
    keyId: (keyid as string).toLowerCase(),
    hmac: alg === undefined || alg === 'hmac-sha256' ? [found.signature] : [],
    ed25519: alg === undefined || alg === 'ed25519' ? [found.signature] : [],
    messages(body) {
      const digested = found.components.includes('"content-digest"');
      if (!digested && body.length > 0) return null;
      if ((digested || digests !== '') && !digestMatches(digests, body)) return null;
      return bases.map((base) => [Buffer.from(base as string, 'latin1')]);
    },
  };
};

function parameterProblem({ parameters }: HttpSignature): string | undefined {
  const { created, expires, nonce, alg, keyid, tag } = Object.fromEntries(parameters);
  const unknown = [...parameters.keys()].find((name) => !PARAMETERS.has(name));
  if (unknown !== undefined) return `has the parameter ${unknown}, which is not supported`;
  if (!isUnixTime(created)) return 'must have the parameter created, as Unix time in seconds';
  if (expires !== undefined && !isUnixTime(expires)) return 'must have expires as Unix time in seconds';
  if (typeof keyid !== 'string' || !isUuid(keyid)) return 'must have the parameter keyid, the ID of a credential as a string';
  if (nonce !== undefined && (typeof nonce !== 'string' || !NONCE.test(nonce))) return 'must have a nonce of 16 to 128 characters';
  if (alg !== undefined && alg !== 'hmac-sha256' && alg !== 'ed25519') return 'must have the algorithm hmac-sha256 or ed25519';
  return tag === undefined || typeof tag === 'string' ? undefined : 'must have a tag that is a string';
}

const isUnixTime = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) > 0;

/** Everything that decides what is done: method, host, target, and who sends them, the headers that address a route. The body is judged when it is there. */
function coverageProblem(call: RouteCall, { components }: HttpSignature): string | undefined {
  const covered = new Set(components);
  const target = covered.has('"@target-uri"') || (covered.has('"@path"') && covered.has('"@query"'));
  const lacks = ['@method', '@authority'].find((name) => !covered.has(`"${name}"`));
  if (lacks) return `must cover ${lacks}`;
  if (!target) return 'must cover @target-uri, or both @path and @query';
  const header = ADDRESSING.find((name) => linesOf(call, name).length > 0 && !covered.has(`"${name}"`));
  return header && `must cover the header ${header}`;
}

/** As one character a byte; undefined when the call lacks a component. */
function baseText(call: RouteCall, scheme: HttpMessage['scheme'], signature: HttpSignature): string | undefined {
  const { method, host, req } = call;
  const message = { method, scheme, host, target: req.url ?? '', fields: (name: string) => allLinesOf(call, name) };
  const base = signatureBase(message, signature);
  return typeof base === 'string' ? undefined : base.toString('latin1');
}

/** Empty lines too: they are part of what was sent. */
const allLinesOf = ({ names, req }: RouteCall, name: string): string[] =>
  names.flatMap((one, i) => (one === name ? [req.rawHeaders[i * 2 + 1] as string] : []));
