'use client';

import { useScope } from '#components/trpc/provider.tsx';
import { LinkButton } from '#components/ui/button.tsx';
import { Callout } from '#components/ui/callout.tsx';
import type { ScimPlan } from '#server/domain/scim-credentials/schema.ts';

const NOTES = {
  required: {
    tone: 'info',
    title: 'SCIM provisioning is part of the Enterprise plan',
    text: 'Your identity provider can then add and remove members by itself. Existing credentials can still be listed and revoked.',
    action: 'Compare plans',
  },
  lapsed: {
    tone: 'warn',
    title: 'Your Enterprise subscription isn’t active',
    text: 'Existing credentials keep working, so your directory stays in sync. New credentials can be created once the subscription is active again.',
    action: 'View billing',
  },
  ended: {
    tone: 'warn',
    title: 'Provisioning stopped when the Enterprise plan ended',
    text: 'Calls of your directory are refused, and members stay as they are. Remove people who leave under Team.',
    action: 'Compare plans',
  },
} as const;

/** What the plan means for the directory, when it isn't all available. */
export function PlanNote({ plan }: { plan: ScimPlan }) {
  const { slug } = useScope();
  if (plan === 'available') return null;
  const { tone, title, text, action } = NOTES[plan];
  return (
    <Callout
      tone={tone}
      title={title}
      actions={
        <LinkButton size="sm" href={`/${slug}/settings/${plan === 'lapsed' ? 'billing' : 'usage'}`}>
          {action}
        </LinkButton>
      }
    >
      {text}
    </Callout>
  );
}

/** Why no credential can be made under this plan. */
export const planReason = (plan: ScimPlan): string | undefined =>
  plan === 'available' ? undefined : plan === 'lapsed' ? 'The Enterprise subscription isn’t active.' : 'Takes the Enterprise plan.';
