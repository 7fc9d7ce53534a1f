import { createHmac } from 'node:crypto';
import { db } from '#server/platform/db.ts';
import { authenticator } from '#server/testing/authenticator.ts';
import type { Sample } from '#server/testing/factories.ts';
import { mailsTo } from '#server/testing/mailbox.ts';
import { addPasskey, optionsOf, registration } from '#server/testing/passkeys.ts';
import { asPerson, enrolled } from '#server/testing/step-up.ts';
import type { PersonSample, TestPerson } from '#server/testing/test-person.ts';
import { PASSWORD } from '#server/testing/test-person.ts';

const nothing: PersonSample = async () => ({});
const withApp = ({ id }: TestPerson) => enrolled(id);
const enrolledBefore: PersonSample = async (who) => {
  await withApp(who);
  return {};
};

const stepUp: Sample = async (ctx) => {
  const { user_id } = await asPerson(ctx);
  return { code: (await enrolled(user_id)).code(), action_scope: 'plaintext.reveal' };
};

export const samples = { 'factors.step-up.member': stepUp };

export const personSamples: Record<string, PersonSample> = {
  'factors.totp.set-up': nothing,
  'factors.totp.enable': async ({ b }) => {
    const { setup_token, secret_base32 } = (await b.post('/auth/2fa/setup')).body as unknown as Record<string, string>;
    return { setup_token, code: codeOf(String(secret_base32)) };
  },
  'factors.totp.disable': enrolledBefore,
  'factors.recovery-codes.replace': enrolledBefore,
  'factors.step-up.code': async (who) => ({ code: (await withApp(who)).code(), action_scope: 'plaintext.reveal' }),
  'factors.login.pending': pendingOf(() => ({})),
  'factors.login.finish': pendingOf((code) => ({ method: '2fa', code })),
};

Object.assign(personSamples, {
  'factors.passkeys.challenge': nothing,
  'factors.passkeys.options': enrolledBefore,
  'factors.passkeys.create': async (who) => {
    const { options, challenge } = await registration(who);
    return { credential: authenticator().create(options), challenge, name: 'Phone' };
  },
  'factors.passkeys.list': async (who) => {
    await addPasskey(who);
    return {};
  },
  'factors.passkeys.update': async (who) => ({ id: (await addPasskey(who)).id, name: 'Laptop' }),
  'factors.passkeys.delete': async (who) => ({ id: (await addPasskey(who)).id }),
  'factors.passkeys.login-options': nothing,
  'factors.passkeys.login': async (who) => {
    await who.signIn(who.b);
    const { device } = await addPasskey(who);
    const { options, challenge } = await optionsOf(who.b, '/auth/passkey/login-options');
    return { credential: device.get(options), challenge };
  },
  'factors.login.options': async (who) => {
    await who.signIn(who.b);
    await addPasskey(who);
    await who.b.post('/auth/login', { email: who.email, password: PASSWORD });
    return {};
  },
  'factors.step-up.options': async (who) => {
    await addPasskey(who);
    return { action_scope: 'plaintext.reveal' };
  },
  'factors.step-up.passkey': async (who) => {
    const { device } = await addPasskey(who);
    const action_scope = 'plaintext.reveal';
    const { options, challenge } = await optionsOf(who.b, '/auth/2fa/webauthn/step-up-options', { action_scope });
    return { credential: device.get(options), challenge, action_scope };
  },
  'factors.recovery.challenge': recovering,
  'factors.recovery.reset': async (who) => {
    await recovering(who);
    await who.b.post('/auth/2fa/recovery/challenge');
    const mail = (await mailsTo(who.email)).findLast(({ kind }) => kind === 'factor_code');
    return { code: /\b\d{6}\b/.exec(mail?.text ?? '')?.[0] };
  },
} satisfies Record<string, PersonSample>);

/** A session as a recovery code opens it. */
async function recovering({ id }: TestPerson) {
  await enrolled(id);
  await db().sessions.updateMany({ where: { user_id: id }, data: { auth_methods: ['password', 'recovery'] } });
  return {};
}

/** A browser in which the first factor was proven. */
function pendingOf(input: (code: string) => Record<string, unknown>): PersonSample {
  return async ({ b, email, id }) => {
    const { code } = await enrolled(id);
    await b.post('/auth/login', { email, password: PASSWORD });
    return input(code());
  };
}

export const peopleOnly = ['factors.step-up.member'];
export const secretInput = { 'factors.step-up.member': ['code'] };
export const shownOnce = { 'factors.step-up.member': ['step_up_token'] };

export const unaudited = {
  'factors.passkeys.challenge': 'it mails a code',
  'factors.passkeys.options': 'nothing is stored of a key yet',
  'factors.passkeys.login-options': 'nobody proved who they are yet',
  'factors.login.options': 'the sign-in is audited when it is finished',
  'factors.step-up.options': 'its use is audited',
  'factors.step-up.passkey': 'its use is audited',
  'factors.recovery.challenge': 'it mails a code',
  'factors.totp.set-up': 'nothing is active before its first code',
  'factors.step-up.code': 'its use is audited',
};

/** What a phone shows for a typed seed, computed apart from the code under test. */
export function codeOf(base32: string, at = Date.now()): string {
  const bits = [...base32].map((c) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(c).toString(2).padStart(5, '0')).join('');
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)));
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)));
  const mac = createHmac('sha1', key).update(counter).digest();
  return String((mac.readUInt32BE(mac[19]! & 15) & 0x7fffffff) % 1_000_000).padStart(6, '0');
}
