'use client';

import type { z } from 'zod';
import { counted } from '#components/ui/numbers.ts';
import { TestChip } from '#components/ui/test-band.tsx';
import { Time } from '#components/ui/time.tsx';
import type { MemberImpact } from '#server/domain/team/schema.ts';

type Impact = z.output<typeof MemberImpact>;

/** API keys that a leaving member created, for review. */
export function KeysLeft({ keys }: { keys: Impact['api_keys'] }) {
  return (
    <ul className="flex max-h-40 flex-col gap-1 overflow-y-auto rounded-lg border border-line px-3 py-2">
      {keys.map((key) => (
        <li key={key.id} className="flex flex-wrap items-baseline gap-x-2">
          <span className="min-w-0 truncate">{key.name}</span>
          <span className="font-mono text-ink-3 text-xs">{key.key_prefix}</span>
          {key.space === 'test' && <TestChip />}
          <span className="ml-auto text-ink-3 text-xs">
            <Time value={key.last_used_at} empty="never used" />
          </span>
        </li>
      ))}
    </ul>
  );
}

/** What ends with a membership, and what somebody should look at. */
export function removalLines({ sessions, apps, invitations }: Impact, you: boolean): string[] {
  return [
    you
      ? 'You lose access immediately, in Live and Test. Somebody must invite you to come back.'
      : `They lose access immediately, in Live and Test.${sessions > 0 ? ` ${counted(sessions, 'open session')} will be cut off.` : ''}`,
    ...(apps > 0
      ? [`${counted(apps, 'connected app')} that act${apps === 1 ? 's' : ''} for ${you ? 'you' : 'them'} here will be signed out.`]
      : []),
    `${you ? 'Your' : 'Their'} private views and explorer history in this workspace are deleted. Routes, secrets and everything else ${you ? 'you' : 'they'} created stay.`,
    ...(invitations.length > 0
      ? [
          `${counted(invitations.length, 'invitation')} ${you ? 'you' : 'they'} sent stay${invitations.length === 1 ? 's' : ''} valid: ${invitations
            .slice(0, 3)
            .map(({ email }) => email)
            .join(', ')}${invitations.length > 3 ? ' and more' : ''}.`,
        ]
      : []),
  ];
}
