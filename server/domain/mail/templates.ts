import { addressIn, countryName } from '#server/domain/request-logs/country.shared.ts';

/** What a person reads: short paragraphs, at most one button and one code. */
export type Letter = {
  subject: string;
  greeting?: string;
  paragraphs: readonly string[];
  button?: { label: string; url: string };
  code?: string;
  /** Small print under the button. */
  footer?: string;
  /** Whoever reads it can sign in: its text is stored sealed. The subject never holds the code, because mail programs show it on locked screens. */
  credential?: true;
};

/** The two forms of a letter. Everything variable is escaped; links are the caller's own. */
export function render(letter: Letter): { subject: string; text: string; html: string } {
  return { subject: oneLine(letter.subject), text: plain(letter), html: html(letter) };
}

function plain({ greeting, paragraphs, button, code, footer }: Letter): string {
  return [
    ...(greeting ? [greeting] : []),
    ...paragraphs,
    ...(code ? [`Your code: ${code}`] : []),
    ...(button ? [`${button.label}:\n${button.url}`] : []),
    ...(footer ? [footer] : []),
    '-- \nSallyport',
  ].join('\n\n');
}

function html({ subject, greeting, paragraphs, button, code, footer }: Letter): string {
  const p = (text: string, style = 'margin:0 0 16px') => `<p style="${style}">${escapeHtml(text)}</p>`;
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><meta name="color-scheme" content="light dark"><title>${escapeHtml(subject)}</title></head>
<body style="margin:0;padding:32px 16px;background:#f6f7f9;color:#16181d;font:16px/1.55 system-ui,-apple-system,Segoe UI,Roboto,sans-serif">
<div style="max-width:520px;margin:0 auto;background:#ffffff;border:1px solid #e3e5ea;border-radius:12px;padding:32px">
<p style="margin:0 0 24px;font-weight:650;letter-spacing:-.01em">Sallyport</p>
${greeting ? p(greeting) : ''}${paragraphs.map((text) => p(text)).join('')}
${code ? `<p style="margin:0 0 24px;font:600 32px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:.18em">${escapeHtml(code)}</p>` : ''}
${button ? `<p style="margin:0 0 24px"><a href="${escapeHtml(button.url)}" style="display:inline-block;background:#3f3fd1;color:#ffffff;text-decoration:none;font-weight:600;padding:12px 20px;border-radius:8px">${escapeHtml(button.label)}</a></p><p style="margin:0 0 16px;font-size:13px;color:#5b6070;word-break:break-all">${escapeHtml(button.url)}</p>` : ''}
${footer ? p(footer, 'margin:16px 0 0;padding-top:16px;border-top:1px solid #e3e5ea;font-size:13px;color:#5b6070') : ''}
</div></body></html>`;
}

/** For text and attribute values alike. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** A subject must not open another header, whoever chose the workspace's name. */
const oneLine = (text: string) => text.replace(/[\r\n\u0000-\u001f\u007f]+/g, ' ').slice(0, 180);

const IGNORE = 'If this was not you, ignore this mail: nothing happens until the link is used.';

/** To an address that signed up and has no account. */
export const signUpLink = (workspace: string, url: string): Letter => ({
  subject: 'Confirm your e-mail address',
  greeting: 'Welcome to Sallyport.',
  paragraphs: [
    `Confirm that this address is yours, and ${named(workspace)} is created with a working demo route, a sample secret and a test key.`,
  ],
  button: { label: 'Confirm and open the workspace', url },
  footer: `The link works once and for 24 hours. ${IGNORE}`,
  credential: true,
});

/**
 * Anybody may sign up with anybody's address: a name that mail programs would turn into a link, or that could pass for a message, is a stranger's letter
 * under our name, and is left out.
 */
const named = (workspace: string): string =>
  workspace.length > 40 || /[/@:]|www\.|[a-z0-9]\.[a-z]{2}/i.test(workspace) ? 'your workspace' : `the workspace "${workspace}"`;

/** To an address that signed up and has one: the link signs in, the sign-up goes no further. */
export const knownAddressLink = (url: string): Letter => ({
  subject: 'Sign in to Sallyport',
  paragraphs: [
    'Somebody, probably you, asked to sign up with this address. It already has an account, so no new one was made. You can sign in with the link below.',
  ],
  button: { label: 'Sign in', url },
  footer: `The link works once and for 10 minutes. ${IGNORE}`,
  credential: true,
});

export const signInCode = (code: string, url: string): Letter => ({
  subject: 'Your Sallyport sign-in code',
  paragraphs: ['Enter this code in the browser where you asked for it, or use the link below.'],
  code,
  button: { label: 'Sign in', url },
  footer: `Code and link work once and for 10 minutes. ${IGNORE}`,
  credential: true,
});

export const passwordReset = (url: string): Letter => ({
  subject: 'Choose a new password',
  paragraphs: ['Somebody, probably you, asked for a new Sallyport password. Choosing it ends all your sessions.'],
  button: { label: 'Choose a new password', url },
  footer: `The link works once and for 60 minutes. ${IGNORE}`,
  credential: true,
});

export const passwordChanged = (forgotUrl: string): Letter => ({
  subject: 'Your password was changed',
  paragraphs: [
    'The password of your Sallyport account was changed and your other sessions were ended.',
    'If this was not you, choose a new password at once: the link leads to a mail that only you can open.',
  ],
  button: { label: 'Choose a new password', url: forgotUrl },
});

export type KeyFacts = { name: string; key_id: string; workspace: string; space: 'live' | 'test' };

export const keyMade = (key: KeyFacts & { access: boolean; by: string; ip: string | null; at: Date }, keysUrl: string): Letter => ({
  subject: key.access ? `A new access key in ${key.workspace}` : `A key made a new API key in ${key.workspace}`,
  paragraphs: [
    key.access
      ? `The access key "${key.name}" was made in your workspace ${key.workspace}.`
      : `The API key "${key.name}" was made in your workspace ${key.workspace} by another API key, not by a person.`,
    `Key: ${key.key_id} (${key.space === 'live' ? 'Live' : 'Test'})`,
    `Made by: ${key.by}`,
    `Time: ${minuteOf(key.at)}`,
    `Address: ${key.ip ?? 'unknown'}`,
    'If you expected this, there is nothing to do. If not, revoke the key, and the one that made it.',
  ],
  button: { label: 'See the API keys', url: keysUrl },
});

export const keyEnding = (key: KeyFacts & { ends: Date; days: number }, keysUrl: string): Letter => ({
  subject: key.days === 0 ? `An API key in ${key.workspace} has expired` : `An API key in ${key.workspace} expires soon`,
  paragraphs: [
    key.days === 0
      ? `The API key "${key.name}" expired on ${minuteOf(key.ends)}. Calls with it are refused.`
      : `The API key "${key.name}" expires on ${minuteOf(key.ends)}. From then on calls with it are refused.`,
    `Key: ${key.key_id}`,
    key.days === 0
      ? 'If something still uses it, make a new key and put it there.'
      : 'Move its end, or rotate it: the new key and the old one then work side by side until you have changed everything that uses it.',
  ],
  button: { label: 'See the API keys', url: keysUrl },
});

export const logsShrinking = (
  facts: { workspace: string; ends: Date; logs: string | null; audit: string | null },
  logsUrl: string,
): Letter => ({
  subject: `Older logs of ${facts.workspace} will be deleted on ${facts.ends.toISOString().slice(0, 10)}`,
  paragraphs: [
    `The plan of your workspace ${facts.workspace} keeps logs for a shorter time than before.`,
    ...(facts.logs ? [`API logs: ${facts.logs}.`] : []),
    ...(facts.audit ? [`Audit log: ${facts.audit}. Entries of the critical chain are kept for ever.`] : []),
    `What is older stays until ${minuteOf(facts.ends)}, so that you can export it or move to a larger plan. After that it is deleted for good.`,
  ],
  button: { label: 'Open the logs', url: logsUrl },
});

type EndingValue = { name: string; environment: string; ends: Date; strict: boolean };
const STRICT = 'calls that need it are then refused';
const LENIENT = 'it is then still used, and every call with it carries a warning';

/** Values of secrets that end, of one space; `days` is the nearest of the ends ahead, 0 when they have ended. */
export function secretsEnding(
  facts: {
    workspace: string;
    space: 'live' | 'test';
    days: number;
    now: Date;
    /** How many the values belong to. */
    secrets: number;
    values: readonly EndingValue[];
    more: number;
  },
  secretsUrl: string,
): Letter {
  const { workspace, space, days, now, secrets, values, more } = facts;
  const one = secrets === 1;
  const what = one ? `The secret ${values[0]?.name}` : `${secrets} secrets`;
  const when = days === 0 ? `${one ? 'has' : 'have'} expired` : `${one ? 'expires' : 'expire'} soon`;
  return {
    subject: `${space === 'test' ? '[Test] ' : ''}${what} of ${workspace} ${when}`,
    paragraphs: [
      ...values.map(({ name, environment, ends, strict }) =>
        ends <= now
          ? `${name} in ${environment}: expired ${minuteOf(ends)}; ${strict ? 'calls that need it are refused' : 'it is still used, with a warning on every call'}.`
          : `${name} in ${environment}: expires ${minuteOf(ends)}; ${strict ? STRICT : LENIENT}.`,
      ),
      ...(more > 0 ? [`And ${more} more.`] : []),
      'Set a new value, or move the end: both take effect on the next call.',
    ],
    button: { label: 'See the secrets', url: secretsUrl },
  };
}

/** A share of the month's calls is used; at 100 % Live calls are refused. */
export const usageReached = (
  facts: { workspace: string; percent: number; used: number; limit: number; plan: string; resets: Date },
  usageUrl: string,
): Letter => ({
  subject:
    facts.percent === 100
      ? `${facts.workspace} has used all calls of the month`
      : `${facts.workspace} has used ${facts.percent} % of the month's calls`,
  paragraphs: [
    `${facts.used.toLocaleString('en')} of ${facts.limit.toLocaleString('en')} calls of the ${facts.plan} plan are used.`,
    facts.percent === 100
      ? `Live calls are refused with 429 until ${minuteOf(facts.resets)}, or until the workspace moves to a larger plan. Calls in Test go on.`
      : `At 100 % Live calls are refused with 429 until ${minuteOf(facts.resets)}. Calls in Test are not counted.`,
  ],
  button: { label: 'See who uses them', url: usageUrl },
});

const minuteOf = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

type SignInFacts = { ip: string | null; country?: string | null; city?: string | null; user_agent: string | null; at: Date };

/** `isNew`: what of the sign-in the account was not used with before. */
export const newSignIn = (details: SignInFacts, isNew: { browser: boolean; country: boolean }, sessionsUrl: string): Letter => ({
  subject: 'New sign-in to your account',
  paragraphs: [
    `Your account was used ${[
      ...(isNew.browser ? ['from a browser we have not seen before'] : []),
      ...(isNew.country && details.country ? [`from a country it was not used from before: ${countryName(details.country)}`] : []),
    ].join(', ')}.`,
    `Time: ${minuteOf(details.at)}`,
    `Address: ${addressIn(details.ip, details.country ?? null, details.city) ?? 'unknown'}`,
    `Browser: ${(details.user_agent ?? 'unknown').slice(0, 160)}`,
    'If this was you, there is nothing to do. If not, end that session and change your password.',
  ],
  button: { label: 'See your sessions', url: sessionsUrl },
});
