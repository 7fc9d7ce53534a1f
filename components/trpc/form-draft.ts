'use client';

import { useEffect, useRef, useState } from 'react';
import type { FieldValues } from 'react-hook-form';
import { same } from '#components/ui/conflict.ts';
import type { ZodForm } from '#components/ui/form.tsx';
import { notify } from '#components/ui/toaster.tsx';
import { type Draft, type DraftPlace, draftAt, dropDraft, keepDraft } from './drafts.ts';
import { useScope } from './provider.tsx';

const PAUSE_MS = 400;

/** Where drafts of this form are kept, for the person and the workspace of the page; `form` names the form and what it edits: `routes/{id}`. */
export function useDraftPlace(form: string): DraftPlace {
  const { person, slug, space } = useScope();
  return { person, slug, space, form };
}

/**
 * A draft that was left here, once the page is up; undefined before, and again when it was restored or discarded.
 * One that says nothing the form does not show anyway (it was saved after all) is dropped.
 */
export function useLeftDraft(
  place: DraftPlace | undefined,
  shows: (field: string, value: unknown) => boolean,
): [Draft | undefined, () => void] {
  const [left, setLeft] = useState<Draft>();
  const { form } = place ?? {};
  // biome-ignore lint/correctness/useExhaustiveDependencies: person, workspace and space cannot change under a mounted form, and what it shows is asked once.
  useEffect(() => {
    const found = place && draftAt(place);
    if (found && Object.entries(found.values).every(([field, value]) => shows(field, value))) dropDraft(place);
    else setLeft(found);
  }, [form]);
  return [left, () => setLeft(undefined)];
}

/** Every field that the API marks as secret, of whichever call. */
const useSecretNames = (): string[] => Object.values(useScope().secret_fields).flat();

type Changes = Pick<Draft, 'version' | 'base' | 'values'>;

/** Keeps changes that no form holds, as they are at each render; none drops the draft. What was `left` and not decided on stays with them. */
export function useKeptChanges(place: DraftPlace, changes: Changes, left: Draft | undefined, secret?: readonly string[]): void {
  const secret_fields = useSecretNames();
  const had = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: written when the changes are others, not when the page renders again.
  useEffect(() => {
    const some = Object.keys(changes.values).length > 0;
    if (some) keepDraft(place, withLeft(left, changes), [...secret_fields, ...(secret ?? [])]);
    else if (had.current && !left) dropDraft(place);
    had.current = some;
  }, [JSON.stringify(changes)]);
}

/** What was left here and not decided on stays; what is typed meanwhile joins it. */
const withLeft = (left: Draft | undefined, { version, base, values }: Changes) => ({
  at: new Date().toISOString(),
  version: left?.version ?? version,
  base: { ...left?.base, ...base },
  values: { ...left?.values, ...values },
});

export type FormDraft = {
  /** Names the form and what it edits, e.g. `routes/{id}`. */
  name: string;
  /** Fields that are never stored, not even for this tab, besides those that the API marks as secret. */
  secret?: readonly string[];
};

/**
 * Keeps what is typed into a form for this tab until it is saved, and finds what was left there before.
 * `version` is the version of the row that the form began with.
 */
export function useFormDraft<In extends FieldValues, Out extends FieldValues>(
  form: ZodForm<In, Out>,
  draft: FormDraft | undefined,
  version: () => string | undefined,
) {
  const at = useDraftPlace(draft?.name ?? '');
  const place = draft && at;
  const secret_fields = useSecretNames();
  const [left, settle] = useLeftDraft(place, (field, value) => same(value, form.getValues()[field]));
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const saved = useRef(false);
  const { isDirty } = form.formState;
  const keep = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (!place || saved.current) return;
    const [base, now] = [(form.formState.defaultValues ?? {}) as Record<string, unknown>, form.getValues() as Record<string, unknown>];
    const changed = Object.keys(now).filter((field) => !same(now[field], base[field]));
    const of = (values: Record<string, unknown>) => Object.fromEntries(changed.map((field) => [field, values[field] ?? null]));
    keepDraft(place, withLeft(left, { version: version(), base: of(base), values: of(now) }), [...secret_fields, ...(draft?.secret ?? [])]);
  };
  const latest = useRef(keep);
  useEffect(() => {
    latest.current = keep;
  });
  useEffect(() => {
    if (!place?.form) return;
    const { unsubscribe } = form.watch((_, { name }) => {
      // A change without a name is a reset: the row's own values, nothing anybody typed.
      if (name === undefined) return;
      saved.current = false;
      clearTimeout(timer.current);
      timer.current = setTimeout(() => latest.current(), PAUSE_MS);
    });
    const leave = () => timer.current !== undefined && latest.current();
    window.addEventListener('pagehide', leave);
    return () => {
      unsubscribe();
      window.removeEventListener('pagehide', leave);
      leave();
    };
  }, [form.watch, place?.form]);
  const forget = () => {
    clearTimeout(timer.current);
    timer.current = undefined;
    if (place) dropDraft(place);
  };
  const wasDirty = useRef(false);
  // Put back to what is stored, by hand or by a save: there is nothing left to keep.
  useEffect(() => {
    if (wasDirty.current && !isDirty && !left) forget();
    wasDirty.current = isDirty;
  });
  return {
    left,
    settle,
    /** Saved, or thrown away on purpose: nothing is offered back. */
    drop: () => {
      saved.current = true;
      settle();
      forget();
    },
  };
}

/**
 * Whether something unsaved is in the form of a sheet, for `useUnsavedGuard` to tell. Closed over it, by a button or by Back, the sheet says that it
 * is not lost; a form that saved sets it to false first.
 */
export function useUnsavedIn(open: boolean): [dirty: boolean, setDirty: (dirty: boolean) => void] {
  const [dirty, setDirty] = useState(false);
  useEffect(() => {
    if (open || !dirty) return;
    setDirty(false);
    notify('Draft saved in this tab', 'Open the form again to continue. Credentials aren’t saved.');
  }, [open, dirty]);
  return [dirty, setDirty];
}
