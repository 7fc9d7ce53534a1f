'use client';

import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import type { DefaultValues, FieldValues } from 'react-hook-form';
import { type Choice, differencesOf, onlyMine, resolved, same } from '#components/ui/conflict.ts';
import type { ConflictPanelProps } from '#components/ui/conflict-panel.tsx';
import { applyRefusal, submitAgain, type ZodForm } from '#components/ui/form.tsx';
import { lazyPart, lazyTab } from '#components/ui/lazy.tsx';
import type { RefusalView } from '#components/ui/refusal.ts';
import { notifyDone } from '#components/ui/toaster.tsx';
import type { Draft } from './drafts.ts';
import { type FormDraft, useFormDraft } from './form-draft.ts';
import { isPlanRefusal, PlanPanel } from './plan.tsx';
import { refusalView, type Stale, staleOf } from './refusal.ts';
import { isSignedOut, SignInPanel } from './sign-in-again.tsx';

const DraftOffer = lazyPart(() => import('./draft-offer.tsx').then((module) => module.DraftOffer));
const ConflictPanel = lazyTab(() => import('#components/ui/conflict-panel.tsx').then((module) => module.ConflictPanel));

/** What a form edits: the row it started from and the form's values made of a row, both absent on one that makes something new. */
export type Edited<In extends FieldValues, Row extends { id?: unknown; updated_at: string }> = Pick<
  ConflictPanelProps,
  'labels' | 'show'
> & {
  row?: Row | undefined;
  values?: (row: Row) => In;
  /** Keeps what is typed for this tab until `forget()`; a form for the value of a secret has none. */
  draft?: FormDraft;
  /** After an edit that turned out to have nothing left to save: what a sheet does once it has saved. */
  onNothingLeft?: (() => void) | undefined;
};

/**
 * What a form does with a failed call: `refuse` puts the message on the field it names, and what no field takes comes back as `refusal`
 * (for `Form`) or, when the plan or another person's edit is the cause, as `panel` (to stand on top of the fields).
 * A form that edits a row names it in `edited` and sends `expected_updated_at: started()`; the form follows the row while it is untouched.
 *
 * Switches and other single clicks send no version: a click says the whole of what is wanted ("off"), a stale page cannot mean the opposite,
 * and an unrelated edit must not keep on what somebody wants off now. What a click makes of the row as it was shown (a list with one entry
 * more, fewer roles) is no such thing: it sends the difference alone, or else the `updated_at` of that row.
 */
export function useFormRefusal<In extends FieldValues, Out extends FieldValues, Row extends { id?: unknown; updated_at: string }>(
  form: ZodForm<In, Out>,
  edited?: Edited<In, Row>,
) {
  const cache = useQueryClient();
  const [left, setLeft] = useState<RefusalView>();
  const [stale, setStale] = useState<Stale<Row>>();
  const { row, values } = edited ?? {};
  const start = useRef(row && values && { updated_at: row.updated_at, values: values(row) });
  const draft = useFormDraft(form, edited?.draft, () => start.current?.updated_at);
  const { isDirty } = form.formState;
  useEffect(() => {
    if (!row || !values || (start.current && row.updated_at <= start.current.updated_at)) return;
    // A newer row arrived (an older one is what the page still shows while this form already knows of a later edit): one's own save, or
    // somebody else's while nothing is typed here. What is typed is never overwritten.
    if (isDirty && !same(values(row), form.getValues())) return;
    begin(row.updated_at, values(row));
  });
  /** The form starts from these values of a row, and keeps on top of them what is `typed`. */
  const begin = (updated_at: string, from: In, typed: Partial<In> = {}): void => {
    start.current = { updated_at, values: from };
    setOver(form, from, typed);
  };
  const goOn = (next: Stale<Row>, choices: Record<string, Choice>) => {
    if (!start.current || !values) return;
    const [base, theirs, mine] = [start.current.values, values(next.current), form.getValues()];
    const wanted = resolved(base, theirs, mine, choices) as In;
    // Submitting reads what is dirty against their version, so the form has to know it before.
    flushSync(() => {
      setStale(undefined);
      begin(next.current_updated_at, theirs, wanted);
    });
    if (!same(wanted, theirs)) return submitAgain(form);
    notifyDone('Kept their version. There was nothing else to save.');
    draft.drop();
    void cache.invalidateQueries();
    edited?.onNothingLeft?.();
  };
  const refuse = (error: unknown) => {
    const found = staleOf<Row>(error, row?.id);
    if (!found || !start.current || !values) return setLeft(applyRefusal(form, refusalView(error)));
    // The row changed, but not in what this form edits (a value was rotated, another tab of the page was saved): nothing to ask.
    if (differencesOf(start.current.values, values(found.current), form.getValues()).length === 0) return goOn(found, {});
    setStale(found);
  };
  const restore = ({ version, base, values: typed }: Draft) => {
    const now = form.getValues();
    // On top of the version it was typed over: what somebody saved since is a conflict, as if the form had stayed open.
    if (start.current) begin(version ?? start.current.updated_at, { ...start.current.values, ...base } as In, { ...now, ...typed } as In);
    else setOver(form, form.formState.defaultValues as In, { ...now, ...typed } as In);
    draft.settle();
  };
  const versions = stale && start.current && values && ([start.current.values, values(stale.current), form.getValues()] as const);
  const conflict: ReactNode = versions ? (
    <ConflictPanel
      key={stale.current_updated_at}
      differences={differencesOf(...versions)}
      kept={onlyMine(...versions)}
      labels={edited?.labels}
      show={edited?.show}
      onSave={(choices) => goOn(stale, choices)}
      onDiscard={() => {
        begin(stale.current_updated_at, versions[1]);
        setStale(undefined);
        draft.drop();
        void cache.invalidateQueries();
      }}
    />
  ) : (
    left &&
    (isPlanRefusal(left) ? <PlanPanel refusal={left} /> : isSignedOut(left) && <SignInPanel refusal={left} kept={Boolean(edited?.draft)} />)
  );
  return {
    refusal: isPlanRefusal(left) || isSignedOut(left) ? undefined : left,
    panel: (
      <>
        {draft.left && <DraftOffer draft={draft.left} labels={edited?.labels} onRestore={restore} onDiscard={draft.drop} />}
        {conflict}
      </>
    ),
    refuse,
    clear: () => setLeft(undefined),
    /** The version of the row the edit began with. */
    started: () => start.current?.updated_at,
    /** The edit was saved: its draft goes. */
    forget: draft.drop,
  };
}

/** The form on these defaults, with what differs from them typed in. */
function setOver<In extends FieldValues, Out extends FieldValues>(form: ZodForm<In, Out>, defaults: In, typed: Partial<In>): void {
  form.reset(defaults as DefaultValues<In>);
  for (const field of Object.keys(typed) as (keyof In & string)[])
    if (!same(typed[field], defaults[field])) form.setValue(field as never, typed[field] as never, { shouldDirty: true });
}
