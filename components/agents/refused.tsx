'use client';

import { usePathname } from 'next/navigation';
import { isPlanRefusal, PlanPanel } from '#components/trpc/plan.tsx';
import { nextStepOf, refusalOf } from '#components/trpc/refusal.ts';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import { type RevealRefusal, revealProblem } from '#components/ui/reveal-refusal.ts';

/** What a call was refused for; undefined when the person closed the verification themselves. */
export function gateRefusal(error: unknown): RevealRefusal | undefined {
  const { cancelled, policy_action } = ((error as { data?: object | null } | null)?.data ?? {}) as Partial<RevealRefusal>;
  if (cancelled) return undefined;
  const { code, message, request_id, retry_after } = refusalOf(error);
  return { code, message, request_id, retry_after, cancelled, policy_action };
}

/** A refusal of a form or of the gate of reveals, with its next step. */
export function Refused({ refusal }: { refusal: RevealRefusal }) {
  const here = usePathname();
  const problem = revealProblem(refusal, `/${here.split('/')[1] ?? ''}/settings`);
  if (isPlanRefusal({ type: refusal.code }))
    return <PlanPanel refusal={{ type: refusal.code, message: refusal.message, request_id: refusal.request_id }} />;
  const back = problem.href?.path === '/me/security' ? `?next=${encodeURIComponent(here)}` : '';
  return (
    <Callout
      tone="warn"
      title={problem.title}
      requestId={refusal.request_id || undefined}
      actions={
        problem.href && (
          <LinkButton size="sm" href={`${problem.href.path}${back}`}>
            {problem.href.label}
          </LinkButton>
        )
      }
    >
      {problem.next || nextStepOf(refusal.code)}
    </Callout>
  );
}
