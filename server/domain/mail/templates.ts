import { addressIn, countryName } from '#server/domain/tenants/country.shared.ts';
import { grouped } from '#server/kernel/numbers.ts';
import { type EndedLogins, signedOut } from './signed-out.ts';

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

const IGNORE = "If this wasn't you, ignore this email. Nothing happens until the link is used.";

/** To an address that signed up and has no account. */
export const signUpLink = (workspace: string, url: string): Letter => ({
  subject: 'Confirm your email address',
  greeting: 'Welcome to Sallyport.',
  paragraphs: [`Confirm your email address to create ${named(workspace)} with a demo route, a sample secret and a Test key.`],
  button: { label: 'Confirm and open the workspace', url },
  footer: `The link works once and expires in 24 hours. ${IGNORE}`,
  credential: true,
});

/**
 * Anybody may sign up with anybody's address: a name that mail programs would turn into a link, or that could pass for a message, is a stranger's letter
 * under our name, and is left out.
 */
export const named = (name: string, otherwise = 'your workspace', what = 'the workspace'): string =>
  name.length > 40 || /[/@:]|www\.|[a-z0-9]\.[a-z]{2}/i.test(name) ? otherwise : `${what} "${name}"`;

/** To an address that signed up and has one: the link signs in, the sign-up goes no further. */
export const knownAddressLink = (url: string): Letter => ({
  subject: 'Sign in to Sallyport',
  paragraphs: [
    'Someone, probably you, tried to sign up with this address. It already has an account, so no new one was created. Use the link below to sign in.',
  ],
  button: { label: 'Sign in', url },
  footer: `The link works once and expires in 10 minutes. ${IGNORE}`,
  credential: true,
});

export const signInCode = (code: string, url: string): Letter => ({
  subject: 'Your Sallyport sign-in code',
  paragraphs: ['Enter this code in the browser where you requested it, or use the link below.'],
  code,
  button: { label: 'Sign in', url },
  footer: `The code and the link work once and expire in 10 minutes. ${IGNORE}`,
  credential: true,
});

export const passwordReset = (url: string): Letter => ({
  subject: 'Choose a new password',
  paragraphs: ['Someone, probably you, requested a new Sallyport password. Setting it ends all your sessions.'],
  button: { label: 'Choose a new password', url },
  footer: `The link works once and expires in 60 minutes. ${IGNORE}`,
  credential: true,
});

export const factorCode = (code: string): Letter => ({
  subject: 'Your Sallyport confirmation code',
  paragraphs: ['Enter this code to change the second factor of your account.'],
  code,
  footer: "The code works once and expires in 10 minutes. If this wasn't you, someone is signed in as you: choose a new password.",
  credential: true,
});

/** To the new address. */
export const emailChange = (url: string): Letter => ({
  subject: 'Confirm your new email address',
  paragraphs: ['Someone, probably you, wants to use this address for their Sallyport account.'],
  button: { label: 'Confirm this address', url },
  footer: `The link works once and expires in 60 minutes. ${IGNORE}`,
  credential: true,
});

/** To the old address, when the change is asked for. */
export const emailChangeAsked = (to: string, securityUrl: string): Letter => ({
  subject: 'A new email address was requested for your account',
  paragraphs: [
    `Someone, probably you, asked to change the email address of your Sallyport account to ${to}. Nothing changes until a link sent to that address is used.`,
    "If this wasn't you, someone is signed in as you: choose a new password and end your other sessions.",
  ],
  button: { label: 'Review your security settings', url: securityUrl },
});

/** To the old address, once it is no longer that of the account. */
export const emailChanged = (to: string, undoUrl: string): Letter => ({
  subject: 'The email address of your account was changed',
  paragraphs: [
    `The email address of your Sallyport account is now ${to}.`,
    "If this wasn't you, take the change back: it makes this address yours again, ends all sessions and signs out connected apps. Then choose a new password.",
  ],
  button: { label: 'Undo this change', url: undoUrl },
  footer: 'The link works once and expires in 7 days.',
  credential: true,
});

/** To a person whose ways to sign in changed (interface rule 22 §5.3). */
export const factorChanged = (what: string, at: { ip: string | null; at: Date; ended?: EndedLogins }, securityUrl: string): Letter => ({
  subject: `${what} on your Sallyport account`,
  paragraphs: [
    `${what} on your Sallyport account.${at.ended ? ` ${signedOut(at.ended)}` : ''}`,
    `Time: ${minuteOf(at.at)}`,
    `IP address: ${at.ip ?? 'unknown'}`,
    'If this was you, no action is required. If not, choose a new password and check your second factors.',
  ],
  button: { label: 'Review your security settings', url: securityUrl },
});

export type KeyFacts = { name: string; key_id: string; workspace: string; space: 'live' | 'test' };

export const keyMade = (key: KeyFacts & { access: boolean; by: string; ip: string | null; at: Date }, keysUrl: string): Letter => ({
  subject: key.access ? `New access key in ${key.workspace}` : `A key created a new API key in ${key.workspace}`,
  paragraphs: [
    key.access
      ? `The access key "${key.name}" was created in your workspace ${key.workspace}.`
      : `The API key "${key.name}" was created in your workspace ${key.workspace} by another API key, not by a person.`,
    `Key: ${key.key_id} (${key.space === 'live' ? 'Live' : 'Test'})`,
    `Created by: ${key.by}`,
    `Time: ${minuteOf(key.at)}`,
    `IP address: ${key.ip ?? 'unknown'}`,
    'If you expected this, no action is required. If not, revoke this key and the key that created it.',
  ],
  button: { label: 'View API keys', url: keysUrl },
});

export const keyEnding = (key: KeyFacts & { ends: Date; days: number }, keysUrl: string): Letter => ({
  subject: key.days === 0 ? `An API key in ${key.workspace} has expired` : `An API key in ${key.workspace} expires soon`,
  paragraphs: [
    key.days === 0
      ? `The API key "${key.name}" expired on ${minuteOf(key.ends)}. Calls with it are refused.`
      : `The API key "${key.name}" expires on ${minuteOf(key.ends)}. After that, calls with it are refused.`,
    `Key: ${key.key_id}`,
    key.days === 0
      ? 'If something still uses it, create a new key and replace it there.'
      : 'Extend its expiry, or rotate it. After a rotation, the old and the new key both work until you have replaced the old one everywhere.',
  ],
  button: { label: 'View API keys', url: keysUrl },
});

export const logsShrinking = (
  facts: { workspace: string; ends: Date; logs: string | null; audit: string | null },
  logsUrl: string,
): Letter => ({
  subject: `Older logs of ${facts.workspace} will be deleted on ${facts.ends.toISOString().slice(0, 10)}`,
  paragraphs: [
    `The plan of your workspace ${facts.workspace} now keeps logs for a shorter time.`,
    ...(facts.logs ? [`API logs: ${facts.logs}.`] : []),
    ...(facts.audit ? [`Audit log: ${facts.audit}. Entries of the critical chain are kept forever.`] : []),
    `Older entries are kept until ${minuteOf(facts.ends)}, so that you can export them or move to a larger plan. After that, they are permanently deleted.`,
  ],
  button: { label: 'View logs', url: logsUrl },
});

type EndingValue = { name: string; environment: string; ends: Date; strict: boolean };
const STRICT = 'calls that need it are refused after that';
const LENIENT = 'it stays in use after that, with a warning on every call';

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
    subject: `${space === 'test' ? '[Test] ' : ''}${what} in ${workspace} ${when}`,
    paragraphs: [
      ...values.map(({ name, environment, ends, strict }) =>
        ends <= now
          ? `${name} in ${environment}: expired ${minuteOf(ends)}; ${strict ? 'calls that need it are refused' : 'it stays in use, with a warning on every call'}.`
          : `${name} in ${environment}: expires ${minuteOf(ends)}; ${strict ? STRICT : LENIENT}.`,
      ),
      ...(more > 0 ? [`And ${more} more.`] : []),
      'Set a new value or change the expiry. Both take effect on the next call.',
    ],
    button: { label: 'View secrets', url: secretsUrl },
  };
}

/** One person revealed much within an hour. */
export const manyReveals = (facts: { workspace: string; person: string; n: number }, logUrl: string): Letter => ({
  subject: `${facts.person} revealed ${facts.n} values in ${facts.workspace} within an hour`,
  paragraphs: [
    `${facts.person} revealed ${facts.n} stored values in ${facts.workspace} in the last hour. Each one was confirmed with a second factor and is in the reveal log.`,
    "If you don't expect this, ask them about it, or remove their access under Team and set new values for the secrets in the log.",
  ],
  button: { label: 'View the reveal log', url: logUrl },
});

/** A share of the month's calls is used; at 100 % Live calls are refused. */
export const usageReached = (
  facts: { workspace: string; percent: number; used: number; limit: number; plan: string; resets: Date },
  usageUrl: string,
): Letter => ({
  subject:
    facts.percent === 100
      ? `${facts.workspace} has used all its calls for this month`
      : `${facts.workspace} has used ${facts.percent}% of its calls for this month`,
  paragraphs: [
    `${grouped(facts.used)} of ${grouped(facts.limit)} calls included in the ${facts.plan} plan have been used.`,
    facts.percent === 100
      ? `Live calls are refused with 402 until ${minuteOf(facts.resets)}, or until the workspace moves to a larger plan. Test calls still work.`
      : `At 100%, Live calls are refused with 402 until ${minuteOf(facts.resets)}. Test calls don't count.`,
  ],
  button: { label: 'View usage', url: usageUrl },
});

/** The DNS record of a verified domain is gone for the third day. */
export const domainLapsed = (
  facts: { workspace: string; domain: string; txt_name: string; txt_value: string; sso_required: boolean },
  domainsUrl: string,
): Letter => ({
  subject: `The domain ${facts.domain} of ${facts.workspace} is no longer verified`,
  paragraphs: [
    `The DNS record that proves that ${facts.workspace} owns ${facts.domain} has been missing for three days.`,
    'New people with an address of this domain can no longer join by single sign-on or a directory. Existing members are not affected.',
    ...(facts.sso_required ? ['Members with an address of this domain must still use single sign-on.'] : []),
    `To verify it again, publish this TXT record: ${facts.txt_name} with the value ${facts.txt_value}`,
  ],
  button: { label: 'View domains', url: domainsUrl },
});

type ScimCredentialFacts = { name: string; prefix: string; space: string; workspace: string };

/** Whoever has the token can add and remove people. */
export const scimCredentialCreated = (
  facts: ScimCredentialFacts & { by: string; ip: string | null; at: Date; expires_at: Date },
  url: string,
): Letter => ({
  subject: `New SCIM credential in ${facts.workspace}`,
  paragraphs: [
    `The SCIM credential "${facts.name}" was created in your workspace ${facts.workspace}. ${
      facts.space === 'live' ? 'It can add and remove members and manage OAuth clients.' : 'It can manage OAuth clients of the Test space.'
    }`,
    `Credential: ${facts.prefix}`,
    `Created by: ${facts.by}`,
    `Time: ${minuteOf(facts.at)}`,
    `IP address: ${facts.ip ?? 'unknown'}`,
    `Expires: ${minuteOf(facts.expires_at)}`,
    'If you expected this, no action is required. If not, revoke it.',
  ],
  button: { label: 'View the directory', url },
});

export const scimCredentialEnding = (facts: ScimCredentialFacts & { ends: Date; days: number }, url: string): Letter => ({
  subject:
    facts.days === 0 ? `A SCIM credential in ${facts.workspace} has expired` : `A SCIM credential in ${facts.workspace} expires soon`,
  paragraphs: [
    facts.days === 0
      ? `The SCIM credential "${facts.name}" expired on ${minuteOf(facts.ends)}. Your directory can no longer add or remove members with it.`
      : `The SCIM credential "${facts.name}" expires on ${minuteOf(facts.ends)}. After that, your directory can no longer add or remove members with it.`,
    `Credential: ${facts.prefix}`,
    'Create a new credential, enter its token at your identity provider, then revoke this one.',
  ],
  button: { label: 'View the directory', url },
});

/** To a person whom the directory of a workspace added. Its name was typed by people, see `named`. */
export const directoryWelcome = (facts: { workspace: string; email: string }, url: string): Letter => ({
  subject: `You now have access to ${named(facts.workspace, 'a Sallyport workspace')}`,
  paragraphs: [
    `Your organization added ${facts.email} to ${named(facts.workspace, 'a workspace')}.`,
    'Sign in with this address. If your organization uses single sign-on, choose it on the sign-in page; otherwise ask for a sign-in code.',
  ],
  button: { label: 'Sign in', url },
});

export const minuteOf = (at: Date) => `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`;

type SignInFacts = { ip: string | null; country?: string | null; city?: string | null; user_agent: string | null; at: Date };

/** `isNew`: what of the sign-in the account was not used with before. */
export const newSignIn = (details: SignInFacts, isNew: { browser: boolean; country: boolean }, sessionsUrl: string): Letter => ({
  subject: 'New sign-in to your account',
  paragraphs: [
    `Someone signed in to your account ${[
      ...(isNew.browser ? ['from a new browser'] : []),
      ...(isNew.country && details.country ? [`from a new country: ${countryName(details.country)}`] : []),
    ].join(' and ')}.`,
    `Time: ${minuteOf(details.at)}`,
    `IP address: ${addressIn(details.ip, details.country ?? null, details.city) ?? 'unknown'}`,
    `Browser: ${(details.user_agent ?? 'unknown').slice(0, 160)}`,
    'If this was you, no action is required. If not, end that session and change your password.',
  ],
  button: { label: 'View sessions', url: sessionsUrl },
});

/** To somebody whom a workspace invites. Its name and theirs were typed by people, see `named`. */
export const invitationMail = (facts: { workspace: string; by: string; role: string; expires_at: Date }, url: string): Letter => ({
  subject: "You're invited to a Sallyport workspace",
  paragraphs: [
    `${facts.by} invited you to join ${named(facts.workspace, 'a workspace')} as ${facts.role}.`,
    'Sign in with this address to join. If you have no account yet, the link creates one.',
  ],
  button: { label: 'View invitation', url },
  footer: `The link works once and expires on ${minuteOf(facts.expires_at)}. If you don't know this sender, ignore this email. Nothing happens until the link is used.`,
  credential: true,
});

export const roleChanged = (facts: { workspace: string; by: string; role: string }, url: string): Letter => ({
  subject: `Your role in ${facts.workspace} changed`,
  paragraphs: [`${facts.by} changed your role in ${named(facts.workspace)} to ${facts.role}. It applies from your next request.`],
  button: { label: 'Open the workspace', url },
});

export const membershipEnded = (facts: { workspace: string; by: string }): Letter => ({
  subject: `You no longer have access to ${facts.workspace}`,
  paragraphs: [
    `${facts.by} removed you from ${named(facts.workspace)}. Your account and your other workspaces are not affected.`,
    'If this is unexpected, contact an Owner or Admin of the workspace.',
  ],
});

/** To the Owners: a credential asked for many tokens that don't exist. */
export const tokensGuessed = (
  facts: { workspace: string; space: 'live' | 'test'; credential: string; ip: string | null },
  keysUrl: string,
): Letter => ({
  subject: `${facts.space === 'test' ? '[Test] ' : ''}A credential in ${facts.workspace} was stopped from guessing vault tokens`,
  paragraphs: [
    `${facts.credential} asked for more than 100 vault tokens that don't exist within 5 minutes. It can't detokenize for 5 minutes.`,
    `IP address: ${facts.ip ?? 'unknown'}`,
    "If you don't expect this, revoke the credential and look at its calls in the audit log.",
  ],
  button: { label: 'View API keys', url: keysUrl },
});

/** To the people who review: a migration has read its store. */
export const migrationAwaitsReview = (facts: { workspace: string; store: string; items: number }, url: string): Letter => ({
  subject: `Secrets from ${facts.store} wait for review (${facts.items})`,
  paragraphs: [`${named(facts.workspace)}: nothing is used until it is approved. Undecided values are erased at the deadline.`],
  button: { label: 'Review the migration', url },
});

/** To the Owners: a reviewer looked at values. */
export const migrationValuesSeen = (facts: { workspace: string; person: string; n: number }, url: string): Letter => ({
  subject: `${facts.person} viewed values of a migration (${facts.n})`,
  paragraphs: [`This happened in ${named(facts.workspace)}, while reviewing. Every view is in the critical audit log.`],
  button: { label: 'View the activity', url },
});
