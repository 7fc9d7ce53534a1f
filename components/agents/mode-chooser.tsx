'use client';

import { ArrowRight } from 'lucide-react';
import { LinkButton } from '#components/ui/button.tsx';
import type { AgentMode } from '#server/domain/agents/modes.shared.ts';
import { MODES } from './labels.ts';

type Choice = { where: string; how: string; title: string; text: string } & ({ mode: AgentMode } | { href: string; label: string });

const CHOICES: readonly Choice[] = [
  {
    where: 'Our cloud',
    how: 'Change the base URL',
    title: 'You don’t need an agent',
    text: 'Create a route and point your code at its address.',
    href: '/routes',
    label: 'Open routes',
  },
  {
    where: 'Our cloud',
    how: 'No code change',
    title: MODES.intercept.title,
    text: MODES.intercept.does,
    mode: 'intercept',
  },
  {
    where: 'Your network',
    how: 'Change the base URL',
    title: MODES.server.title,
    text: `${MODES.server.does} ${MODES.server.secrets}`,
    mode: 'server',
  },
  {
    where: 'Your network',
    how: 'No code change',
    title: MODES.control.title,
    text: 'Start with a scan of the host: it finds which credentials and APIs its programs use. Then switch the agent to intercept.',
    mode: 'control',
  },
];

type Props = {
  path: (to: string) => string;
  disabledReason: string | undefined;
  onChoose: (mode: AgentMode) => void;
  Choose: ChooseButton;
};
type ChooseButton = (props: { mode: AgentMode; disabledReason: string | undefined; onClick: () => void }) => React.ReactNode;

/** Two questions, four answers: where calls are served, and whether code may change. */
export function ModeChooser({ path, disabledReason, onChoose, Choose }: Props) {
  return (
    <section className="rounded-lg border border-line-strong bg-surface p-5 sm:p-8">
      <h2 className="font-semibold text-base">No agents yet</h2>
      <p className="mt-1 max-w-2xl text-ink-2">
        An agent is a small program on a host of yours. Where should calls be served, and may your code change?
      </p>
      <ul className="mt-5 grid gap-3 sm:grid-cols-2">
        {CHOICES.map((choice) => (
          <li key={`${choice.where} ${choice.how}`} className="flex flex-col gap-2 rounded-lg border border-line p-4">
            <p className="text-ink-3 text-xs">
              {choice.where} · {choice.how}
            </p>
            <h3 className="font-medium">{choice.title}</h3>
            <p className="grow text-ink-2 text-sm">{choice.text}</p>
            <div>
              {'mode' in choice ? (
                <Choose mode={choice.mode} disabledReason={disabledReason} onClick={() => onChoose(choice.mode)} />
              ) : (
                <LinkButton size="sm" href={path(choice.href)} icon={<ArrowRight />}>
                  {choice.label}
                </LinkButton>
              )}
            </div>
          </li>
        ))}
      </ul>
    </section>
  );
}
