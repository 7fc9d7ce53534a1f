import { type Letter, minuteOf } from '#server/domain/mail/templates.ts';

/** To a person in whose name an application logged in for the first time. */
export const newGrant = (
  facts: { client: string; workspace: string; space: 'live' | 'test'; ip: string | null; at: Date },
  appsUrl: string,
): Letter => ({
  subject: `New application with access to ${facts.workspace}`,
  paragraphs: [
    `You allowed "${facts.client}" to act in your name in the workspace ${facts.workspace}.`,
    `Space: ${facts.space === 'live' ? 'Live' : 'Test'}`,
    `Time: ${minuteOf(facts.at)}`,
    `IP address: ${facts.ip ?? 'unknown'}`,
    'If this was you, no action is required. If not, revoke its access, choose a new password and end your other sessions.',
  ],
  button: { label: 'View connected apps', url: appsUrl },
});

/** To the person and the Owners: a credential of a login was used twice, so one of the two users isn't the application. */
export const grantEnded = (
  facts: { client: string; workspace: string; person: string; reason: 'refresh_reuse' | 'code_replay'; ip: string | null; at: Date },
  button: { label: string; url: string },
): Letter => ({
  subject: `A login of "${facts.client}" in ${facts.workspace} was ended: it may have been stolen`,
  paragraphs: [
    `${facts.reason === 'refresh_reuse' ? 'A refresh token' : 'An authorization code'} of the application "${facts.client}", logged in as ${facts.person}, was used a second time. Each one works once, so someone may have copied it.`,
    'The login and all of its tokens were ended at once. Nothing else was changed.',
    `Workspace: ${facts.workspace}`,
    `Time: ${minuteOf(facts.at)}`,
    `IP address of the second use: ${facts.ip ?? 'unknown'}`,
    'Log in again with the application. If it happens again, find out where its credentials are stored and who can read them.',
  ],
  button,
});
