import type { Letter } from '#server/domain/mail/service.ts';

type Disabled = { workspace: string; workflow: string; most: number; url: string };

/** To Owners and Admins. Names were typed by people and stand in quotes. */
export const workflowRanAway = ({ workspace, workflow, most, url }: Disabled): Letter => ({
  subject: `A workflow in ${workspace} was turned off`,
  paragraphs: [
    `The workflow "${workflow}" was turned off: it started more than ${most} times in a minute.`,
    'A workflow often starts itself that way, for example with a trigger on calls that it makes. Look at its trigger, then turn it on again.',
  ],
  button: { label: 'View the workflow', url },
});

/** To Owners and Admins: the schedule of a stored definition can't be read any more. */
export const workflowScheduleUnreadable = ({ workspace, workflow, url }: Disabled): Letter => ({
  subject: `A workflow in ${workspace} was turned off`,
  paragraphs: [
    `The workflow "${workflow}" was turned off: its schedule can't be read, so it can't be started at its times.`,
    'Correct the schedule of its trigger, then turn it on again.',
  ],
  button: { label: 'View the workflow', url },
});
