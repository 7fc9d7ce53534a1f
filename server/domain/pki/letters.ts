import type { Letter } from '#server/domain/mail/templates.ts';

type Ending = { name: string; subject: string; workspace: string; space: string; ends: Date; days: number };

export const rootEnding = ({ name, subject, workspace, space, ends, days }: Ending, url: string): Letter => ({
  subject: `The root certificate ${name} ends in ${days} days or less`,
  paragraphs: [
    `The root ${name} (${subject}) in ${workspace} (${space}) ends on ${ends.toUTCString()}. Nothing it issued is valid after that, and certificates issued now end with it.`,
    'Create another root, have everybody trust it, and issue from it before that day.',
  ],
  button: { label: 'Open certificate authorities', url },
});
