import type { Letter } from '#server/domain/mail/service.ts';
import { type AlertMessage, factsOf, titleOf } from './message.ts';

/** A message as a mail. Names were typed by people: the subject is made of one line. */
export const alertLetter = (message: AlertMessage): Letter => ({
  subject: titleOf(message),
  paragraphs: [
    ...(message.kind === 'test' ? ['This is a test. Nothing has happened.'] : []),
    ...factsOf(message).map(([label, value]) => `${label}: ${value}`),
  ],
  button: { label: message.kind === 'test' ? 'View alerts' : 'View the incident', url: message.link },
});

/** The same in the length of a text message. */
export const alertText = (message: AlertMessage): string => `${titleOf(message)}. ${message.condition}. ${message.link}`.slice(0, 480);
