import type { Letter } from '#server/domain/mail/service.ts';

type Runaway = { workspace: string; workflow: string; most: number; url: string };

/** To Owners and Admins. Names were typed by people and stand in quotes. */
export const workflowRanAway = ({ workspace, workflow, most, url }: Runaway): Letter => ({
  subject: `A workflow in ${workspace} was turned off`,
  paragraphs: [
    `The workflow "${workflow}" was turned off: it started more than ${most} times in a minute.`,
    'A workflow often starts itself that way, for example with a trigger on calls that it makes. Look at its trigger, then turn it on again.',
  ],
  button: { label: 'View the workflow', url },
});
