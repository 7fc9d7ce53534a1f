'use client';

import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useReducer, useRef, useState } from 'react';
import { useTRPC } from '#components/trpc/provider.tsx';
import { refusalOf } from '#components/trpc/refusal.ts';
import { type Document, documentOf } from './document.ts';
import { begin, edited } from './edits.ts';
import type { Draft } from './workflow-labels.ts';

const PAUSE_MS = 1_200;

export type Saving = { state: 'saved' | 'unsaved' | 'saving' } | { state: 'conflict' } | { state: 'failed'; message: string };

/**
 * The draft of a workflow under edit: undo and redo, and saved by itself once typing pauses. Where somebody else saved first, nothing is saved until
 * the person has chosen whose draft stays.
 */
export function useEditor(id: string, draft: Draft, readOnly: boolean) {
  const trpc = useTRPC();
  const queryClient = useQueryClient();
  const [edits, dispatch] = useReducer(edited, draft.definition, (definition) => begin(documentOf(definition)));
  const [saving, setSaving] = useState<Saving>({ state: 'saved' });
  const saved = useRef(edits.doc);
  const base = useRef(draft.base_version);
  const latest = useRef(edits.doc);
  latest.current = edits.doc;
  const { mutateAsync } = useMutation(trpc.workflows.saveDraft.mutationOptions());
  const inFlight = useRef<Promise<boolean>>(undefined);
  const again = useRef(() => undefined as unknown);

  /** Saves what is there now; answers whether the server has it. */
  const save = useCallback(async (): Promise<boolean> => {
    // One at a time: the second builds on the version that the first makes.
    while (inFlight.current !== undefined) await inFlight.current;
    const doc = latest.current;
    if (doc === saved.current) return true;
    const run = async (): Promise<boolean> => {
      setSaving({ state: 'saving' });
      try {
        const next = await mutateAsync({ id, definition: { ...doc }, base_version: base.current });
        base.current = next.base_version;
        saved.current = doc;
        setSaving({ state: latest.current === doc ? 'saved' : 'unsaved' });
        // Undone or gone on with while it was under way.
        if (latest.current !== doc) setTimeout(() => void again.current(), PAUSE_MS);
        queryClient.setQueryData(trpc.workflows.draft.queryKey({ id }), next);
        return true;
      } catch (error) {
        const { code, message } = refusalOf(error);
        setSaving(code === 'conflict' ? { state: 'conflict' } : { state: 'failed', message });
        return false;
      }
    };
    inFlight.current = run();
    try {
      return await inFlight.current;
    } finally {
      inFlight.current = undefined;
    }
  }, [id, mutateAsync, queryClient, trpc]);

  again.current = save;

  const conflicted = saving.state === 'conflict';
  useEffect(() => {
    // Undone back to what the server has: there is nothing to save.
    if (edits.doc === saved.current) return setSaving((now) => (now.state === 'unsaved' ? { state: 'saved' } : now));
    if (readOnly) return;
    if (conflicted) return;
    setSaving({ state: 'unsaved' });
    const timer = setTimeout(() => void save(), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [edits.doc, readOnly, save, conflicted]);

  // Whoever leaves for another page in the pause takes nothing back with them.
  const leave = useRef(() => undefined as unknown);
  leave.current = () => (readOnly || conflicted ? undefined : save());
  useEffect(() => () => void leave.current(), []);

  const edit = useCallback((change: (doc: Document) => Document, group?: string) => {
    const doc = change(latest.current);
    latest.current = doc;
    dispatch({ do: 'set', doc, group });
  }, []);

  return {
    doc: edits.doc,
    saving,
    save,
    edit,
    undo: () => dispatch({ do: 'undo' }),
    redo: () => dispatch({ do: 'redo' }),
    canUndo: edits.past.length > 0,
    canRedo: edits.future.length > 0,
    baseVersion: () => base.current,
    /** Starts again from what the server has: theirs, a restored version. */
    replace: (theirs: Draft) => {
      const doc = documentOf(theirs.definition);
      base.current = theirs.base_version;
      saved.current = doc;
      latest.current = doc;
      dispatch({ do: 'replace', doc });
      setSaving({ state: 'saved' });
    },
    /** Saves over what somebody else saved. */
    overwrite: (theirs: Draft) => {
      base.current = theirs.base_version;
      setSaving({ state: 'unsaved' });
      void save();
    },
  };
}
export type Editor = ReturnType<typeof useEditor>;
