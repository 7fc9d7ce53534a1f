'use client';

import { type ReactNode, useState } from 'react';
import type { FieldValues } from 'react-hook-form';
import { applyRefusal, type ZodForm } from '#components/ui/form.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import { isPlanRefusal, PlanPanel } from './plan.tsx';
import { refusalView } from './refusal.ts';

/**
 * What a form does with a failed call: `refuse` puts the message on the field it names, and what no field takes comes back as `refusal`
 * (for `Form`) or, when the plan is the cause, as `panel` (to stand on top of the fields).
 */
export function useFormRefusal<In extends FieldValues, Out extends FieldValues>(form: ZodForm<In, Out>) {
  const [left, setLeft] = useState<RefusalView>();
  const panel: ReactNode = left && isPlanRefusal(left) && <PlanPanel refusal={left} />;
  return {
    refusal: isPlanRefusal(left) ? undefined : left,
    panel,
    refuse: (error: unknown) => setLeft(applyRefusal(form, refusalView(error))),
    clear: () => setLeft(undefined),
  };
}
