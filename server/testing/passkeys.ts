import assert from 'node:assert/strict';
import type { ActionScope } from '#server/kernel/action-scopes.ts';
import { type Algorithm, authenticator, type Lies } from './authenticator.ts';
import { mailsTo } from './mailbox.ts';
import type { Answer, browser } from './people.ts';
import { verified } from './step-up.ts';
import type { TestPerson } from './test-person.ts';

type Browser = ReturnType<typeof browser>;
type Device = ReturnType<typeof authenticator>;
type Ceremony = { options: { challenge: string; user?: { id: string } }; challenge: string };
export type Kind = 'passkey' | 'security_key';

/** Registers a device as a person does: by the mailed code for the first factor, by a step-up for others. */
export async function addPasskey(who: TestPerson, { kind = 'passkey' as Kind, algorithm = 'ES256' as Algorithm, counts = true } = {}) {
  const device = authenticator(algorithm, { counts });
  const ceremony = await registration(who, kind);
  const answer = await register(who.b, device, ceremony);
  assert.equal(answer.status, 200, answer.text);
  const { passkey, recovery_codes } = answer.body as unknown as { passkey: { id: string }; recovery_codes: string[] | null };
  return { device, id: passkey.id, recovery_codes };
}

/** The options of a registration, after what the account asks for. */
export async function registration(who: TestPerson, kind: Kind = 'passkey'): Promise<Ceremony> {
  const asked = await who.b.post('/auth/passkey/challenge');
  const first = asked.status === 200;
  const code = first
    ? /\b\d{6}\b/.exec((await mailsTo(who.email)).findLast((mail) => mail.kind === 'factor_code')?.text ?? '')?.[0]
    : undefined;
  if (!first) await verified(await who.who(), 'mfa.credential');
  const answer = await who.b.post('/auth/passkey/register-options', { kind, ...(code ? { code } : {}) });
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as Ceremony;
}

export const register = (b: Browser, device: Device, { options, challenge }: Ceremony, lies: Lies = {}, name = 'Phone'): Promise<Answer> =>
  b.post('/auth/passkey/register', { credential: device.create(options, lies), challenge, name });

export const optionsOf = async (b: Browser, path: string, body: Record<string, unknown> = {}): Promise<Ceremony> => {
  const answer = await b.post(path, body);
  assert.equal(answer.status, 200, answer.text);
  return answer.body as unknown as Ceremony;
};

/** Signs in by the device alone. */
export async function loginBy(b: Browser, device: Device, lies: Lies = {}): Promise<Answer> {
  const { options, challenge } = await optionsOf(b, '/auth/passkey/login-options');
  return b.post('/auth/passkey/login', { credential: device.get(options, lies), challenge });
}

/** Confirms an action by the device. */
export async function stepUpBy(b: Browser, device: Device, action_scope: ActionScope, lies: Lies = {}): Promise<Answer> {
  const { options, challenge } = await optionsOf(b, '/auth/2fa/webauthn/step-up-options', { action_scope });
  return b.post('/auth/2fa/webauthn/verify-step-up', { credential: device.get(options, lies), challenge, action_scope });
}
