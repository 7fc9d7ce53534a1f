import { type Letter, named } from '#server/domain/mail/templates.ts';

type About = { workspace: string; space: string; name: string; host: string };

/** To Owners and Admins: a receiver has taken nothing for a day. */
export const webhookFailing = ({ workspace, space, name, host, since }: About & { since: Date }, url: string): Letter => ({
  subject: `The webhook ${name} fails`,
  paragraphs: [
    `Every delivery of the webhook ${named(name, 'a webhook')} to ${host} in ${named(workspace)} (${space}) has failed since ${since.toUTCString()}.`,
    'It is disabled after five days without one success. Deliveries that failed can be sent again for 14 days.',
  ],
  button: { label: 'View the deliveries', url },
});

/** To Owners and Admins: it was turned off. */
export const webhookDisabled = ({ workspace, space, name, host, reason }: About & { reason: 'failing' | 'gone' }, url: string): Letter => ({
  subject: `The webhook ${name} was disabled`,
  paragraphs: [
    reason === 'gone'
      ? `The receiver ${host} of the webhook ${named(name, 'a webhook')} in ${named(workspace)} (${space}) answered 410 Gone, so the webhook was disabled.`
      : `Every delivery of the webhook ${named(name, 'a webhook')} to ${host} in ${named(workspace)} (${space}) has failed for five days, so the webhook was disabled.`,
    'Enable it again when the receiver works. Deliveries that failed can be sent again for 14 days.',
  ],
  button: { label: 'View the webhook', url },
});

/** To the Owners: a program made a new signing secret. */
export const webhookSecretRotated = (
  { workspace, space, name, by, at }: Omit<About, 'host'> & { by: string; at: Date },
  url: string,
): Letter => ({
  subject: `The signing secret of the webhook ${name} was rotated`,
  paragraphs: [
    `${by} rotated the signing secret of the webhook ${named(name, 'a webhook')} in ${named(workspace)} (${space}) on ${at.toUTCString()}.`,
    'If this was not intended, revoke that credential and rotate the secret again.',
  ],
  button: { label: 'View the webhook', url },
});
