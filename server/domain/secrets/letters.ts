import { type Letter, named } from '#server/domain/mail/templates.ts';

/** To the Owners of the workspace that shares: a partner wrote a new value. */
export const sharedValueEdited = (facts: { workspace: string; secret: string; environment: string; by: string }, url: string): Letter => ({
  subject: `A partner changed the secret ${facts.secret}`,
  paragraphs: [
    `${facts.by} set a new value for ${facts.secret} in ${facts.environment}. The secret belongs to ${named(facts.workspace)} and is shared with the level "Can manage".`,
    'If this is unexpected, restore the previous value within 24 hours and revoke the share.',
  ],
  button: { label: 'View the secret', url },
});
