import type { Letter } from '#server/domain/mail/templates.ts';

type About = { workspace: string; space: string; at: Date };

export const wrapHostsAdded = (
  { name, added, workspace, space, by, at }: About & { name: string; added: readonly string[]; by: string },
  url: string,
): Letter => ({
  subject: `${name} may now be sent to ${added.length === 1 ? added[0] : `${added.length} more hosts`}`,
  paragraphs: [
    `${by} allowed the wrap credential ${name} in ${workspace} (${space}) to be sent to ${added.join(', ')} on ${at.toUTCString()}.`,
    'If this was not intended, remove the host: its gateway tokens are revoked with it.',
  ],
  button: { label: 'Review the credential', url },
});

export const tokenExposed = ({ host, secret, workspace, space, at }: About & { host: string; secret: string }, url: string): Letter => ({
  subject: `A gateway token for ${host} was revoked`,
  paragraphs: [
    `A gateway token for ${host} in ${workspace} (${space}) arrived over plain HTTP, where anyone on the network could read it. It was revoked at once and not used.`,
    `The key itself (${secret}) was not exposed. Create a new token, and use its https address. This was noticed on ${at.toUTCString()}.`,
  ],
  button: { label: 'Create a new token', url },
});
