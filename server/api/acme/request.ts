import type { AccountKey } from '#server/crypto/acme/account-key.ts';
import { parseRequest, type SignedRequest, verifyRequest } from '#server/crypto/acme/jws.ts';
import { accountUrl, type Directory } from '#server/domain/acme/directory.ts';
import { networkAt, spend } from '#server/domain/acme/limits.ts';
import { useNonce } from '#server/domain/acme/nonces.ts';
import { AcmeProblem, malformed } from '#server/domain/acme/problem.ts';
import { accountById, stampUse } from '#server/domain/acme/registration.ts';
import { type AccountRow, actorOf } from '#server/domain/acme/store.ts';
import { parseBounded } from '#server/kernel/bounded-text.ts';
import type { Ctx } from '#server/kernel/context.ts';
import { Refusal } from '#server/kernel/errors.ts';
import { bodyOf } from '../input.ts';

/** Of a request with a certificate request for RSA of 8192 bits and a hundred long names, as base64url of base64url. */
const LONGEST_BODY = 160 * 1024;

/** What signs a request: an account, a key of its own, or either (RFC 8555 §6.2). */
export type Signer = 'account' | 'key' | 'either';

/** A request that was signed for this URL, with a nonce that is used up now. */
export type Verified = {
  /** The payload; undefined for POST-as-GET. */
  payload: unknown;
  by: { account: AccountRow; key?: undefined } | { key: AccountKey; account?: undefined };
};

/** Reads and verifies a signed request, in the order of RFC 8555 §6; the actor of `ctx` is its account then. @throws AcmeProblem, JwsRefused, Refusal */
export async function verifiedRequest(
  req: Request,
  { directory, ctx, url, signer }: { directory: Directory; ctx: Ctx; url: string; signer: Signer },
): Promise<Verified> {
  if (!/^application\/jose\+json\s*(?:;|$)/i.test(req.headers.get('content-type') ?? ''))
    throw new AcmeProblem('malformed', 'Send the request as application/jose+json.', { status: 415 });
  await spend('request', networkAt(directory, ctx.ip), ctx.now);
  const request = parseRequest(await bodyOf(req, LONGEST_BODY), { url });
  const by = await signerOf(request, directory, ctx);
  if (signer !== 'either' && (by.account ? 'account' : 'key') !== signer)
    throw malformed(
      signer === 'account'
        ? 'Sign this request with kid, the URL of your account.'
        : 'Sign this request with jwk, the key of the new account.',
    );
  await verifyRequest(request, by.account?.jwk ?? (by.key as AccountKey));
  await useNonce(request.nonce, directory.base, ctx.now);
  if (by.account) {
    if (by.account.status !== 'valid') throw new AcmeProblem('unauthorized', `This account is ${by.account.status}.`, { status: 401 });
    ctx.actor = actorOf(by.account);
    await stampUse(ctx, by.account);
  }
  return { payload: payloadOf(request), by };
}

async function signerOf({ signer }: SignedRequest, directory: Directory, ctx: Ctx): Promise<Verified['by']> {
  if (signer.key) return { key: signer.key };
  const id = signer.kid.startsWith(accountUrl(directory.base, '')) ? signer.kid.slice(accountUrl(directory.base, '').length) : '';
  const account = await accountById(directory, ctx, id);
  if (!account?.jwk) throw new AcmeProblem('accountDoesNotExist', 'There is no account with the URL in kid.');
  return { account };
}

function payloadOf({ content }: SignedRequest): unknown {
  if (content.length === 0) return undefined;
  let payload: unknown;
  try {
    payload = parseBounded(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch (error) {
    throw malformed(error instanceof Refusal ? error.message : 'The payload must be JSON.');
  }
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) throw malformed('The payload must be a JSON object.');
  return payload;
}
