import type { Letter } from '#server/domain/mail/templates.ts';
import type { MadeThing } from './made.ts';

type Left = MadeThing & { revoked: boolean };

/** Of one kind: the rest is a number. */
const MOST_NAMED = 20;

export const madeLeft = (
  { workspace, member, by, made }: { workspace: string; member: string; by: string; made: readonly Left[] },
  teamUrl: string,
): Letter => {
  const left = made.filter(({ revoked }) => !revoked);
  const ended = made.filter(({ revoked }) => revoked);
  return {
    subject: left.length > 0 ? `What ${member} leaves behind in ${workspace}` : `What ${member} made in ${workspace} was revoked`,
    paragraphs: [
      `${member} is no longer a member of your workspace ${workspace}. Their membership was ended by ${by}.`,
      ...(left.length > 0
        ? ['What they made goes on working, and they may still know its secrets. Revoke or rotate what should not:']
        : []),
      ...listed(left),
      ...(ended.length > 0 ? ['Revoked or turned off with their membership:', ...listed(ended)] : []),
    ],
    button: { label: 'Open the team', url: teamUrl },
  };
};

const listed = (things: readonly Left[]): string[] =>
  [...Map.groupBy(things, ({ kind, space }) => `${kind} ${space}`).values()].map((group) => {
    const [{ label, space }] = group as [Left, ...Left[]];
    const names = group.slice(0, MOST_NAMED).map(({ name, through }) => (through === null ? name : `${name}, made by ${through}`));
    const more = group.length > MOST_NAMED ? ` and ${group.length - MOST_NAMED} more` : '';
    return `${label[0]?.toUpperCase()}${label.slice(1)} (${space === 'live' ? 'Live' : 'Test'}): ${names.join('; ')}${more}`;
  });
