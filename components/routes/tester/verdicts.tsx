'use client';

import { Status } from '#components/ui/badge.tsx';
import { assertionWords } from '#server/domain/routes/examples/assertions.shared.ts';
import type { Judged } from './use-examples.ts';

const words = { holds: 'Passed', fails: 'Failed', unknown: 'Not checked' } as const;
const states = { holds: 'ok', fails: 'failing', unknown: 'pending' } as const;

/** Each assertion with how it went, and what was there instead. */
export function Verdicts({ judged }: { judged: readonly Judged[] }) {
  return (
    <ul className="flex flex-col gap-1">
      {judged.map(({ assertion, verdict, found }) => (
        <li key={JSON.stringify(assertion)} className="flex flex-wrap items-baseline gap-x-2">
          <Status state={states[verdict]}>{words[verdict]}</Status>
          <span className="min-w-0 [overflow-wrap:anywhere]">{assertionWords(assertion)}</span>
          {verdict !== 'holds' && <span className="text-ink-3 text-xs [overflow-wrap:anywhere]">{found}</span>}
        </li>
      ))}
    </ul>
  );
}
