import { type Letter, minuteOf, named } from '#server/domain/mail/templates.ts';

type Offer = {
  workspace: string;
  by: string;
  secret: string;
  space: 'live' | 'test';
  level: string;
  hosts: readonly string[] | null;
  message: string | null;
  expires_at: Date;
};

/** To the address that a secret is shared with. The link is the claim. */
export const shareOffered = (facts: Offer, url: string): Letter => ({
  subject: `${facts.workspace} shares a secret with you`,
  paragraphs: [
    `${facts.by} of ${named(facts.workspace, 'a workspace')} shares the secret ${facts.secret} (${facts.space}) with you: ${facts.level}. ${facts.hosts === null ? 'It may be sent to any host.' : `It may be sent to ${facts.hosts.slice(0, 10).join(', ')}${facts.hosts.length > 10 ? ' and more' : ''}.`}`,
    ...(facts.message ? [`Their message: ${facts.message}`] : []),
    'Sign in with this address and choose the workspace that should use it. The value itself stays where it is.',
  ],
  button: { label: 'View the shared secret', url },
  footer: `The link works once and expires on ${minuteOf(facts.expires_at)}. If you don't know this sender, ignore this email. Nothing happens until the link is used.`,
  credential: true,
});

/** To the same address: the offer is withdrawn, or the secret no longer works. */
export const shareRevoked = (facts: { workspace: string; secret: string; was: 'pending' | 'active' }): Letter => ({
  subject: `${facts.workspace} no longer shares a secret with you`,
  paragraphs: [
    facts.was === 'pending'
      ? `The offer to share the secret ${facts.secret} of ${named(facts.workspace)} was withdrawn. The link in the earlier email no longer works.`
      : `The secret ${facts.secret} of ${named(facts.workspace)} is no longer shared with you. Calls that use it are refused from now on.`,
  ],
});

/** To the Owners and Admins of the workspace that shares. */
export const shareDeclined = (facts: { workspace: string; secret: string; recipient: string }, url: string): Letter => ({
  subject: `The share of ${facts.secret} was declined`,
  paragraphs: [`${facts.recipient} declined the secret ${facts.secret} that ${named(facts.workspace)} offered to share.`],
  button: { label: 'View the shares', url },
});
