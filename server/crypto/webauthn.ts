import type { AuthenticationResponseJSON, GenerateRegistrationOptionsOpts, RegistrationResponseJSON } from '@simplewebauthn/server';

/** Loaded at the first ceremony: most processes have none, and its parsers of certificates are large. */
const library = () => import('@simplewebauthn/server');

/** Where credentials are good: the domain that authenticators bind them to, and the one origin whose pages may use them. */
export type RelyingParty = { id: string; origin: string };
export type FactorKeyKind = 'passkey' | 'security_key';

/** EdDSA, ES256 and RS256, the strongest first (COSE). */
const ALGORITHMS = [-8, -7, -257];
const TIMEOUT_MS = 300_000;

/** The JSON form of an authenticator's answer. It comes from anywhere: everything in it is judged by the library. */
export type Answer = { id: string; [member: string]: unknown };
/** What is stored of a credential, and what an assertion is judged by. */
export type StoredKey = { credential_id: string; public_key: Uint8Array; kind: FactorKeyKind };

/** An answer that does not prove what it should; the reason is for the log. */
export class CeremonyFailed extends Error {
  override readonly name = 'CeremonyFailed';
}

/** What a browser passes to `navigator.credentials.create` (interface rule 22 §5.3). */
export const registrationOptions = async (
  rp: RelyingParty,
  asked: { user: { handle: Uint8Array<ArrayBuffer>; email: string; name: string }; kind: FactorKeyKind; known: readonly KnownKey[] },
) => ({
  ...(await (
    await library()
  ).generateRegistrationOptions({
    rpName: 'Sallyport',
    rpID: rp.id,
    userID: asked.user.handle,
    userName: asked.user.email,
    userDisplayName: asked.user.name || asked.user.email,
    attestationType: 'none',
    supportedAlgorithmIDs: ALGORITHMS,
    timeout: TIMEOUT_MS,
    excludeCredentials: asked.known.map(described),
    authenticatorSelection:
      asked.kind === 'passkey'
        ? { residentKey: 'required', userVerification: 'required' }
        : { residentKey: 'discouraged', userVerification: 'preferred' },
  })),
});

/** What a browser passes to `navigator.credentials.get`. Without `known` the person picks one of the passkeys of this site. */
export const requestOptions = async (rp: RelyingParty, asked: { verify: boolean; known?: readonly KnownKey[] }) => ({
  ...(await (
    await library()
  ).generateAuthenticationOptions({
    rpID: rp.id,
    userVerification: asked.verify ? 'required' : 'preferred',
    timeout: TIMEOUT_MS,
    ...(asked.known ? { allowCredentials: asked.known.map(described) } : {}),
  })),
});

export type KnownKey = { credential_id: string; transports: readonly string[] };
const described = ({ credential_id, transports }: KnownKey) => ({
  id: credential_id,
  transports: transports as NonNullable<GenerateRegistrationOptionsOpts['excludeCredentials']>[number]['transports'],
});

/** The new credential of a registration. @throws CeremonyFailed */
export async function verifiedRegistration(rp: RelyingParty, answer: Answer, expected: { challenge: string; kind: FactorKeyKind }) {
  const { verifyRegistrationResponse } = await library();
  const { registrationInfo: info } = await judged(() => {
    assertOwnFrame(answer);
    return verifyRegistrationResponse({
      response: answer as unknown as RegistrationResponseJSON,
      expectedChallenge: expected.challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      supportedAlgorithmIDs: ALGORITHMS,
      requireUserVerification: expected.kind === 'passkey',
    });
  });
  if (!info) throw new CeremonyFailed('the attestation did not verify');
  const { credential } = info;
  const { cose, decodeCredentialPublicKey } = await import('@simplewebauthn/server/helpers');
  const algorithm = decodeCredentialPublicKey(credential.publicKey).get(cose.COSEKEYS.alg);
  return {
    credential_id: credential.id,
    public_key: new Uint8Array(credential.publicKey),
    algorithm: Number(algorithm),
    counter: credential.counter,
    transports: (credential.transports ?? [])
      .map(String)
      .filter((one) => /^[a-z-]{1,20}$/.test(one))
      .slice(0, 8),
    aaguid: info.aaguid,
    backup_eligible: info.credentialDeviceType === 'multiDevice',
    backed_up: info.credentialBackedUp,
  };
}

/**
 * What an assertion proves. The counter is the caller's to compare, in the statement that stores it: the library's own comparison would come before, and
 * with a copy of the row. @throws CeremonyFailed
 */
export async function verifiedAssertion(
  rp: RelyingParty,
  answer: Answer,
  expected: { challenge: string; key: StoredKey; verify: boolean },
) {
  const { key, challenge, verify } = expected;
  const { verifyAuthenticationResponse } = await library();
  const { verified, authenticationInfo: info } = await judged(() => {
    assertOwnFrame(answer);
    return verifyAuthenticationResponse({
      response: answer as unknown as AuthenticationResponseJSON,
      expectedChallenge: challenge,
      expectedOrigin: rp.origin,
      expectedRPID: rp.id,
      requireUserVerification: verify,
      credential: { id: key.credential_id, publicKey: new Uint8Array(key.public_key), counter: 0 },
    });
  });
  if (!verified) throw new CeremonyFailed('the signature is not of this credential');
  return { counter: info.newCounter, backed_up: info.credentialBackedUp };
}

/** The user handle that a discoverable credential names; null when it names none. */
export function userHandleOf({ response }: Answer): Buffer<ArrayBuffer> | null {
  const handle = (response as { userHandle?: unknown } | undefined)?.userHandle;
  return typeof handle === 'string' && handle.length <= 100 ? Buffer.from(handle, 'base64url') : null;
}

/** The dashboard is framed by nobody, so an answer that was made inside of another page is not ours. The library lets some of them pass. */
function assertOwnFrame({ response }: Answer): void {
  const { clientDataJSON } = (response ?? {}) as { clientDataJSON?: unknown };
  const data = JSON.parse(Buffer.from(String(clientDataJSON), 'base64url').toString('utf8')) as {
    crossOrigin?: unknown;
    topOrigin?: unknown;
  };
  if (data.crossOrigin || data.topOrigin !== undefined) throw new Error('made in a frame of another page');
}

/** Every error of the library, or of reading what it was given, is the answer's fault. */
async function judged<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new CeremonyFailed('the answer of the authenticator did not verify', { cause: error });
  }
}
